import numpy as np
import pyarrow as pa

from jobs.nightly.gate.evaluation import RANKS, JudgedSplit, compare, own_metrics
from model.evaluation.relevance import Judgements


def ranks(rows):
    return pa.table(dict(zip(RANKS.names, zip(*rows, strict=True), strict=True)), RANKS)


# queries 0 and 1 are paraphrases, 2 has two of them, 9 and 8
TEST = JudgedSplit(
    Judgements(np.array([0, 1, 2]), pa.array("abc"), np.array([0, 1, 2, 2]), np.array([1, 0, 8, 9])),
    np.array([5, 5, 7]),
)
BEFORE = ranks([(1, True), (0, True), (4, True), (2, False)])
AFTER = ranks([(2, True), (1, True), (4, True), (1, True)])


def test_pairs_count_whose_paraphrase_is_in_both_indexes():
    found = compare(TEST, BEFORE, AFTER)
    assert found.before.tolist() == [1, 0, 0.25]
    assert found.after.tolist() == [0.5, 1, 0.25]
    assert found.clusters.tolist() == [5, 5, 7]
    only_last = compare(TEST, ranks([(0, False), (0, False), (4, True), (2, False)]), AFTER)
    assert (only_last.before.tolist(), only_last.clusters.tolist()) == ([0.25], [7])
    assert len(compare(TEST, ranks([(0, False)] * 4), AFTER).after) == 0


def test_metrics_of_its_own_test_split_are_those_of_the_first_paraphrases():
    found = own_metrics(TEST, AFTER)
    assert (found["queries"], found["hits_at_1"], found["mrr"]) == (3, 2 / 3, (0.5 + 1 + 1) / 3)
    nothing = JudgedSplit(
        Judgements(np.zeros(0, int), pa.array([], pa.string()), np.zeros(0, int), np.zeros(0, int)), np.zeros(0, int)
    )
    assert own_metrics(nothing, RANKS.empty_table()) == {}
