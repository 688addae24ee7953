import numpy as np
import pytest

from jobs.nightly.gate.decision import questions_moved, reason_to_refuse
from jobs.nightly.gate.evaluation import Comparison, Interval, interval
from jobs.nightly.gate.settings import GateSettings

KEPT = {"questions": 100, "questions_in_clusters": 80}


def refused(settings=None, **others):
    values = {"difference": None, "before": KEPT, "after": KEPT, "moved": 0} | others
    return reason_to_refuse(settings or GateSettings(), **values)


def test_a_night_like_the_one_before_passes():
    assert refused() is None
    assert refused(before=None) is None
    assert refused(difference=Interval(0.0, -0.01, 0.01)) is None


def test_an_interval_that_reaches_below_the_limit_is_refused():
    reason = refused(difference=Interval(-0.01, -0.03, 0.01))
    assert "changed by -0.0100 (95 % interval -0.0300 to +0.0100), which may be below -0.02" in reason
    assert refused(GateSettings(max_regression=0.05), difference=Interval(-0.01, -0.03, 0.01)) is None


def test_a_fall_of_the_kept_share_of_one_script_is_refused():
    thai = {"script_Thai_kept": 20, "script_Thai_rejected": 20}
    lost = {"script_Thai_kept": 5, "script_Thai_rejected": 35}
    assert "of all scripts in a cluster fell from 80.0% to 60.0%" in refused(after=KEPT | {"questions_in_clusters": 60})
    reason = refused(before=KEPT | thai, after=KEPT | lost)
    assert "of questions in the script Thai in a cluster fell from 50.0% to 12.5%" in reason


def test_questions_that_moved_into_train_are_refused():
    earlier = {"train": np.array([1]), "validation": np.array([2]), "test": np.array([3])}
    assert questions_moved({"train": np.array([1, 3])}, earlier) == 1
    assert questions_moved({"train": np.array([1, 9])}, earlier) == 0
    assert refused(moved=1) == "in train, though held out by an earlier version: 1 question"


def test_the_interval_draws_clusters_and_is_seeded():
    draw = np.random.default_rng(0)
    clusters = np.repeat(np.arange(100), 4)
    before = draw.uniform(size=400)
    effect = np.repeat(draw.normal(0.05, 0.1, 100), 4)
    found = interval(Comparison(before, before + effect, clusters))
    assert found == interval(Comparison(before, before + effect, clusters))
    assert found.mean == pytest.approx(effect.mean())
    exact = 1.96 * effect[::4].std(ddof=1) / 10
    assert found.high - found.low == pytest.approx(2 * exact, rel=0.15)
    same = interval(Comparison(before, before, clusters))
    assert (same.low, same.mean, same.high) == (0, 0, 0)


def test_the_interval_holds_the_true_difference_in_most_draws():
    draw, inside = np.random.default_rng(1), 0
    for _ in range(100):
        effect = np.repeat(draw.normal(0.02, 0.1, 60), 3)
        found = interval(Comparison(np.zeros(180), effect, np.repeat(np.arange(60), 3)))
        inside += found.low <= 0.02 <= found.high
    assert 88 <= inside <= 100
