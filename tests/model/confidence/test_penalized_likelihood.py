import numpy as np
import pytest
from scipy.optimize import minimize
from threadpoolctl import threadpool_info, threadpool_limits

from model.confidence import penalized_likelihood
from model.confidence.penalized_likelihood import PENALTY, PIECES, fit
from schemas.errors import QprError

RNG = np.random.default_rng(0)
X = RNG.random((3_000, 3))
LOG_ODDS = 4 * X[:, 0] - 6 * (X[:, 1] - 0.5) ** 2 - 1
RIGHT = RNG.random(3_000) < 1 / (1 + np.exp(-LOG_ODDS))
ONES = np.ones(3_000)
SIGNS = {"rising": 1, "bent": 0, "noise": 0}


def test_the_log_odds_of_additive_data_are_found():
    model = fit(X, RIGHT, ONES, SIGNS)
    error = model.contributions(X).sum(axis=1) + model.bias - LOG_ODDS
    assert np.abs(error).mean() < 0.25
    assert np.abs(model.contributions(X)[:, 2]).mean() < 0.2


def test_contributions_and_bias_add_up_to_the_probability():
    model = fit(X, RIGHT, ONES, SIGNS)
    added = model.contributions(X)
    np.testing.assert_allclose(model.probability(added), 1 / (1 + np.exp(-(added.sum(axis=1) + model.bias))))
    assert np.abs(added.mean(axis=0)).max() < 1e-3
    assert model.probability(added).mean() == pytest.approx(RIGHT.mean(), abs=1e-3)


@pytest.mark.parametrize("sign", [1, -1])
def test_a_curve_never_goes_against_its_sign(sign):
    model = fit(X, RIGHT, ONES, {"rising": sign, "bent": sign, "noise": sign})
    for curve in model.curves.values():
        assert (sign * np.diff(curve.log_odds) >= 0).all()


def test_a_curve_has_at_most_eight_pieces_and_is_stored_with_five_decimal_places():
    model = fit(X[:300], RIGHT[:300], ONES[:300], SIGNS)
    stored = [value for curve in model.curves.values() for value in (*curve.knots, *curve.log_odds)]
    assert len(stored) == 2 * len(SIGNS) * (PIECES + 1)
    assert [round(value, 5) for value in (model.bias, *stored)] == [model.bias, *stored]


def test_beyond_the_knots_a_curve_is_constant():
    model = fit(X, RIGHT, ONES, SIGNS)
    far, near = np.array([[9.0, 0.5, 0.5]]), np.array([[X[:, 0].max(), 0.5, 0.5]])
    np.testing.assert_allclose(model.contributions(far), model.contributions(near), atol=1e-3)


def spread_weights(count):
    """Return weights so far apart that full steps of Newton's method do not end at the minimum."""
    return 10.0 ** np.random.default_rng(29).uniform(-3, 6, count)


@pytest.mark.parametrize(
    ("count", "weights"),
    [(400, np.ones(400)), (400, np.where(X[:400, 1] < 0.5, 0.2, 1)), (40, spread_weights(40))],
    ids=["equal", "unequal", "far apart"],
)
def test_the_fit_is_the_minimum_that_a_general_optimizer_finds(count, weights):
    x, right = X[:count, :1], RIGHT[:count]
    model = fit(x, right, weights, {"rising": 0})
    knots = np.array(model.curves["rising"].knots)

    def loss(free):
        log_odds = np.interp(x[:, 0], knots, np.concatenate([[0], np.cumsum(free[1:])])) + free[0]
        losses = weights * (np.logaddexp(0, log_odds) - right * log_odds)
        return losses.sum() + PENALTY / 2 * (free[1:] ** 2).sum()

    rises = np.diff(model.curves["rising"].log_odds)
    bias = model.bias + model.curves["rising"].log_odds[0]
    best = minimize(loss, np.zeros(len(knots)), method="L-BFGS-B", options={"ftol": 1e-14})
    assert loss(np.concatenate([[bias], rises])) == pytest.approx(best.fun, rel=1e-8)
    assert np.average(model.contributions(x)[:, 0], weights=weights) == pytest.approx(0, abs=1e-4)


def test_a_weight_counts_as_repeats():
    repeated = fit(np.concatenate([X, X]), np.concatenate([RIGHT, RIGHT]), np.ones(6_000), SIGNS)
    weighted = fit(X, RIGHT, 2 * ONES, SIGNS)
    assert np.abs(repeated.contributions(X) - weighted.contributions(X)).max() < 0.05  # other quantiles


def test_the_same_examples_give_the_same_model():
    assert fit(X, RIGHT, ONES, SIGNS) == fit(X, RIGHT, ONES, SIGNS)


def test_a_constant_feature_adds_nothing():
    constant = -1e-7
    model = fit(np.column_stack([X[:, 0], constant * ONES]), RIGHT, ONES, {"rising": 1, "constant": 0})
    assert np.abs(model.contributions(np.array([[0.5, constant]]))[0, 1]) < 1e-4
    assert str(model.curves["constant"].knots) == "(0.0, 1.0)"  # -0.0 would be another file


@pytest.mark.parametrize("right", [np.zeros(3_000, bool), np.ones(3_000, bool)], ids=["none", "all"])
def test_outcomes_that_are_all_alike_are_refused(right):
    with pytest.raises(QprError, match="nothing to learn from"):
        fit(X, right, ONES, SIGNS)


def test_its_products_run_in_one_thread_since_threads_that_wait_take_time_of_busy_cores(monkeypatch):
    threads = []
    solve = penalized_likelihood.cholesky

    def watched(matrix):
        threads.extend(library["num_threads"] for library in threadpool_info() if library["user_api"] == "blas")
        return solve(matrix)

    monkeypatch.setattr(penalized_likelihood, "cholesky", watched)
    with threadpool_limits(2, user_api="blas"):
        fit(X[:300], RIGHT[:300], ONES[:300], SIGNS)
    assert set(threads) == {1}
