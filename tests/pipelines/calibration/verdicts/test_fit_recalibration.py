import numpy as np
import pytest

from pipelines.calibration.verdicts.fit_recalibration import fit_recalibration
from pipelines.clusters.recalibration import logit, recalibrate
from pipelines.clusters.settings import Recalibration


def scale(line):
    return Recalibration(calibration="", intercept=line[0], slope=line[1])


def test_without_verdicts_a_probability_stays():
    line = fit_recalibration(np.zeros(0), np.zeros(0, bool))
    assert line == pytest.approx((0, 1))
    probability = np.array([0.01, 0.3, 0.9, 0.99])
    assert recalibrate(probability, scale(line)) == pytest.approx(probability)


def test_many_verdicts_decide():
    rng = np.random.default_rng(0)
    stated = rng.uniform(0.5, 0.999, 20_000)
    true = 1 / (1 + np.exp(-(-1.5 + 0.6 * logit(stated))))
    intercept, slope = fit_recalibration(stated, rng.random(len(stated)) < true)
    assert intercept == pytest.approx(-1.5, abs=0.1)
    assert slope == pytest.approx(0.6, abs=0.05)


def test_a_hundred_verdicts_lower_the_error_of_a_probability_that_is_too_high():
    rng = np.random.default_rng(1)
    stated = rng.uniform(0.8, 0.9999, 108)
    true = 0.4 + 0.4 * (stated - 0.8) / 0.2
    after = recalibrate(stated, scale(fit_recalibration(stated, rng.random(108) < true)))
    assert np.abs(after - true).mean() < 0.1 < 0.25 < np.abs(stated - true).mean()


@pytest.mark.parametrize("right", [np.zeros(50, bool), np.ones(50, bool), np.arange(50) < 25])
def test_the_order_of_clusters_stays_even_where_verdicts_contradict_it(right):
    stated = np.linspace(0.5, 0.99, 50)
    after = recalibrate(stated, scale(fit_recalibration(stated, right)))
    assert (np.diff(after) > 0).all()
    assert ((after > 0) & (after < 1)).all()


def test_a_steep_line_gives_probabilities_without_a_warning():
    after = recalibrate(np.array([0.001, 0.5, 0.999]), scale((0, 400)))
    assert (after > 0).all()
    assert after[1] == 0.5


def test_certain_probabilities_stay_finite():
    line = fit_recalibration(np.array([0.0, 1.0, 1.0]), np.array([False, True, False]))
    assert np.isfinite(recalibrate(np.array([0.0, 1.0]), scale(line))).all()
