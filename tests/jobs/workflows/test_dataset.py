import json

import pytest

from pipelines.engine import progress
from schemas.artifacts import storage
from schemas.artifacts.dataset import open_dataset
from schemas.artifacts.manifest import read_manifest, read_verified

ASKED = ["how do I pay my bill", "how pay my bill", "pay my bill <script>alert(1)</script>"]
HEADER = "question1\tquestion2\tis_duplicate\n"


@pytest.fixture
def log(write_jsonl):
    return write_jsonl("log.jsonl", [{"question": question, "answer": "<b>In the app"} for question in ASKED])


@pytest.fixture
def pairs(tmp_path):
    path = tmp_path / "pairs.tsv"
    path.write_text(HEADER + f"{ASKED[0]}\t{ASKED[1]}\t1\n{ASKED[0]}\tWho am I?\t0\n")
    return path


@pytest.fixture(params=["clusters", "quora"])
def command(request, log, pairs):
    return {"clusters": ("clusters", log), "quora": ("quora", pairs)}[request.param]


def test_a_run_ends_with_its_tables_and_shows_where_the_page_is(qpr, command, memory):
    outcome = qpr(*command, "--output", f"{memory}/d")
    assert outcome.code == 0, outcome.err
    manifest = read_manifest(f"{memory}/d")
    lines = {" ".join(line.split()) for line in outcome.out.splitlines()}
    rows = manifest.counters["rows_read"]
    assert {f"read {rows} 100.0 %", f"kept {rows} 100.0 %", "Clusters min 25 % median 75 % max"} <= lines
    [file] = manifest.of("reports")
    assert f"See it in a browser: {memory}/d/{file.path}\n" in outcome.err
    html = read_verified(f"{memory}/d", file).decode()
    assert manifest.run_id in html
    assert ASKED[1] in html
    assert "<script>" not in html


def test_json_holds_counters_distributions_and_speed(qpr, command, memory):
    result = json.loads(qpr(*command, "--output", f"{memory}/d", "--json").out)
    manifest = read_manifest(f"{memory}/d")
    assert result["counters"] == manifest.counters
    assert result["distributions"] == manifest.distributions
    assert result["rows_per_second"] == round(manifest.counters["rows_read"] / manifest.seconds)
    assert storage.exists(result["report"])
    [size] = open_dataset(f"{memory}/d").table("clusters")["size"].to_pylist()
    assert result["distributions"]["size"] == dict.fromkeys(("min", "q1", "median", "q3", "max"), size)
    assert set(result["distributions"]) >= {"size", "coherence", "adjusted_coherence", "idf_coherence"}


def test_the_page_of_a_run_that_is_not_published_states_why(qpr, write_jsonl, memory):
    path = write_jsonl("one.jsonl", [{"question": ASKED[0], "answer": "a"}])
    outcome = qpr("clusters", path, "--output", f"{memory}/d")
    assert outcome.code == 1
    page = outcome.err.split("see the counts in ")[1].split("\n")[0]
    assert "Not published.</strong> no cluster was left of 1 question in 1 group" in storage.read_bytes(page).decode()


def test_the_steps_of_a_run_count_what_they_do_for_who_watches(qpr, command, memory):
    assert qpr(*command, "--output", f"{memory}/d").code == 0
    rows, questions = (3, 3) if command[0] == "clusters" else (2, 2)
    of_rows, of_questions = f"{rows} rows read", f"{questions} questions clustered"
    assert progress.counts() == [of_rows, of_questions]
