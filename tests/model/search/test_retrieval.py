import numpy as np
import pytest

from model.index.ranking import Ranking
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
