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


@pytest.mark.parametrize(("blocks", "others", "share"), [(18, 14_000, 0.0), (36, 14_000, 0.0005), (18, 80_000, 0.0002)])
def test_the_interval_of_the_prior_contains_a_truth_of_few_paraphrases_that_are_not_kept(blocks, others, share):
    rng = np.random.default_rng(5)
    pairs, runs = (1_000, 0, others), 150
    true, found = (750 + others * share) / (1_000 + others), []
    for _ in range(runs):
        right, others_right = rng.binomial([6 * blocks, 2 * blocks], [0.75, share])
        counts = (int(right), int(6 * blocks - right)), (0, 0), (int(others_right), int(2 * blocks - others_right))
        found.append(estimate(*counts, pairs=pairs))
    assert np.mean([one.prior.low <= true <= one.prior.high for one in found]) > 0.93
    recall = 750 / (750 + others * share)
    assert np.mean([one.recall.low <= recall <= one.recall.high for one in found]) > 0.93


def test_ends_are_those_of_no_right_and_of_no_wrong_verdict():
    found = estimate((20, 0), (0, 0), (0, 40), pairs=(100, 0, 1_000))
    assert found.recall.high == 1.0
    assert found.prior.low == pytest.approx(found.precision.low * 100 / 1_100, rel=0.02)
    none = estimate((0, 20), (0, 0), (0, 40), pairs=(100, 0, 1_000))
    assert (none.prior.low, none.precision.low) == (0.0, 0.0)
    assert none.prior.high > 0
