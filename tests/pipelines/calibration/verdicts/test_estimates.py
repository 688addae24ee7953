import numpy as np
import pytest

from pipelines.calibration.verdicts.estimates import estimate


def test_shares_are_weighted_by_the_pairs_that_verdicts_stand_for():
    found = estimate((9, 1), (1, 4), (1, 9), pairs=(100, 50, 1_000))
    assert found.precision.value == 0.9
    assert found.prior.value == pytest.approx((90 + 10 + 100) / 1150)
    assert found.recall.value == pytest.approx(90 / 200)


def test_a_share_without_a_wrong_verdict_keeps_an_interval():
    found = estimate((20, 0), (0, 0), (0, 0), pairs=(100, 0, 0))
    assert found.precision.value == found.precision.high == 1.0
    assert 0.8 < found.precision.low < 0.95
    assert estimate((0, 5), (0, 0), (0, 5), pairs=(10, 0, 10)).recall is None


def test_intervals_contain_the_truth_in_about_95_percent_of_the_samples():
    rng = np.random.default_rng(3)
    pairs, shares, sizes = (1_000, 500, 5_000), (0.9, 0.6, 0.1), (54, 54, 36)
    right = np.array(pairs) * shares
    true = {"precision": 0.9, "prior": right.sum() / sum(pairs), "recall": right[0] / right.sum()}
    runs = 150
    inside = dict.fromkeys(true, 0)
    for _ in range(runs):
        counts = [(int(k), n - int(k)) for n, k in zip(sizes, rng.binomial(sizes, shares), strict=True)]
        found = estimate(*counts, pairs=pairs)
        for name, value in true.items():
            inside[name] += getattr(found, name).low <= value <= getattr(found, name).high
    assert min(inside.values()) / runs > 0.9, inside
