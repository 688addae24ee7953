import itertools

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import binom

from pipelines.calibration.verdicts.threshold_test import (
    FORGIVEN,
    KEPT_DRAWS,
    LOOKS,
    OTHER_DRAWS,
    SHARES,
    largest_supported,
    missing_verdicts,
    nested_sets,
    supported_at_looks,
)

RUNS = 2_000
GRID = (np.arange(10_000) + 0.5) / 10_000
CURVES = {
    "boundary": lambda rank: np.full(rank.shape, 0.9),
    "falling": lambda rank: 1 - 0.25 * rank,
    "step": lambda rank: np.where(rank < 0.5, 0.97, 0.5),
    "rising": lambda rank: 0.7 + 0.25 * rank,
    "good": lambda rank: np.full(rank.shape, 0.98),
}
"""Precision of the pairs at each rank, from the most probable on."""


def wrong_verdicts(curve, blocks):
    """Return the (RUNS, blocks, S) wrong verdicts inside each set of simulated samples."""
    rng = np.random.default_rng(7)
    rank = (np.arange(KEPT_DRAWS) + rng.random((RUNS, blocks, KEPT_DRAWS))) / KEPT_DRAWS
    wrong = rng.random(rank.shape) >= curve(rank)
    return np.stack([(wrong & (rank < share)).sum(-1) for share in SHARES], axis=-1)


def true_precisions(curve):
    return np.array([curve(GRID[share > GRID]).mean() for share in SHARES])


@pytest.fixture(scope="module")
def simulated():
    return {name: (wrong_verdicts(curve, 36), true_precisions(curve)) for name, curve in CURVES.items()}


@pytest.mark.parametrize("precision", [0.8, 0.9, 0.95])
def test_a_promise_is_broken_in_at_most_5_percent_of_the_samples_whenever_it_is_looked_at(simulated, precision):
    for name, (wrong, true) in simulated.items():
        broken = np.zeros(RUNS, bool)
        for blocks in (9, 18, 36):  # the looks: between them nothing else is claimed
            index = supported_at_looks(SHARES, wrong[:, :blocks], precision)
            broken |= (index >= 0) & (true[index] < precision)
        assert broken.mean() <= 0.05 + 2 * np.sqrt(0.05 * 0.95 / RUNS), name


def test_the_promise_is_not_empty(simulated):
    # a set whose precision is exactly .9 does not have more than .9, so each support is an error of the allowed size
    wrong, _ = simulated["boundary"]
    assert (supported_at_looks(SHARES, wrong, 0.9) >= 0).mean() >= 0.01
    wrong, _ = simulated["good"]
    assert (supported_at_looks(SHARES, wrong[:, :18], 0.9) == len(SHARES) - 1).mean() > 0.8
    wrong, true = simulated["step"]
    index = supported_at_looks(SHARES, wrong, 0.8)
    assert (index >= 0).mean() > 0.9
    assert np.median(true[index[index >= 0]]) < 0.95  # more than the strictest sets is kept


def test_the_lowest_threshold_that_the_verdicts_themselves_reach_breaks_its_promise(simulated):
    draws = KEPT_DRAWS * 18 * np.array(SHARES)
    broken = {}
    for name in ("falling", "step"):
        wrong, true = simulated[name]
        reached = 1 - wrong[:, :18].sum(1) / draws >= 0.9
        index = len(SHARES) - 1 - reached[:, ::-1].argmax(1)
        broken[name] = (reached.any(1) & (true[index] < 0.9)).mean()
    assert min(broken.values()) > 0.15, broken


@given(
    st.lists(st.tuples(st.sampled_from([0.5, 0.6, 0.9, 0.95, 1.0]), st.integers(1, 9)), min_size=1, max_size=12),
)
def test_sets_hold_whole_clusters_and_end_with_all(clusters):
    probability = -np.sort([-p for p, _ in clusters])
    pairs = np.array([n for _, n in sorted(clusters, reverse=True)])
    sets = nested_sets(probability, pairs)
    assert all(a.probability > b.probability and a.share < b.share for a, b in itertools.pairwise(sets))
    assert sets[-1] == (probability.min(), 1.0)
    for found in sets:
        assert found.share == pytest.approx(pairs[probability >= found.probability].sum() / pairs.sum())


@given(
    st.lists(st.integers(0, 30), min_size=len(SHARES), max_size=len(SHARES)).map(sorted),
    st.sampled_from([9, 18, 36]),
    st.sampled_from([0.5, 0.8, 0.9, 0.99]),
)
def test_sets_are_tested_one_after_the_other_until_one_fails(wrong, blocks, precision):
    draws, error = 6 * blocks, LOOKS[blocks]

    def passes(share, number):
        mean = draws * share * (1 - precision)
        return number <= mean - 1 and binom.cdf(number, draws, share * (1 - precision)) <= error

    starts = [n for n, share in enumerate(SHARES) if binom.cdf(FORGIVEN, draws, share * (1 - precision)) <= error]
    expected = -1
    for number in range(starts[0] if starts else len(SHARES) - 1, len(SHARES)):
        if not passes(SHARES[number], wrong[number]):
            break
        expected = number
    found = largest_supported(SHARES, np.array(wrong), blocks=blocks, precision=precision, error=error)
    assert int(found) == expected


def test_the_error_is_divided_among_the_looks():
    assert sum(LOOKS.values()) == pytest.approx(0.05)


def test_the_missing_verdicts_are_enough_if_they_turn_out_like_those_so_far():
    none_wrong = np.zeros((10, len(SHARES)), int)
    judged = 10 * (KEPT_DRAWS + OTHER_DRAWS)
    missing = missing_verdicts(SHARES, none_wrong, 0.95, judged=judged)
    blocks = (judged + missing) // (KEPT_DRAWS + OTHER_DRAWS)
    assert supported_at_looks(SHARES, none_wrong, 0.95) == -1
    assert supported_at_looks(SHARES, np.zeros((blocks, len(SHARES)), int), 0.95) >= 0
    a_sixth_wrong = np.tile(np.array(SHARES), (40, 1))
    assert missing_verdicts(SHARES, a_sixth_wrong, 0.9, judged=320) is None
