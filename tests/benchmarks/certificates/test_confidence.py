import numpy as np

from benchmarks.certificates.confidence import coverage


def test_coverage_is_the_largest_share_with_few_wrong_ones():
    right = np.array([True] * 8 + [False] + [True] * 3 + [False] * 8)
    scores = -np.arange(20.0)
    assert coverage(scores, right, 0.0) == 8 / 20
    assert coverage(scores, right, 0.1) == 12 / 20
    assert coverage(scores, ~right, 0.1) == 0
    assert coverage(scores, right, 1.0) == 1


def test_queries_of_one_score_are_answered_together():
    assert coverage(np.array([0.9, 0.9, 0.1]), np.array([True, False, True]), 0.1) == 0
