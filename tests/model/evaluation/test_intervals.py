import numpy as np
import pytest

from model.evaluation.intervals import interval, intervals


def test_the_interval_draws_clusters_and_is_seeded():
    draw = np.random.default_rng(0)
    clusters = np.repeat(np.arange(100), 4)
    effect = np.repeat(draw.normal(0.05, 0.1, 100), 4)
    found = interval(effect, clusters)
    assert found == interval(effect, clusters)
    assert found.mean == pytest.approx(effect.mean())
    exact = 1.96 * effect[::4].std(ddof=1) / 10
    assert found.high - found.low == pytest.approx(2 * exact, rel=0.15)
    same = interval(np.zeros(400), clusters)
    assert (same.low, same.mean, same.high) == (0, 0, 0)


def intervals_with_the_truth(*, seed, draws, clusters):
    """Return the number of draws whose interval contains the true difference of .02."""
    draw, inside = np.random.default_rng(seed), 0
    for _ in range(draws):
        effect = np.repeat(draw.normal(0.02, 0.1, clusters), 3)
        found = interval(effect, np.repeat(np.arange(clusters), 3))
        inside += found.low <= 0.02 <= found.high
    return inside


def test_the_interval_of_few_clusters_is_as_long_as_their_number_needs():
    inside = intervals_with_the_truth(seed=2, draws=300, clusters=5)
    assert inside >= 273  # 91 %; percentiles of the bootstrap alone hold it in 252


def test_the_interval_holds_the_true_difference_in_most_draws():
    assert 88 <= intervals_with_the_truth(seed=1, draws=100, clusters=60) <= 100


@pytest.mark.parametrize("clusters", [60, 6_000])
def test_the_intervals_of_several_metrics_are_those_of_each(clusters):
    draw = np.random.default_rng(3)
    of = np.repeat(np.arange(clusters), 2)
    values = np.stack([draw.random(len(of)), draw.random(len(of)) < 0.3, np.ones(len(of))])
    found = intervals(values, of)
    assert found == [interval(row, of) for row in values]
    assert found[2] == (1, 1, 1)
    spread = values[1].reshape(-1, 2).mean(axis=1).std(ddof=1) / clusters**0.5
    assert found[1].high - found[1].low == pytest.approx(2 * 1.96 * spread, rel=0.15)
