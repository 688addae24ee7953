import json

import numpy as np
import pytest

from model.index.ranking import Ranking, places
from model.search.retrieval import _first_alike, fused
from model.search.searcher import open_searcher
from tests.support.rankings import ranking


@pytest.mark.parametrize("weight", [0.3, 1.0, 2.0])
def test_a_fusion_is_the_order_of_the_sums_of_reciprocal_ranks(weight):
    dense, lexical = [5, 3, 9, 1], [1, 8, 3, -1]
    sums = {}
    for ids, of in ((dense, 1.0), (lexical, weight)):
        for rank, number in enumerate(ids, start=1):
            if number != -1:
                sums[number] = sums.get(number, 0) + of / rank
    expected = sorted(sums, key=lambda number: (-sums[number], number))
    found = fused(ranking(dense), ranking(lexical), weight, 4)
    assert found.ids.tolist() == [expected[:4]]
    assert found.rows.tolist() == found.ids.tolist()
    assert found.scores[0] == pytest.approx([sums[number] for number in expected[:4]])


def test_a_fusion_of_too_few_hits_is_padded_and_none_is_there_twice():
    found = fused(ranking([2, -1], [-1, -1]), ranking([2, -1], [-1, -1]), 0.5, 3)
    assert found.ids.tolist() == [[2, -1, -1], [-1, -1, -1]]
    assert found.found.sum() == 1


def drawn(random, queries, k):
    """Return a ranking of different numbers below 40, some of them padded."""
    table = np.array([random.permutation(40)[:k] for _ in range(queries)])
    return ranking(*np.where(np.arange(k) < random.integers(0, k + 1, queries)[:, None], table, -1))


@pytest.mark.parametrize("seed", range(20))
def test_one_query_is_fused_as_several_are_to_the_last_bit(seed):
    random = np.random.default_rng(seed)
    dense, lexical = drawn(random, 30, 20), drawn(random, 30, int(random.integers(1, 25)))
    weight, k = float(random.choice([0.3, 1.0, 2.0])), int(random.choice([1, 5, 20, 60]))
    together = fused(dense, lexical, weight, k)
    for query in range(30):
        row = slice(query, query + 1)
        one, two = (Ranking(of.ids[row], of.scores[row], of.rows[row]) for of in (dense, lexical))
        alone = fused(one, two, weight, k)
        assert alone.ids.tolist() == together.ids[row].tolist()
        assert alone.rows.tolist() == together.rows[row].tolist()
        assert alone.scores.tobytes() == together.scores[row].tobytes()
        assert places(one.ids, two.ids).tolist() == places(dense.ids, lexical.ids)[row].tolist()


WORDS = ["bag", "bill", "cancel", "date", "fare", "flight", "gate", "lounge", "meal", "name", "parking", "pay"]
WORDS += ["refund", "seat", "ticket", "visa"]


def opened(place, qpr, make_model, mode, *options):
    """Return an index of questions of three words out of sixteen, in one of its ways of searching."""
    random = np.random.default_rng(0)
    questions = sorted({" ".join(random.choice(WORDS, 3, replace=False)) for _ in range(1200)})
    rows = [json.dumps({"question": text, "cluster_id": number % 100}) for number, text in enumerate(questions)]
    if not place.exists():
        place.mkdir()
        (place / "faq.jsonl").write_text("\n".join(rows))
        make_model(place / "model", words=WORDS, encoder="subword", dimension=16)
        given = ("--questions", place / "faq.jsonl", "--model", place / "model", "--output", place / "index")
        assert qpr("index", *given, *options).code == 0
    return open_searcher(str(place / "index"), mode=mode)


@pytest.mark.parametrize("factory", ["Flat", "HNSW32,SQ8,RFlat"])
@pytest.mark.parametrize("mode", ["dense", "bm25", "fusion"])
def test_a_ranking_does_not_depend_on_how_many_of_its_hits_are_returned(
    folder, qpr, make_model, monkeypatch, factory, mode
):
    monkeypatch.setattr("model.index.lexical.ENTRIES", 100)  # so that a search for more hits reads more lists
    searcher = opened(folder / factory, qpr, make_model, mode, "--factory", factory)
    asked = ["my flight bill", "seat of the gate", "refund", "visa date fare name"]
    longest = searcher.search_many(asked, 90)
    assert min(map(len, longest)) > 20
    exact = factory == "Flat" and mode == "dense"
    for k in (1, 2, 5, 10, 20, 21, 35, 60):
        compared = k if exact else min(k, 20)
        for question, hits, longer in zip(asked, searcher.search_many(asked, k), longest, strict=True):
            alone = searcher.search(question, k)
            assert len(hits) == k
            assert [hit.question_id for hit in alone] == [hit.question_id for hit in hits]
            for some, others in ((hits, longer), (alone, longer)):
                first = [(hit.question_id, hit.probability) for hit in others[:compared]]
                assert [(hit.question_id, hit.probability) for hit in some[:compared]] == first


def test_hits_after_the_fused_ones_are_ordered_by_their_better_rank():
    dense, lexical = ranking([1, 2, 3, 4, 5]), ranking([6, 4, 7, 8, 9])
    first = fused(dense.first(2), lexical.first(2), 1.0, 4)
    rest = fused(dense, lexical, 1.0, 10, combined=np.maximum)
    assert first.ids.tolist() == [[1, 6, 2, 4]]
    assert rest.ids.tolist() == [[1, 6, 2, 4, 3, 7, 8, 5, 9, -1]]
    assert first.extended(rest, 6).ids.tolist() == [[1, 6, 2, 4, 3, 7]]


def test_a_ranking_is_extended_by_hits_that_it_does_not_have_yet():
    first, longer = ranking([3, 1], [2, -1]), ranking([1, 4, 3, 5], [2, 6, -1, -1])
    extended = first.extended(longer, 3)
    assert extended.ids.tolist() == [[3, 1, 4], [2, 6, -1]]
    assert extended.rows.tolist() == extended.ids.tolist()
    assert first.extended(ranking([3, 1, 4], [2, -1, -1]), 3).ids.tolist() == [[3, 1, 4], [2, -1, -1]]


def test_a_search_for_more_hits_begins_with_those_of_a_search_for_fewer():
    """A search for more hits can find better ones, as BM25 does that reads more lists."""
    found = {2: ranking([3, 1]), 4: ranking([8, 3, 1, 5])}
    assert _first_alike(found.__getitem__, 1, 2).ids.tolist() == [[3, 1]]
    assert _first_alike(found.__getitem__, 4, 2).ids.tolist() == [[3, 1, 8, 5]]
