import numpy as np
import pytest

from benchmarks.certificates.monitor import METHODS, alarms, from_any_night_on
from schemas.statistics.later_excess import later_excess_evidence


@pytest.fixture
def raised():
    def of(name, *, good=0, share=0.06, nights=30):
        given = {"good": good, "nights": nights, "share": share, "alpha": 0.02, "audits": 20, "runs": 60, "seed": 0}
        return alarms(METHODS[name], **given)

    return of


def test_evidence_that_goes_on_sees_what_single_nights_miss_and_a_late_change(raised):
    assert raised("each night alone")[1] < 0.8
    assert raised("from any night on")[1] > 0.9
    assert raised("all nights as one", good=60)[1] < 0.1
    assert raised("from any night on", good=60)[1] > 0.6


def test_a_kept_promise_raises_an_alarm_over_all_nights_as_rarely_as_allowed(raised):
    assert raised("from any night on", share=0.02)[1] <= 0.02


def test_the_evidence_is_that_of_the_monitor():
    wrong = np.random.default_rng(0).random((4, 5)) < 0.3
    counted = [[*wrong[:night].sum(1), wrong[night, :n].sum()] for night in range(4) for n in range(1, 6)]
    audits = [[5] * night + [n] for night in range(4) for n in range(1, 6)]
    evidence = [float(later_excess_evidence(*of, 0.1)) for of in zip(counted, audits, strict=True)]
    assert from_any_night_on(wrong, 0.1) == pytest.approx(np.reshape(evidence, (4, 5)).max(1))
