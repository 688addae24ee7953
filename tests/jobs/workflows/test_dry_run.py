import json
import os

import pytest

from jobs.workflows.dry_run import SHOWN_INPUTS, check_writable, dataset_tables
from schemas.artifacts import storage
from schemas.errors import QprError

ROWS = [{"question": f"how do I pay {word}", "answer": "In the app"} for word in ("my bill", "a bill", "the bill")]
PAIRS = "question1\tquestion2\tis_duplicate\nhow far\thow far is it\t1\n"


@pytest.fixture
def log(write_jsonl):
    return write_jsonl("log.jsonl", ROWS)


def everything(memory):
    system, _ = storage.locate(memory)
    return {path: file.getvalue() for path, file in system.store.items()}, list(system.pseudo_dirs)


def test_a_plan_shows_inputs_output_and_options_and_writes_nothing(qpr, log, memory, monkeypatch):
    monkeypatch.chdir(log.parent)  # a long path would be wrapped
    before = everything(memory)
    options = ["--min-coherence", 0.25, "--dry-run", "--", "--direct_num_workers=3"]
    outcome = qpr("clusters", log.name, "--output", f"{memory}/d", *options)
    assert outcome.code == 0
    assert everything(memory) == before
    lines = {" ".join(line.split()) for line in outcome.out.splitlines()}
    size = log.stat().st_size
    told = {f"{log.name} jsonl {size} 3", f"1 file {size} 3", f"--output {memory}/d", "is made", "--shards 1"}
    assert told | {"--min-coherence 0.25", "-- runner FnApiRunner", "-- direct_num_workers 3"} <= lines
    assert outcome.err == "Nothing was written. Leave out --dry-run to do it\n"


def test_the_plan_is_one_json_document(qpr, tmp_path, memory):
    (tmp_path / "pairs.tsv").write_text(PAIRS)
    mode = ["--", "--direct_running_mode=multi_processing"]
    outcome = qpr("quora", tmp_path / "pairs.tsv", "--output", f"{memory}/d", "--dry-run", "--json", *mode)
    found = json.loads(outcome.out)
    assert (found["files"], found["rows"], found["rows_exact"], found["replaces"]) == (1, 1, True, False)
    assert found["inputs"][0]["format"] == "tsv"
    assert found["configuration"]["held_out"]["pairs"] == 5_000
    assert found["beam_options"]["direct_running_mode"] == "multi_processing"


def test_a_dataset_that_would_be_replaced_is_reported_and_stays(qpr, log, memory):
    given = ("clusters", log, "--output", f"{memory}/d", "--overwrite")
    assert qpr(*given).code == 0
    before = everything(memory)
    outcome = qpr(*given, "--dry-run")
    assert "exists and is replaced when the run ends" in outcome.out
    assert everything(memory) == before


@pytest.mark.parametrize(
    ("name", "content", "options"),
    [
        ("none.jsonl", None, []),
        ("empty.jsonl", "", []),
        ("log.csv", "asked,told\na,b\n", []),
        ("log.jsonl.gz", "not gzip", []),
        ("log.parquet", "not parquet", []),
        ("log.jsonl", '{"question": "a", "answer": "b"}\n', ["--min-confidence", 0.5]),
        ("log.csv", "question,answer\na,b\n", ["--", "--runner=Flonk"]),
        ("log.csv", "question,answer\na,b\n", ["--", "--runner=DataflowRunner"]),
        ("log.csv", "question,answer\na,b\n", ["--", "--direct_running_mode=multi_threading"]),
    ],
)
def test_what_a_run_refuses_at_once_its_plan_refuses_in_the_same_words(qpr, tmp_path, memory, name, content, options):
    path = tmp_path / name
    if content is not None:
        path.write_text(content)
    given = ("clusters", path, "--output", f"{memory}/d")
    planned, run = qpr(*given, "--dry-run", *options), qpr(*given, *options)
    assert planned.code in (1, 2)
    assert planned.code == run.code
    assert [planned.err] == run.err.splitlines(keepends=True)[-1:]  # an engine is refused after the work is announced
    assert planned.out == ""


@pytest.mark.parametrize("place", ["exists", "foreign", "foreign/file", "foreign/file/deeper"])
def test_an_output_that_a_run_could_not_claim_is_refused_in_the_same_words(qpr, log, tmp_path, place):
    (tmp_path / "foreign").mkdir()
    (tmp_path / "foreign" / "file").write_text("mine")
    assert qpr("clusters", log, "--output", tmp_path / "exists").code == 0
    given = ("clusters", log, "--output", tmp_path / place)
    planned, run = qpr(*given, "--dry-run"), qpr(*given)
    assert planned.code == 1
    assert planned == run
    assert str(tmp_path / place) in planned.err


def test_a_folder_that_may_not_be_written_to_is_seen_without_writing(qpr, log, tmp_path, monkeypatch):
    monkeypatch.setattr("os.access", lambda path, mode: str(path) != str(tmp_path))
    outcome = qpr("clusters", log, "--output", tmp_path / "new" / "d", "--dry-run")
    assert (outcome.code, outcome.err) == (1, f"error: {tmp_path}: permission denied\n")


def test_of_very_many_inputs_some_are_shown_and_all_are_counted():
    one = {"url": "u", "bytes": 10**12, "format": "csv", "compression": "gzip", "rows": 10**10, "rows_exact": False}
    files = SHOWN_INPUTS + 5_000
    found = {"output": "o", "replaces": False, "files": files, "bytes": files * 10**12, "rows": files * 10**10}
    found |= {"rows_exact": False, "configuration": {}, "beam_options": {}, "inputs": [one] * files}
    inputs = dataset_tables(found)[0].rows
    assert len(inputs) == SHOWN_INPUTS + 2
    assert inputs[0] == ("u", "csv gzip", "1,000,000,000,000", "about 10,000,000,000")
    assert inputs[-2:] == [
        ("and 5,000 more", "", "", ""),
        ("5,020 files", "", "5,020,000,000,000,000", "about 50,200,000,000,000"),
    ]


def test_whether_a_path_could_be_made_is_seen_without_writing(tmp_path, monkeypatch):
    check_writable(str(tmp_path / "deep" / "deeper"))
    assert storage.children(str(tmp_path)) == []
    monkeypatch.setattr(os, "access", lambda path, mode: False)
    check_writable("memory://bucket/deep")
    with pytest.raises(QprError, match=f"{tmp_path}: permission denied"):
        check_writable(str(tmp_path / "deep" / "deeper"))
