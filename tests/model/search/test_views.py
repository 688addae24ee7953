"""Searches of some rows of an index: none of the others is found, and as many as there are without them."""

import dataclasses
import json

import pytest

from model.search import views
from model.search.searcher import open_searcher
from schemas.errors import UsageError

FREQUENT, ROWS = 200, 600
HIDDEN = frozenset({"many"})


@pytest.fixture
def opened(folder, make_model, qpr):
    """Return a function that opens an index of a factory; a third of the questions, all alike, have one answer."""
    if not (folder / "model").exists():
        make_model(folder / "model", encoder="subword")
        rows = [{"question": f"pay my bill {n}", "answer": "the same", "answer_id": "many"} for n in range(FREQUENT)]
        rows += [{"question": f"cancel my flight {n}", "answer": f"by phone {n % 9}"} for n in range(ROWS - FREQUENT)]
        for n, row in enumerate(rows):
            row["tenant"] = "acme" if n < FREQUENT else "globex"
        (folder / "faq.jsonl").write_text("\n".join(map(json.dumps, rows)))

    def open_one(factory, *options, mode="fusion", **settings):
        place = folder / "-".join([factory, *options])
        if not place.exists():
            given = ("--questions", folder / "faq.jsonl", "--model", folder / "model", "--output", place)
            assert qpr("index", *given, "--factory", factory, "--shards", 2, *options).code == 0
        return open_searcher(str(place), mode=mode, **settings)

    return open_one


ASKED = ["pay my bill now", "PAY MY BILL 7", "cancel my flight to pay"]


@pytest.mark.parametrize("mode", ["dense", "bm25", "fusion"])
@pytest.mark.parametrize("factory", ["Flat", "HNSW4,SQ8,RFlat"])
def test_full_lists_of_other_hits_are_found_without_a_frequent_answer(opened, factory, mode):
    searcher = opened(factory, probes=None if factory == "Flat" else 1)
    found = searcher.without_answers(HIDDEN).search_many(ASKED, 20, mode=mode)
    assert [len(hits) for hits in found] == [20] * 3
    assert not any(hit.answer_id == "many" for hits in found for hit in hits)
    assert searcher.search_many(ASKED, 20, mode=mode)[1][0].text == "pay my bill 7"


@pytest.mark.parametrize("factory", ["Flat", "HNSW4,SQ8,RFlat"])
def test_the_order_of_other_hits_by_vectors_and_by_words_stays(opened, factory):
    every = opened(factory, exact=True)
    for mode in ("dense", "bm25"):
        whole = every.search_many(ASKED, ROWS, mode=mode)
        others = [[hit.text for hit in hits if hit.answer_id != "many"][:20] for hits in whole]
        found = opened(factory).without_answers(HIDDEN).search_many(ASKED, 20, mode=mode)
        assert [[hit.text for hit in hits] for hits in found] == others


def test_answers_without_an_id_are_named_by_their_text(opened):
    searcher = opened("Flat")
    name = searcher.search("cancel my flight 4")[0].judged_id
    found = searcher.without_answers(frozenset({name})).search_many(["cancel my flight 4"], ROWS, mode="dense")[0]
    assert {hit.answer for hit in found} == {"the same", *(f"by phone {n}" for n in range(9) if n != 4)}


def test_values_that_only_hidden_rows_have_find_nothing_and_are_known(opened):
    searcher = opened("Flat", "--vary-by", "tenant").without_answers(HIDDEN)
    assert searcher.search("pay my bill", filters={"tenant": "acme"}) == []
    assert len(searcher.search("pay my bill", filters={"tenant": "globex"})) == 10
    with pytest.raises(UsageError, match="no question has the tenant"):
        searcher.search("pay my bill", filters={"tenant": "initech"})


@pytest.mark.parametrize(("rows", "most"), [(1, 5460), (400, 4975), (10**6, 22), (10**9, 4)])
def test_the_views_that_are_kept_take_64_mb(opened, rows, most):
    retrieval = opened("Flat").retrieval
    settings = retrieval.index.settings.model_copy(update={"questions": rows})
    index = dataclasses.replace(retrieval.index, settings=settings)
    assert views.Views(dataclasses.replace(retrieval, index=index))._max_views == most


@pytest.mark.parametrize(
    ("factory", "rows", "hidden", "probes"),
    [
        ("Flat", 1000, 10, 0),
        ("IVF64,Flat", 1000, 100, 12),
        ("IVF64,Flat", 1000, 990, 64),
        ("HNSW32,SQ8,RFlat", 100_000, 100, 105),
        ("HNSW32,SQ8,RFlat", 100_000, 1000, 2**16),
    ],
)
def test_a_search_past_hidden_rows_looks_at_as_many_more(opened, factory, rows, hidden, probes):
    index = opened("Flat").index
    settings = index.settings.model_copy(update={"factory": factory, "questions": rows})
    index = dataclasses.replace(index, probes=5, settings=settings)
    assert views._probes_past(index, hidden) == probes
