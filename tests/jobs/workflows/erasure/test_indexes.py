import json

import pyarrow as pa
import pytest

from model.confidence.saved_confidence import FILE
from schemas.artifacts.manifest import read_manifest
from schemas.artifacts.writer import Output
from schemas.tables import CONFIDENCE
from tests.jobs.commands.indexes.test_confidence import CLUSTERS, THINGS

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
    assert erase(qpr, index) == {
        "index": str(index),
        "rewritten": True,
        "questions": 1,
        "files_of_rejected": 0,
        "counted_words": 0,
    }
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


def counted_words(index):
    """Return the words that the confidence model of an index has counted."""
    [file] = read_manifest(str(index)).of(CONFIDENCE)
    return json.loads((index / file.path).read_text())["words"]


@pytest.fixture
def probable(qpr, tmp_path, make_model):
    """An index with a confidence model, and the texts of all its questions that have one rare word."""
    make_model(tmp_path / "model", words=("pay", "cancel", "find", *THINGS), encoder="subword", dimension=16)
    texts = [SECRET["question"], "when will my neighbour zibeline pay", "how does zibeline pay a bill"]
    rows = [{"question": text, "answer": f"Answer {n}."} for n, of_one in enumerate(CLUSTERS) for text in of_one]
    build(qpr, tmp_path, "probable", [*rows, *({**SECRET, "question": text} for text in texts)])
    assert {"zibeline", "neighbour", "bill"} < {*counted_words(tmp_path / "probable")}
    return tmp_path / "probable", texts


def test_words_that_only_erased_questions_have_leave_the_confidence_model(qpr, probable):
    index, texts = probable
    before = counted_words(index)
    assert erase(qpr, index)["counted_words"] == 0  # other questions have its words
    others = [part for text in texts[1:] for part in ("--question", text)]
    digest = read_manifest(str(index)).digest
    planned = erase(qpr, index, *others, "--dry-run")
    assert erase(qpr, index, *others) == {**planned, "rewritten": True}
    assert planned["counted_words"] == len({*before} - {*counted_words(index)}) == 2
    assert not {"zibeline", "neighbour"} & {*counted_words(index)}
    assert "zibeline" not in decoded(index)
    assert read_manifest(str(index)).is_or_was(digest)
    assert "bill" in counted_words(index)
    assert qpr("search", "--index", index, "how do i pay my bill").code == 0
    assert not erase(qpr, index, *others)["rewritten"]


def test_words_of_questions_that_an_earlier_index_had_are_erased_too(qpr, probable, tmp_path):
    index, texts = probable
    (tmp_path / "gone.jsonl").write_text("".join(json.dumps({"question": text}) + "\n" for text in texts))
    assert qpr("index", "--output", index, "--delete", tmp_path / "gone.jsonl").code == 0
    with_it = counted_words(index)
    assert qpr("index", "--output", index, "--compact").code == 0
    assert "zibeline" not in decoded(index)
    # as an index of a later night has the counts of an earlier one
    manifest = read_manifest(str(index))
    [file] = manifest.of(CONFIDENCE)
    saved = json.loads((index / file.path).read_text())
    saved |= {"words": with_it, "counts": [2] * len(with_it)}
    with Output(str(index), "index", overwrite=True) as target:
        changed = target.write(FILE, json.dumps(saved).encode(), table=CONFIDENCE)
        files = [changed if other == file else other for other in manifest.files]
        target.publish(files, inputs=[], configuration=manifest.configuration, counters={})
    digest = read_manifest(str(index)).digest
    [former] = read_manifest(str(index)).of(CONFIDENCE)
    content = (index / former.path).read_bytes()
    shown = erase(qpr, index)
    assert (shown["rewritten"], shown["questions"], shown["counted_words"]) == (True, 0, 2)
    assert "zibeline" not in decoded(index)
    other = next(file.path for file in read_manifest(str(index)).files if file.table != CONFIDENCE)
    (index / other).with_name(FILE).write_bytes(content)  # as a killed erasure leaves it, beside files that stay
    assert erase(qpr, index, "--dry-run")["leftovers"] == erase(qpr, index)["leftovers"] == 1
    assert "zibeline" not in decoded(index)
    assert read_manifest(str(index)).is_or_was(digest)
    assert qpr("search", "--index", index, "how do i pay my bill").code == 0


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
