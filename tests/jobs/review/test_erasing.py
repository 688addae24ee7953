import gzip
import json
import os
import tempfile
from unittest.mock import Mock

import fsspec
import pytest

from jobs.review import erasing
from jobs.review.database.connection import Verdict, now
from jobs.review.queues.clusters import ClusterQueue
from jobs.review.queues.interface import Item, Line, QueueIdentity
from jobs.review.queues.requests import RequestQueue
from jobs.review.store import VerdictStore
from jobs.workflows.erasure.text_files import erase_from_file
from schemas.artifacts.dataset import open_dataset

SECRET = "has my neighbour zibeline paid"
CLUSTERS = [
    ["how do i pay my bill", "pay my bill how", SECRET],
    ["has the zibeline been paid", SECRET + " it"],
    ["how do i fly", "fly how"],
]


@pytest.fixture
def judged(tmp_path, make_dataset):
    """A dataset, and a database whose verdicts name the question and have it in a note."""
    dataset, path = str(tmp_path / "d"), str(tmp_path / "review.db")
    make_dataset(dataset, CLUSTERS)
    queue = ClusterQueue(open_dataset(dataset), 0)
    with VerdictStore(path, queue.source) as store:
        for place in range(len(CLUSTERS)):
            item = queue.item(place)
            strays = tuple(line.name for line in item.lines if "zibeline" in line.text and line.name)
            note = f"so: {SECRET.upper()}?" if strays else "fine"
            verdict = Verdict(f"v{place}", item.name, "ann", "stray" if strays else "right", strays, note, now())
            store.add([verdict], {item.name: item})
    return dataset, path


def content(tmp_path):
    return b"".join(path.read_bytes() for path in tmp_path.glob("review.db*")).lower()


def test_notes_and_strays_are_in_no_byte_and_the_review_goes_on(qpr, judged, tmp_path):
    dataset, path = judged
    assert b"zibeline" in content(tmp_path)
    given = ("--dataset", dataset, "--review", path, "--question", SECRET, "--question", SECRET + " it")
    planned = json.loads(qpr("erase", *given, "--dry-run", "--json").out)["artefacts"]
    assert planned[1] == {"review": path, "rewritten": False, "verdicts": 2, "clusters": 1}
    assert b"zibeline" in content(tmp_path)
    outcome = qpr("erase", *given, "--json")
    assert outcome.code == 0, outcome.err
    [_, found] = json.loads(outcome.out)["artefacts"]
    assert found == {"review": path, "rewritten": True, "verdicts": 2, "clusters": 1}
    assert b"zibeline" not in content(tmp_path)
    # the database is that of the dataset without the questions
    queue = ClusterQueue(open_dataset(dataset), 0)
    with VerdictStore(path, queue.source) as store:
        verdicts = {verdict.item: verdict for verdict in store.verdicts()}
        places = store.places()
    assert {places[item].place for item in verdicts} == {0, 1}
    assert sorted((verdict.verdict, verdict.note, len(verdict.strays)) for verdict in verdicts.values()) == [
        ("right", "fine", 0),
        ("stray", "", 0),
    ]
    again = json.loads(qpr("erase", *given, "--json").out)["artefacts"]
    assert not any(one["rewritten"] for one in again)
    planned = json.loads(qpr("erase", *given, "--dry-run", "--json").out)["artefacts"]
    assert planned[1] == {"review": path, "rewritten": False, "verdicts": 0, "clusters": 0}


def test_strata_are_those_of_the_clusters_without_the_question(qpr, tmp_path, make_dataset):
    dataset, path = str(tmp_path / "d"), str(tmp_path / "review.db")
    make_dataset(dataset, [CLUSTERS[0], CLUSTERS[2]])
    queue = ClusterQueue(open_dataset(dataset), 0)
    with VerdictStore(path, queue.source) as store:
        for item in map(queue.item, range(2)):
            store.add([Verdict(f"v{item.place}", item.name, "ann", "right", (), "", now())], {item.name: item})
        assert {place.strata["size"] for place in store.places().values()} == {"3 to 5", "2 questions"}
    assert qpr("erase", "--dataset", dataset, "--review", path, "--question", SECRET).code == 0
    queue = ClusterQueue(open_dataset(dataset), 0)
    with VerdictStore(path, queue.source) as store:
        places = store.places()
    assert {place.strata["size"] for place in places.values()} == {"2 questions"}
    assert all(place.strata == queue.item(place.place).strata for place in places.values())


def test_a_database_of_another_dataset_is_refused_before_anything_is_written(qpr, judged, tmp_path, make_dataset):
    _, path = judged
    make_dataset(str(tmp_path / "other"), CLUSTERS[:1])
    outcome = qpr("erase", "--dataset", tmp_path / "other", "--review", path, "--question", SECRET)
    assert (outcome.code, outcome.err.count("\n")) == (1, 1)
    assert "has verdicts on another dataset" in outcome.err
    assert b"zibeline" in content(tmp_path)
    assert SECRET in str(open_dataset(str(tmp_path / "other")).table("questions").to_pylist())


def test_a_database_that_cannot_be_written_is_refused_before_anything_is_written(qpr, judged, monkeypatch):
    import jobs.review.erasing as erasing

    dataset, path = judged
    monkeypatch.setattr(erasing.os, "access", lambda *_: False)
    given = ("--dataset", dataset, "--review", path, "--question", SECRET)
    assert qpr("erase", *given, "--dry-run").code == 0
    outcome = qpr("erase", *given)
    assert (outcome.code, outcome.err.count("\n")) == (1, 1)
    assert f"{path}: cannot be written to" in outcome.err
    assert SECRET in str(open_dataset(dataset).table("questions").to_pylist())


def test_a_database_alone_loses_the_notes(qpr, judged, tmp_path):
    _, path = judged
    assert qpr("erase", "--review", path, "--question", SECRET).code == 0
    assert b"zibeline paid" not in content(tmp_path)


def test_verdicts_on_pairs_stay_and_their_end_is_a_warning(qpr, judged, tmp_path):
    dataset, _ = judged
    path = str(tmp_path / "pairs.db")
    source = QueueIdentity("pairs", open_dataset(dataset).manifest.digest, 0, 1, 1, 1)
    pair = Item("p0000000000000001", 0, None, (Line(None, SECRET), Line(None, "pay my bill how")), 1, {"stratum": "1"})
    with VerdictStore(path, source) as store:
        store.add([Verdict("v", pair.name, "ann", "wrong", (), f"not {SECRET}", now())], {pair.name: pair})
    outcome = qpr("erase", "--dataset", dataset, "--review", path, "--question", SECRET)
    assert outcome.code == 0
    assert f"sample of pairs is of {dataset} as it was before the erasure" in outcome.err
    with VerdictStore(path, source) as store:
        assert [(verdict.verdict, verdict.note) for verdict in store.verdicts()] == [("wrong", "")]
    again = qpr("erase", "--dataset", dataset, "--review", path, "--question", SECRET)
    assert again.code == 0, again.err


def requests_file(path, questions):
    hit = {"text": "pay my bill", "answer": "at the desk"}
    rows = [{"question": text, "answered": False, "reason": "no_certificate", "hit": hit} for text in questions]
    content = "".join(json.dumps(row) + "\n" for row in rows).encode()
    path.write_bytes(gzip.compress(content) if path.suffix == ".gz" else content)
    return str(path)


@pytest.fixture(params=["to_judge.jsonl", "to_judge.jsonl.gz"])
def judged_requests(request, tmp_path):
    """A file of requests, and a database with a verdict on each, one of which has the question in a note."""
    requests, path = requests_file(tmp_path / request.param, [*CLUSTERS[0], *CLUSTERS[2]]), str(tmp_path / "review.db")
    queue = RequestQueue(requests, 0)
    with VerdictStore(path, queue.source) as store:
        for item in map(queue.item, range(5)):
            note = SECRET if item.lines[0].text == CLUSTERS[2][0] else ""
            store.add([Verdict(f"v{item.place}", item.name, "ann", "right", (), note, now())], {item.name: item})
    return requests, path


def check_requests_without(requests, path, tmp_path):
    queue = RequestQueue(requests, 0)
    with VerdictStore(path, queue.source) as store:  # another source is refused
        judged = {verdict.item: verdict.note for verdict in store.verdicts()}
        places = store.places()
    assert judged == dict.fromkeys([queue.item(place).name for place in range(4)], "")
    assert {name: place.place for name, place in places.items()} == {name: queue.places.get(name) for name in judged}
    assert b"zibeline" not in content(tmp_path)


def test_no_kill_leaves_a_copy_of_judged_requests(qpr, judged_requests, tmp_path, monkeypatch):
    requests, path = judged_requests
    temporary = tmp_path / "temporary"
    temporary.mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(temporary))
    files = []

    def watched(url, *given, **named):
        files.extend(file for file in temporary.rglob("*") if file.is_file())
        return erase_from_file(url, *given, **named)

    monkeypatch.setattr(erasing, "erase_from_file", watched)
    assert qpr("erase", "--review", path, "--file", requests, "--question", SECRET).code == 0
    assert files == []
    assert not fsspec.filesystem("memory").find("/erasing")
    check_requests_without(requests, path, tmp_path)


def test_verdicts_on_requests_follow_their_file(qpr, judged_requests, tmp_path):
    requests, path = judged_requests
    other = requests_file(tmp_path / "other.jsonl", [SECRET, "why"])
    (tmp_path / "broken.jsonl").write_text("{")
    given = ("--review", path, "--file", tmp_path / "broken.jsonl", "--file", other, "--file", requests)
    given += ("--question", SECRET, "--json")
    planned = json.loads(qpr("erase", *given, "--dry-run").out)["artefacts"]
    assert planned[0] == {"review": path, "rewritten": False, "verdicts": 1, "requests": 1}
    outcome = qpr("erase", *given)
    assert outcome.code == 1  # of the broken file
    assert "not given" not in outcome.err
    assert json.loads(outcome.out)["artefacts"] == [
        {"review": path, "rewritten": True, "verdicts": 1, "requests": 1},
        {"file": other, "rewritten": True, "rows": 1},
        {"file": requests, "rewritten": True, "rows": 1},
    ]
    check_requests_without(requests, path, tmp_path)
    again = json.loads(qpr("erase", *given).out)["artefacts"]
    assert not any(one["rewritten"] for one in again)
    export = ("review", "--queue", "requests", "--requests", requests, "--database", path)
    assert qpr(*export, "--export", tmp_path / "judged.jsonl").code == 0
    assert len((tmp_path / "judged.jsonl").read_text().splitlines()) == 4


def test_an_erasure_that_is_killed_between_a_database_and_its_requests_is_completed(
    qpr, judged_requests, tmp_path, monkeypatch
):
    import jobs.review.erasing  # noqa: F401  # has its own name of the function that is replaced
    import jobs.workflows.erasure.text_files as text_files

    requests, path = judged_requests
    given = ("--review", path, "--file", requests, "--question", SECRET)
    with monkeypatch.context() as patched:
        patched.setattr(text_files, "erase_from_file", Mock(side_effect=KeyboardInterrupt))
        assert qpr("erase", *given).code != 0
    assert b"zibeline" not in content(tmp_path)
    assert len(RequestQueue(requests, 0).rows) == 5
    assert qpr("erase", *given).code == 0
    check_requests_without(requests, path, tmp_path)


def test_a_requests_file_that_is_not_given_or_has_no_request_left_is_named(qpr, judged_requests, tmp_path):
    requests, path = judged_requests
    other = requests_file(tmp_path / "other.jsonl", ["why"])
    outcome = qpr("erase", "--review", path, "--file", other, "--question", SECRET)
    assert (outcome.code, outcome.err.count("has verdicts on a requests file that is not given")) == (0, 1)
    assert b"zibeline" not in content(tmp_path)
    everything = [part for text in (*CLUSTERS[0], *CLUSTERS[2]) for part in ("--question", text)]
    outcome = qpr("erase", "--review", path, "--file", requests, *everything)
    assert outcome.code == 1
    assert f"{path}: has verdicts on {requests}, in which no answer to judge is left" in outcome.err.replace("\n", "")


def test_a_requests_file_whose_database_is_not_given_stays_until_it_is(qpr, judged_requests, tmp_path):
    requests, path = judged_requests
    (tmp_path / "another.db").write_bytes(b"SQLite format 3\x00")
    given = ("--file", requests, "--question", SECRET)
    for options in (["--dry-run"], []):
        outcome = qpr("erase", *given, *options)
        advice = f"Give --review {path} too, or remove that database"
        assert (
            outcome.code,
            f"{requests}: its requests are judged in {path}, which could not go on" in outcome.err,
        ) == (1, True)
        assert advice in outcome.err
    assert len(RequestQueue(requests, 0).rows) == 5
    assert qpr("erase", "--file", requests, "--question", "asked by nobody").code == 0
    assert qpr("erase", *given, "--review", path).code == 0
    check_requests_without(requests, path, tmp_path)


def test_a_requests_file_without_a_database_beside_it_is_erased_from(qpr, judged_requests, tmp_path):
    requests, path = judged_requests
    os.rename(path, tmp_path.parent / f"{tmp_path.name}.db")
    assert qpr("erase", "--file", requests, "--question", SECRET).code == 0
    assert len(RequestQueue(requests, 0).rows) == 4
