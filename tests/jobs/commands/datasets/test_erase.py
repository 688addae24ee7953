import json
import re
import shutil

import pyarrow.parquet as pq
import pytest

from schemas.artifacts import storage
from schemas.artifacts.dataset import open_dataset
from schemas.artifacts.manifest import read_manifest
from schemas.errors import QprError

WORDINGS = ["how do I pay my bill", "how can I pay my bill", "pay my bill how"]
SECRET, SHARED = "how do I pay zibeline's bill", WORDINGS[1]
ROWS = [
    *({"question": text, "answer": "In the app", "user_id": user} for text in WORDINGS for user in ("ann", "bob")),
    *({"question": text, "answer": "In the app", "user_id": "zoe"} for text in (SECRET, SECRET.upper(), SHARED)),
    {"question": SECRET, "answer": None, "user_id": "zoe"},
    {"question": [SECRET], "answer": "In the app", "user_id": "zoe"},
    {"question": "no answer for zoe", "answer": None, "user_id": "zoe"},
]


def decoded(folder):
    """Return names and bytes of all files, and the values of tables, which are compressed."""
    texts = []
    for path in (path for path in folder.rglob("*") if path.is_file()):
        texts += [str(path), path.read_bytes().decode("latin-1")]
        if path.suffix == ".parquet":
            texts.append(str(pq.read_table(path).to_pylist()))
    return " ".join(texts).lower()


@pytest.fixture
def dataset(qpr, folder, tmp_path, monkeypatch):
    """Return a copy of the dataset; the log that it names lies in the folder of the process."""
    monkeypatch.setenv("QPR_USER_KEY", "the-secret-key-of-the-environment")
    if not (folder / "d").exists():
        monkeypatch.chdir(folder)
        (folder / "log.jsonl").write_text("\n".join(map(json.dumps, ROWS)) + "\n")
        options = ("--linkage", "none", "--max-reject-ratio", "1", "--shards", "2")
        outcome = qpr("clusters", "log.jsonl", "--output", "d", *options)
        assert outcome.code == 0, outcome.err
        assert "zibeline" in decoded(folder / "d")
    shutil.copytree(folder, tmp_path, dirs_exist_ok=True)
    monkeypatch.chdir(tmp_path)
    return tmp_path / "d"


def check_whole(folder):
    opened = open_dataset(str(folder))
    questions, clusters = opened.table("questions").to_pylist(), opened.table("clusters").to_pylist()
    members = {question for cluster in clusters for question in cluster["question_ids"]}
    assert {row["question_id"] for row in questions if row["cluster_id"] is not None} == members
    counters = opened.manifest.counters
    assert counters["questions"] == len(questions)
    assert counters["rows_kept"] == counters["events"] == sum(row["events"] for row in questions)
    assert counters["rows_read"] == sum(counters[f"rows_{part}"] for part in ("kept", "rejected", "erased"))
    assert sum(counters.get(f"members_{split}", 0) for split in ("train", "validation", "test")) == len(members)
    return questions


def test_a_user_of_a_log_without_user_ids_is_an_error_whose_step_the_command_has(qpr, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    rows = [{"question": text, "answer": "In the app", "uid": "ann"} for text in WORDINGS]
    (tmp_path / "log.jsonl").write_text("\n".join(map(json.dumps, rows)) + "\n")
    assert qpr("clusters", "log.jsonl", "--output", "d", "--linkage", "none").code == 0
    outcome = qpr("erase", "--dataset", "d", "--user", "ann")
    assert outcome.code == 2
    assert "--user: log.jsonl has no column user_id. Give the questions of the user by --question" in outcome.err
    assert "--column" not in outcome.err


def test_a_question_is_in_no_byte_of_the_dataset_afterwards(qpr, dataset):
    outcome = qpr("erase", "--dataset", dataset, "--question", SECRET + "?", "--json")
    assert outcome.code == 0, outcome.err
    assert "zibeline" not in decoded(dataset) + outcome.out + outcome.err
    report = json.loads(outcome.out)
    assert report["questions_to_erase"] == 1
    [erased] = report["artefacts"]
    assert erased == {
        "dataset": str(dataset),
        "rewritten": True,
        "questions": 1,
        "clusters": 1,
        "pairs": 3,
        "rejected": 1,
        "reports": 1,
    }
    assert {row["text"] for row in check_whole(dataset)} == set(WORDINGS)


def test_an_unreadable_row_that_kept_no_text_is_found_by_its_user(qpr, dataset):
    outcome = qpr("erase", "--dataset", dataset, "--user", "zoe", "--json")
    assert outcome.code == 0, outcome.err
    assert "zibeline" not in decoded(dataset)
    assert "for zoe" not in decoded(dataset)
    report = json.loads(outcome.out)
    assert report["shared_questions"] == 1
    assert report["artefacts"][0]["rejected"] == 3
    assert "1 question of these users stay" in outcome.err
    assert {row["text"] for row in check_whole(dataset)} == set(WORDINGS)


def test_a_line_that_is_cut_within_the_question_is_stored_as_its_length(qpr, tmp_path):
    asked = [{"question": text, "answer": "In the app"} for text in WORDINGS]
    lines = [json.dumps({"answer": ["x" * 950], "question": SECRET}), json.dumps({"answer": ["x" * 999]})]
    (tmp_path / "log.jsonl").write_text("\n".join([*map(json.dumps, asked), *lines]) + "\n")
    dataset = tmp_path / "d"
    options = ("--linkage", "none", "--max-reject-ratio", "1", "--shards", "2")
    assert qpr("clusters", tmp_path / "log.jsonl", "--output", dataset, *options).code == 0
    assert "how do i pay zi" in decoded(dataset)
    before = read_manifest(str(dataset)).counters
    planned = qpr("erase", "--dataset", dataset, "--question", SECRET, "--dry-run", "--json")
    outcome = qpr("erase", "--dataset", dataset, "--question", SECRET, "--json")
    reports = [json.loads(one.out)["artefacts"][0] for one in (planned, outcome)]
    assert [(report["rejected"], report["payloads_replaced"]) for report in reports] == [(0, 1)] * 2
    check_whole(dataset)
    assert "how do i pay zi" not in decoded(dataset)
    assert "x" * 980 in decoded(dataset)
    assert read_manifest(str(dataset)).counters == before | {"rows_erased": 0}
    again = qpr("erase", "--dataset", dataset, "--question", SECRET)
    assert "there is nothing left to erase" in again.err


def test_without_a_key_rejected_rows_are_compared_by_question(qpr, dataset, monkeypatch):
    monkeypatch.delenv("QPR_USER_KEY")
    outcome = qpr("erase", "--dataset", dataset, "--user", "zoe", "--json")
    assert outcome.code == 0, outcome.err
    assert "no user key" in outcome.err
    assert "zibeline" not in decoded(dataset)
    assert json.loads(outcome.out)["artefacts"][0]["rejected"] == 2


def test_a_question_that_others_asked_in_another_log_stays(qpr, dataset, tmp_path):
    log, other = tmp_path / "other.jsonl", tmp_path / "other"
    asked = ({"question": text, "answer": "In the app", "user_id": "ann"} for text in (SECRET, *WORDINGS))
    log.write_text("\n".join(map(json.dumps, asked)) + "\n")
    assert qpr("clusters", log, "--output", other, "--linkage", "none", "--shards", "2").code == 0
    before = read_manifest(str(other))
    outcome = qpr("erase", "--dataset", dataset, "--dataset", other, "--user", "zoe", "--json")
    assert outcome.code == 0, outcome.err
    report = json.loads(outcome.out)
    assert (report["questions_to_erase"], report["shared_questions"]) == (1, 2)  # "no answer for zoe" is hers alone
    assert read_manifest(str(other)) == before
    assert SECRET.upper() in {row["text"] for row in check_whole(dataset)}


def test_a_dry_run_and_a_question_that_is_not_there_change_nothing(qpr, dataset):
    before = read_manifest(str(dataset))
    outcome = qpr("erase", "--dataset", dataset, "--question", SECRET, "--dry-run")
    assert outcome.code == 0, outcome.err
    assert "zibeline" not in outcome.out + outcome.err
    assert re.search(r"dry run +│ +yes", outcome.out)
    outcome = qpr("erase", "--dataset", dataset, "--question", "who is this")
    assert outcome.code == 0
    assert "Nothing of it was found" in outcome.err
    assert read_manifest(str(dataset)) == before
    assert all((dataset / file.path).is_file() for file in before.files)


def test_files_that_a_killed_erasure_left_are_removed_by_the_next_one(qpr, dataset):
    [run] = [path for path in dataset.iterdir() if path.is_dir()]
    shutil.copytree(run, dataset.parent / run.name)
    assert qpr("erase", "--dataset", dataset, "--question", SECRET).code == 0
    shutil.move(dataset.parent / run.name, run)
    planned = qpr("erase", "--dataset", dataset, "--question", SECRET, "--dry-run", "--json")
    assert "zibeline" in decoded(dataset)
    outcome = qpr("erase", "--dataset", dataset, "--question", SECRET, "--json")
    assert outcome.code == 0, outcome.err
    reports = [json.loads(one.out)["artefacts"][0] for one in (planned, outcome)]
    assert [(report["rewritten"], report["leftovers"]) for report in reports] == [(False, 1)] * 2
    assert "zibeline" not in decoded(dataset)


def test_an_old_file_that_cannot_be_removed_is_a_fault(qpr, dataset, monkeypatch):
    def refuse(url):
        raise QprError(f"{url}: device or resource busy")

    with monkeypatch.context() as busy:
        busy.setattr(storage, "delete", refuse)
        outcome = qpr("erase", "--dataset", dataset, "--question", SECRET)
    assert outcome.code == 1
    assert "device or resource busy" in outcome.err
    assert "then run this again" in outcome.err
    assert SECRET not in {row["text"] for row in check_whole(dataset)}
    assert qpr("erase", "--dataset", dataset, "--question", SECRET).code == 0
    assert "zibeline" not in decoded(dataset)


def test_a_cluster_of_two_is_removed_with_one_of_them(qpr, dataset):
    outcome = qpr("erase", "--dataset", dataset, *(part for text in WORDINGS for part in ("--question", text)))
    assert outcome.code == 0, outcome.err
    [row] = check_whole(dataset)
    assert (row["cluster_id"], row["split"]) == (None, None)


@pytest.mark.parametrize(
    ("arguments", "code", "message"),
    [
        (("--dataset", "d"), 2, "nothing to erase. Give --question TEXT or --user ID"),
        (
            ("--question", "x"),
            2,
            "nowhere to erase it. Give --warehouse, --dataset or --index FOLDER, --review or --file FILE",
        ),
        (("--user", "x", "--index", "i"), 2, "--user: needs --warehouse or --dataset FOLDER"),
        (("--question", "x", "--index", "none"), 1, "does not exist"),
        (("--question", " ", "--dataset", "d"), 2, "--question is blank"),
        (("--question", "x", "--dataset", "none"), 1, "does not exist"),
        (("--question", "x", "--dataset", "none"), 1, "with `qpr clusters` or `qpr quora`. Everything else was erased"),
        (("--question", "x", "--review", "none.db"), 1, "Judge with `qpr review` first, or correct the path"),
    ],
)
def test_bad_input_is_one_line(qpr, arguments, code, message):
    outcome = qpr("erase", *arguments)
    assert outcome.code == code
    assert message in outcome.err


def test_the_logs_of_a_user_have_to_be_there(qpr, dataset, tmp_path):
    (tmp_path / "log.jsonl").unlink()
    outcome = qpr("erase", "--dataset", dataset, "--user", "zoe")
    assert outcome.code == 1
    assert "log.jsonl" in outcome.err


def test_a_log_that_was_changed_after_the_dataset_was_made_is_named(qpr, dataset, tmp_path):
    assert "changed since" not in qpr("erase", "--dataset", dataset, "--user", "zoe", "--dry-run").err
    others = [row for row in ROWS if row["user_id"] != "zoe"]
    (tmp_path / "log.jsonl").write_text("\n".join(map(json.dumps, others)) + "\n")
    outcome = qpr("erase", "--dataset", dataset, "--user", "zoe")
    assert outcome.code == 0, outcome.err
    assert "log.jsonl changed since this dataset was made" in outcome.err
    assert "Give these by --question" in outcome.err
    assert "changed since" not in qpr("erase", "--dataset", dataset, "--question", SECRET).err


def test_labelled_pairs_have_no_users(qpr, tmp_path):
    (tmp_path / "pairs.tsv").write_text(f"question1\tquestion2\tis_duplicate\n{WORDINGS[0]}\t{WORDINGS[1]}\t1\n")
    assert qpr("quora", tmp_path / "pairs.tsv", "--output", tmp_path / "d").code == 0
    outcome = qpr("erase", "--dataset", tmp_path / "d", "--user", "zoe")
    assert outcome.code == 2
    assert "labelled pairs, which have no users" in outcome.err
    assert qpr("erase", "--dataset", tmp_path / "d", "--question", WORDINGS[0]).code == 0
    assert WORDINGS[0] not in decoded(tmp_path / "d")
