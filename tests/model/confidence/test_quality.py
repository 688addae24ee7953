import numpy as np
import pytest

from model.confidence.quality import quality

RNG = np.random.default_rng(0)


def test_separation_is_the_share_of_pairs_in_order():
    scores, right = np.round(RNG.random(200), 1), RNG.random(200) < 0.4
    pairs = [(a > b) + (a == b) / 2 for a in scores[right] for b in scores[~right]]
    assert quality(scores, right).auc == pytest.approx(np.mean(pairs))


def test_calibrated_probabilities_have_no_error_and_shifted_ones_theirs():
    probabilities = 0.8 * RNG.random(200_000)
    right = RNG.random(200_000) < probabilities
    assert quality(probabilities, right).calibration_error < 0.01
    assert quality(probabilities + 0.2, right).calibration_error == pytest.approx(0.2, abs=0.01)
    assert quality(np.array([0.25, 0.75]), np.array([True, False])).calibration_error == 0.75
    assert quality(np.array([0.0, 1.0]), np.array([False, True])).calibration_error == 0
    assert quality(np.full(4, 0.5), np.array([True, True, True, False])).brier == 0.25


def test_a_weight_counts_like_as_many_outcomes():
    probabilities, right, weights = np.round(RNG.random(60), 1), RNG.random(60) < 0.5, RNG.integers(1, 5, 60)
    repeated = quality(np.repeat(probabilities, weights), np.repeat(right, weights))
    assert quality(probabilities, right, weights.astype(float)) == pytest.approx(repeated)
