import numpy as np
import pytest

from model.certificates.settings import Promise
from model.certificates.simulation import CURVES, naive_rank, simulate, true_risk

PROMISE = Promise(alpha=0.05, delta=0.1)


@pytest.fixture(scope="module")
def rows():
    return {(row.traffic, row.method): row for row in simulate(PROMISE, requests=1_000, draws=400, seed=3)}


def test_certificates_are_kept_and_naive_thresholds_are_not(rows):
    for name in CURVES:
        assert rows[name, "certificate"].kept, name
        assert not rows[name, "naive threshold"].kept, name
        assert rows[name, "certificate"].allowed == pytest.approx(0.1 + 2 * np.sqrt(0.1 * 0.9 / 400))


def test_the_bound_is_reached_at_the_boundary_and_most_traffic_is_certified_elsewhere(rows):
    assert rows["at the boundary", "certificate"].broken >= 0.1 / 5
    assert rows["rising slowly", "certificate"].certified >= 0.7
    assert rows["half without an answer", "certificate"].answered >= 0.15


def test_requests_that_come_in_clusters_break_the_promise(rows):
    [clustered] = [row for (name, _), row in rows.items() if "at once" in name]
    assert not clustered.kept


def test_several_tries_at_the_same_chance_break_the_promise_and_at_halved_ones_do_not(rows):
    tries = {method: row for (name, method), row in rows.items() if "tries" in name}
    assert not tries["certificate"].kept
    assert tries["certificate, delta halved"].kept
    assert tries["certificate, delta halved"].broken >= rows["at the boundary", "certificate"].allowed / 5


def test_the_same_seed_gives_the_same_rows():
    first, again = ([*simulate(PROMISE, requests=400, draws=5, seed=4)] for _ in range(2))
    assert first == again


@pytest.mark.parametrize("name", CURVES)
def test_the_true_risk_is_the_mean_of_the_curve_up_to_the_rank(name):
    ranks = np.array([0.05, 0.3, 0.31, 0.9, 1.0])
    naive = [CURVES[name](np.linspace(0, rank, 200_001)[:-1], 0.05).mean() for rank in ranks]
    np.testing.assert_allclose(true_risk(CURVES[name], ranks, 0.05), naive, atol=2e-4)
    assert true_risk(CURVES[name], np.zeros(1), 0.05) == 0


def test_the_naive_threshold_is_the_last_with_few_enough_wrong_answers():
    wrong = np.array([False, True, False, False, False, True, True])
    assert naive_rank(np.arange(1, 8) / 10, wrong, 0.25) == 0.5
    assert naive_rank(np.arange(1, 8) / 10, ~wrong, 0.0) == 0.0
