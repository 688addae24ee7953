import numpy as np
import pydantic
import pytest

from model.confidence.additive_model import AdditiveModel, Curve


def test_a_curve_is_linear_between_its_knots_and_constant_outside():
    model = AdditiveModel(bias=0.5, curves={"one": Curve(knots=(0, 1, 3), log_odds=(-1, 1, 0))})
    added = model.contributions(np.array([[-9.0], [0.5], [2.0], [9.0]]))
    assert added[:, 0].tolist() == [-1, 0, 0.5, 0]
    assert model.probability(added)[1] == pytest.approx(1 / (1 + np.exp(-0.5)))


def test_extreme_log_odds_are_a_probability():
    model = AdditiveModel(bias=0, curves={"one": Curve(knots=(0, 1), log_odds=(-1e6, 1e6))})
    assert 0 < model.probability(np.array([[-1e6]]))[0] < 1e-9


@pytest.mark.parametrize(
    "curve",
    [
        {"knots": [0, 1], "log_odds": [0]},
        {"knots": [1, 1], "log_odds": [0, 0]},
        {"knots": [0, float("nan")], "log_odds": [0, 0]},
        {"knots": [0], "log_odds": [0]},
        {"knots": [0, 1], "log_odds": [0, float("inf")]},
    ],
    ids=["lengths", "order", "nan", "one", "infinite"],
)
def test_a_damaged_curve_is_refused(curve):
    with pytest.raises(pydantic.ValidationError):
        AdditiveModel(bias=0, curves={"rising": Curve(**curve)})
