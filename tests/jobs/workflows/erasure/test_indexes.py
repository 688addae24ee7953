import json

import pyarrow as pa
import pytest

from schemas.artifacts.manifest import read_manifest

ROWS = [{"question": f"how do I pay bill number {n}", "answer": f"Bill {n} is paid"} for n in range(12)]
SECRET = {"question": "has my neighbour zibeline paid", "answer": "Yes, zibeline has"}


def decoded(folder):
    """Return names and bytes of all files; the tables of an index are Arrow files, which are not compressed."""
    texts = []
    for path in (path for path in folder.rglob("*") if path.is_file()):
        content = path.read_bytes()
        assert not content.startswith(b"PAR1")
        if content.startswith(b"ARROW1"):
            texts.append(str(pa.ipc.open_file(content).read_all().to_pylist()))
        texts += [str(path), content.decode("latin-1")]
    return " ".join(texts)


@pytest.fixture
def index(qpr, tmp_path, make_model):
    make_model(tmp_path / "model")
    build(qpr, tmp_path, "index", [*ROWS, SECRET])
    assert "zibeline" in decoded(tmp_path / "index")
    return tmp_path / "index"


def build(qpr, tmp_path, name, rows, *options):
    path = tmp_path / f"{name}.jsonl"
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    given = ("--questions", path, "--model", tmp_path / "model", "--shards", "2", "--output", tmp_path / name)
    outcome = qpr("index", *given, *options)
    assert outcome.code == 0, outcome.err


def erase(qpr, index, *options):
    outcome = qpr("erase", "--index", index, "--question", SECRET["question"], "--json", *options)
    assert outcome.code == 0, outcome.err
    assert "zibeline" not in outcome.out + outcome.err
    [result] = json.loads(outcome.out)["artefacts"]
    return result


def test_a_question_is_in_no_byte_of_the_index_which_is_that_of_the_other_questions(qpr, index, tmp_path):
    before = read_manifest(str(index))
    assert erase(qpr, index, "--dry-run")["questions"] == 1
    assert read_manifest(str(index)) == before
    assert erase(qpr, index) == {"index": str(index), "rewritten": True, "questions": 1, "files_of_rejected": 0}
    assert "zibeline" not in decoded(index)
    build(qpr, tmp_path, "other", ROWS)
    tables = {"shards", "ids", "lexical"}
    digests = [
        [(file.table, file.sha256) for file in read_manifest(str(tmp_path / name)).files if file.table in tables]
        for name in ("index", "other")
    ]
    assert digests[0] == digests[1]
    assert not erase(qpr, index)["rewritten"]


def test_a_deleted_question_is_compacted_away(qpr, index, tmp_path):
    (tmp_path / "gone.jsonl").write_text(json.dumps({"question": SECRET["question"]}) + "\n")
    assert qpr("index", "--output", index, "--delete", tmp_path / "gone.jsonl").code == 0
    assert "zibeline" in decoded(index)
    assert erase(qpr, index)["questions"] == 1
    assert "zibeline" not in decoded(index)
    assert read_manifest(str(index)).configuration["questions"] == len(ROWS)


CODED = "IVF2,PQ2x4fs,RFlat"


@pytest.mark.parametrize(
    ("count", "factory", "left", "probes"),
    [(80, "IVF2,Flat", "IVF2,Flat", 2), (78, "IVF2,Flat", "Flat", 0), (80, CODED, CODED, 2), (78, CODED, "Flat", 0)],
)
def test_factory_and_probes_stay_while_enough_questions_are_left_to_train(
    qpr, tmp_path, make_model, count, factory, left, probes
):
    make_model(tmp_path / "model")
    rows = [{"question": f"how do I pay bill number {n}", "answer": f"Bill {n} is paid"} for n in range(count - 1)]
    build(qpr, tmp_path, "index", [*rows, SECRET], "--factory", factory, "--probes", 2)
    erase(qpr, tmp_path / "index")
    settings = read_manifest(str(tmp_path / "index")).configuration
    assert (settings["questions"], settings["factory"], settings["probes"]) == (count - 1, left, probes)


def test_the_recall_that_was_asked_for_stays(qpr, tmp_path, make_model):
    make_model(tmp_path / "model")
    rows = [{"question": f"how do I pay bill number {n}", "answer": f"Bill {n} is paid"} for n in range(90)]
    build(qpr, tmp_path, "index", [*rows, SECRET], "--factory", "IVF2,Flat", "--recall", "0.9")
    assert read_manifest(str(tmp_path / "index")).configuration["recall"]["target"] == 0.9
    erase(qpr, tmp_path / "index")
    settings = read_manifest(str(tmp_path / "index")).configuration
    assert (settings["factory"], settings["recall"]["target"]) == ("IVF2,Flat", 0.9)


def test_an_index_of_nothing_else_is_refused(qpr, tmp_path, make_model):
    make_model(tmp_path / "model")
    build(qpr, tmp_path, "index", [SECRET])
    outcome = qpr("erase", "--index", tmp_path / "index", "--question", SECRET["question"])
    assert outcome.code == 1
    assert "nothing would be left of 1 question. Remove the folder" in outcome.err
