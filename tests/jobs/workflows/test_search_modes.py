import json

import pytest

from jobs.workflows.search_modes import chosen_mode
from model.index.settings import ModeFigures
from model.search.searcher import open_searcher
from tests.support.csv_files import write_csv


def figures(mrr, median_ms):
    return ModeFigures(queries=100, hits_at_1=0.5, mrr=mrr, median_ms=median_ms)


@pytest.mark.parametrize(
    ("latency_ms", "mode"),
    [(0.5, "dense"), (1, "dense"), (3, "bm25"), (5, "fusion")],
)
def test_the_best_within_the_latency_is_chosen(latency_ms, mode):
    measured = {"dense": figures(0.7, 1), "bm25": figures(0.75, 3), "fusion": figures(0.8, 5)}
    assert chosen_mode(measured, latency_ms=latency_ms) == mode


def test_a_way_that_takes_a_little_longer_is_chosen_where_it_is_better():
    measured = {"dense": figures(0.7, 1), "fusion": figures(0.8, 4), "probability": figures(0.801, 4.2)}
    assert chosen_mode(measured, latency_ms=9) == "probability"
    assert chosen_mode(measured | {"probability": figures(0.799, 4.2)}, latency_ms=9) == "fusion"
    assert chosen_mode(measured | {"probability": figures(0.8, 4.2)}, latency_ms=9) == "fusion"


def test_a_slower_way_is_chosen_only_where_it_gains_more_than_chance():
    measured = {"dense": figures(0.7, 1), "fusion": figures(0.704, 2), "probability": figures(0.7045, 3)}
    assert chosen_mode(measured, latency_ms=9) == "dense"
    assert chosen_mode(measured | {"probability": figures(0.7095, 3)}, latency_ms=9) == "probability"
    assert chosen_mode({"bm25": figures(0.70, 3), "fusion": figures(0.7005, 3)}, latency_ms=9) == "fusion"
    assert chosen_mode({"dense": figures(0.8, 4.2), "fusion": figures(0.8, 4)}, latency_ms=9) == "fusion"
    assert chosen_mode({}, latency_ms=9) == "dense"


@pytest.fixture
def built(qpr, tmp_path, make_model, make_training_data):
    """Return a function that indexes pairs of questions with two rare words in common, and the configuration."""

    def make(clusters, *options):
        make_model(tmp_path / "model")
        texts = [(f"what is rare{n} of other{n}", f"other{n} and how is rare{n}") for n in range(clusters)]
        make_training_data(tmp_path / "data", [("validation", of) for of in texts])
        given = ("--questions", tmp_path / "data", "--model", tmp_path / "model", "--output", tmp_path / "index")
        outcome = qpr("index", *given, "--shards", 2, "--json", "--overwrite", *options)
        assert outcome.code == 0, outcome.err
        return json.loads(outcome.out)["configuration"]

    return make


def test_validation_decides_the_default_mode_and_its_figures_are_stored(built, tmp_path):
    found = built(60, "--latency-ms", 10_000)
    assert {name: of["queries"] for name, of in found["modes"].items()} == {"dense": 120, "bm25": 120, "fusion": 120}
    assert found["modes"]["bm25"]["mrr"] == 1  # rare words tell the pairs apart; the model is random
    assert found["modes"][found["mode"]]["mrr"] == 1
    assert found["modes"]["dense"]["mrr"] < 1
    searcher = open_searcher(str(tmp_path / "index"))
    assert searcher.retrieval.mode == found["mode"] != "dense"
    assert searcher.version.mode.startswith(found["mode"])
    assert built(60, "--latency-ms", 1e-6)["mode"] == "dense"


def test_the_same_questions_give_the_same_figures_and_words_cost_more(built, monkeypatch):
    found = built(60)
    monkeypatch.setattr("time.process_time", lambda: pytest.fail("a clock decides"))
    assert built(60) == found
    assert built(60, "--latency-ms", found["modes"]["dense"]["median_ms"])["mode"] == "dense"
    assert found["modes"]["dense"]["median_ms"] < found["modes"]["bm25"]["median_ms"]
    assert found["modes"]["bm25"]["median_ms"] == found["modes"]["fusion"]["median_ms"]


@pytest.mark.parametrize(("clusters", "options"), [(49, ()), (60, ("--no-bm25",))])
def test_without_enough_queries_or_bm25_the_default_is_dense(built, clusters, options):
    found = built(clusters, *options)
    assert (found["mode"], found["modes"]) == ("dense", {})


@pytest.mark.parametrize("options", [(), ("--latency-ms", 1e-6)])
def test_ways_to_search_an_index_that_varies_are_compared_among_the_rows_with_the_values_of_a_query(
    qpr, tmp_path, make_model, options
):
    make_model(tmp_path / "model")
    wordings = [
        (n, text) for n in range(60) for text in (f"what is rare{n} of other{n}", f"other{n} and how is rare{n}")
    ]
    rows = [
        {"question": text, "answer": f"{tenant} {n}", "tenant": tenant}
        for tenant in ("acme", "globex")
        for n, text in wordings
    ]
    given = ("--questions", write_csv(tmp_path / "faq.csv", rows), "--model", tmp_path / "model", "--shards", 2)
    outcome = qpr("index", *given, "--output", tmp_path / "index", "--vary-by", "tenant", "--json", *options)
    assert outcome.code == 0, outcome.err
    found = json.loads(outcome.out)["configuration"]
    assert {of["queries"] for of in found["modes"].values()} == {240}
    assert found["modes"]["bm25"]["mrr"] == 1  # among all rows the same wording of the other tenant would be first
    assert found["modes"]["dense"]["mrr"] < 1
    assert (found["mode"] == "dense") == bool(options)
    searcher = open_searcher(str(tmp_path / "index"))
    assert searcher.retrieval.mode == found["mode"]
    hits = searcher.search("rare7 other7", k=120, filters={"tenant": "globex"})
    assert {hit.answer.split()[0] for hit in hits} == {"globex"}
