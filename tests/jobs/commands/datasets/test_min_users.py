import json

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from schemas.artifacts.dataset import open_dataset
from schemas.artifacts.manifest import read_manifest

WORDINGS = ["how do I pay my bill", "how can I pay my bill", "pay my bill how"]
SECRET_USER, SECRET_QUESTION, SECRET_ANSWER = "user-zwolf", "has my neighbour zibeline paid", "zibeline has paid"
SECRETS = ("zwolf", "zibeline", "the-secret-key")
ROWS = [
    *({"question": text, "answer": "In the app", "user_id": user} for text in WORDINGS for user in ("ann", "bob")),
    *({"question": SECRET_QUESTION, "answer": SECRET_ANSWER, "user_id": user} for user in (SECRET_USER, None)),
    {"question": WORDINGS[0], "answer": "In the app", "user_id": SECRET_USER},
    {"question": SECRET_QUESTION, "answer": None, "user_id": SECRET_USER},
    {"question": WORDINGS[0], "answer": "", "user_id": SECRET_USER},
]
UNREADABLE = [
    {"question": [SECRET_QUESTION], "answer": "In the app", "user_id": SECRET_USER},
    f'{{"question": "{SECRET_QUESTION}", "user_id": "{SECRET_USER}", broken',
]


def decoded(folder):
    """Return names and bytes of all files, and the values of tables, which are compressed."""
    texts = []
    for path in (path for path in folder.rglob("*") if path.is_file()):
        texts += [str(path), path.read_bytes().decode("latin-1")]
        if path.suffix == ".parquet":
            table = pq.read_table(path)
            texts += [str(table.to_pylist()), str(table.schema)]
    return " ".join(texts)


@pytest.fixture
def made(qpr, tmp_path, monkeypatch):
    monkeypatch.setenv("QPR_USER_KEY", "the-secret-key-of-the-environment")

    def make(*options, rows=ROWS, name="log.jsonl"):
        if name.endswith(".parquet"):
            pq.write_table(pa.Table.from_pylist(rows), tmp_path / name)
        else:
            lines = [line if isinstance(line, str) else json.dumps(line) for line in rows]
            (tmp_path / name).write_text("\n".join(lines) + "\n")
        arguments = ("clusters", tmp_path / name, "--output", tmp_path / "d", "--max-reject-ratio", "1", "--overwrite")
        return qpr(*arguments, "--linkage", "none", *options)

    return make


def test_the_text_of_a_question_of_few_users_is_not_that_of_its_answer_id(made, tmp_path):
    times = {"answer_id": "7", "timestamp": "2026-11-01T00:00:00Z"}
    late = {"answer_id": "7", "timestamp": "2026-11-20T00:00:00Z"}
    rows = [row | (late if row["question"] == SECRET_QUESTION else times) for row in ROWS]
    assert made("--min-users", 2, rows=rows).code == 0
    dataset = open_dataset(str(tmp_path / "d"))
    assert {row["answer"] for table in ("questions", "clusters") for row in dataset.table(table).to_pylist()} == {
        "In the app"
    }


@pytest.mark.parametrize("key", [True, False], ids=["key", "no-key"])
@pytest.mark.parametrize(
    ("rows", "name"), [([*ROWS, *UNREADABLE], "log.jsonl"), (ROWS, "log.parquet")], ids=["jsonl", "parquet"]
)
def test_a_secret_question_and_user_are_in_no_byte_of_a_dataset_or_its_output(
    made, tmp_path, monkeypatch, rows, name, key
):
    if not key:
        monkeypatch.delenv("QPR_USER_KEY")
    outcome = made("--min-users", "2", rows=rows, name=name)
    assert outcome.code == 0, outcome.err
    everything = decoded(tmp_path / "d") + outcome.out + outcome.err
    assert not [secret for secret in SECRETS if secret in everything.replace(str(tmp_path), "")]
    counters = read_manifest(str(tmp_path / "d")).counters
    assert counters["rows_read"] == len(rows) == counters["rows_kept"] + counters["rows_rejected"]
    assert counters["rejected_privacy_too_few_users"] == 2
    assert open_dataset(str(tmp_path / "d")).table("questions")["events"].to_pylist().count(2) == 2


def test_a_user_is_never_written_as_such_even_where_every_question_stays(made, tmp_path, monkeypatch):
    made(rows=[*ROWS, *UNREADABLE])
    with_key = decoded(tmp_path / "d")
    assert "zwolf" not in with_key
    assert "the-secret-key" not in with_key
    assert SECRET_QUESTION in with_key
    rejected = [json.loads(row) for row in open_dataset(str(tmp_path / "d")).table("rejected")["payload"].to_pylist()]
    assert {len(row["user_id"]) for row in rejected if "user_id" in row} == {16}
    monkeypatch.delenv("QPR_USER_KEY")
    made(rows=[*ROWS, *UNREADABLE])
    payloads = open_dataset(str(tmp_path / "d")).table("rejected")["payload"].to_pylist()
    assert len(payloads) == len(rejected)
    assert "user_id" not in str(payloads)


def test_the_tables_of_kept_questions_are_those_of_a_log_without_the_others(made, tmp_path):
    def tables():
        dataset = open_dataset(str(tmp_path / "d"))
        return {name: dataset.table(name).to_pylist() for name in ("questions", "clusters", "pairs")}

    assert made("--min-users", "2").code == 0
    limited = tables()
    assert made(rows=[row for row in ROWS if row["question"] != SECRET_QUESTION]).code == 0
    assert tables() == limited
    assert made("--min-users", "1", "--shards", "3").code == 0
    assert len(tables()["questions"]) == len(limited["questions"]) + 1


def test_the_rows_of_one_user_count_up_to_a_maximum(made, tmp_path):
    rows = [*ROWS, *[{"question": WORDINGS[1], "answer": "Never", "user_id": "bot"}] * 50]
    assert made("--max-events-of-user", "2", rows=rows).code == 0
    dataset = open_dataset(str(tmp_path / "d"))
    counters = dataset.manifest.counters
    assert counters["rejected_privacy_too_many_of_user"] == 48
    assert counters["rows_read"] == counters["rows_kept"] + counters["rows_rejected"]
    events = {row["text"]: row["events"] for row in dataset.table("questions").to_pylist()}
    assert events[WORDINGS[1]] == 4


@pytest.mark.parametrize("shards", ["1", "3"])
def test_no_user_has_more_rows_in_a_cluster_than_the_maximum(made, tmp_path, shards):
    others = [row for row in ROWS if row["answer"] == "In the app" and row["user_id"] != SECRET_USER]
    bot = [{"question": text, "answer": "In the app", "user_id": "bot"} for text in WORDINGS for _ in range(100)]
    options = ("--max-answer-events-of-user", "3", "--min-users", "3", "--shards", shards)
    assert made(*options, rows=[*others, *bot]).code == 0
    dataset = open_dataset(str(tmp_path / "d"))
    counters = dataset.manifest.counters
    assert counters["rejected_privacy_too_many_of_user_and_answer"] == 297
    assert counters["rows_read"] == counters["rows_kept"] + counters["rows_rejected"] == 306
    assert sorted(dataset.table("questions")["events"].to_pylist()) == [2, 2, 5]  # bot is a third user of each question
    assert made(*options, rows=bot).code == 1  # nobody else asked


@pytest.mark.parametrize("option", ["--min-users", "--max-events-of-user", "--max-answer-events-of-user"])
def test_a_log_without_user_ids_is_refused(made, option):
    rows = [{"question": text, "answer": "In the app", "uid": 3} for text in WORDINGS]
    outcome = made(option, "2", rows=rows)
    assert outcome.code == 2
    assert f"{option}: users cannot be counted. " in outcome.err
    assert "no column user_id; there are question, answer, uid. Add" in outcome.err
    assert made(option, "2", "--column", "user_id=uid", rows=rows).code in (0, 1)


def test_a_column_without_a_user_is_a_fault(made):
    outcome = made("--min-users", "2", rows=[row | {"user_id": None} for row in ROWS])
    assert outcome.code == 1
    assert "filters by the column user_id, but it holds no value" in outcome.err


def test_a_run_in_which_no_question_has_enough_users_names_the_option(made):
    outcome = made("--min-users", "9")
    assert outcome.code == 1
    assert "no cluster was left of 0 questions" in outcome.err
    assert "Lower --min-users" in outcome.err
    assert not [secret for secret in SECRETS if secret in outcome.err]


def test_a_log_without_user_ids_is_clustered_without_a_word_about_them(made, tmp_path):
    rows = [{"question": text, "answer": "In the app"} for text in WORDINGS]
    outcome = made(rows=rows)
    assert outcome.code == 0
    assert "user" not in (outcome.err + outcome.out).replace(str(tmp_path), "")
    [page] = (tmp_path / "d").rglob("report.html")
    assert "--min-users 5" in page.read_text()
    made("--min-users", "2", rows=ROWS)
    [page] = (tmp_path / "d").rglob("report.html")
    assert "--min-users 5" not in page.read_text()


def test_a_file_of_a_user_key_without_user_ids_is_a_warning(made, tmp_path):
    (tmp_path / "user.key").write_text("the-secret-key-of-the-file")
    (tmp_path / "user.key").chmod(0o600)
    renamed = [{"question": text, "answer": "In the app", "uid": "ann"} for text in WORDINGS]
    warning = "--user-key-file has no effect on a file without user ids"
    without = made("--user-key-file", tmp_path / "user.key", rows=renamed)
    assert without.code == 0
    assert warning in without.err
    assert "Add: --column user_id=uid" in without.err
    named = made("--user-key-file", tmp_path / "user.key", "--column", "user_id=uid", rows=renamed)
    assert (named.code, warning in named.err) == (0, False)
