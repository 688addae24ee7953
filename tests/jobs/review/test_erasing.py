import json

import pytest

from jobs.review.database import now
from jobs.review.queues.clusters import ClusterQueue
from jobs.review.queues.interface import Item, Line, Source
from jobs.review.store import Verdict, VerdictStore
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
    assert planned[1] == {"review": path, "rewritten": False, "verdicts": 2, "clusters": 0}
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
    source = Source("pairs", open_dataset(dataset).manifest.digest, 0, 1, 1, 1)
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
