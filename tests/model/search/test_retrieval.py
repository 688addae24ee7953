import numpy as np
import pytest

from model.index.ranking import Ranking, places
from model.search.retrieval import fused


def ranking(*ids):
    table = np.array(ids)
    return Ranking(table, np.where(table < 0, -np.inf, -table / 10).astype(np.float32), np.where(table < 0, -1, table))


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
