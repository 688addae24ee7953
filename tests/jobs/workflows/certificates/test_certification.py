"""Certificates of scored requests, and the reasons for none."""

import datetime
import math

import numpy as np
import pytest

from jobs.workflows.certificates.certification import _table, certificate_of, certified
from jobs.workflows.certificates.scoring import Scored
from model.certificates.procedure import divide
from model.certificates.requests import Request, labelled_digest
from model.certificates.settings import Certification
from schemas.errors import QprError
from schemas.statistics.binomial import upper_bound
from tests.support.certificates import NOW, VERSION, certificate

DAY = datetime.timedelta(days=1)
SETTINGS = Certification(alpha=0.05, delta=0.1, days=3)
EXACT = Request(301, "in the index", NOW + DAY, "right", "Zoe")
"""The last request, which has no score."""


def requests(count=300, *, wrong=lambda row: row % 100 == 50):
    """Return requests of which the first has the largest score."""
    return [
        Request(row, f"question {row}", NOW - (row % 5) * DAY, "wrong" if wrong(row) else "right", "EDCBA"[row % 5])
        for row in range(count)
    ]


def scores(count=300):
    return 1 - np.arange(count) / 1_000


def made(some, settings=SETTINGS, *, scored=None):
    found = Scored(some, scores(len(some)) if scored is None else scored, 7)
    return certificate_of("file", [*some, EXACT], found, VERSION, settings, now=NOW)


def test_a_certificate_has_the_counts_of_its_requests():
    some = requests()
    found = made(some)
    in_order = divide([request.name for request in some])
    answered = (scores() >= found.threshold) & ~in_order
    wrong = np.array([request.verdict == "wrong" for request in some])
    assert (found.order, found.tested, found.requests, found.exact) == (90, 210, 300, 7)
    assert (found.answered, found.wrong) == (answered.sum(), (answered & wrong).sum())
    assert found.coverage == found.answered / 210
    assert found.upper_bound == upper_bound(found.wrong, found.answered, 0.1) <= 0.05
    assert (found.first_day, found.last_day) == ((NOW - 4 * DAY).date(), (NOW + DAY).date())
    assert found.expires == datetime.datetime(2026, 10, 6, tzinfo=datetime.UTC)  # three days after that of the last
    assert (found.labellers, found.labelled_digest) == ([*"ABCDE"], labelled_digest(some))
    assert (found.created, found.by_value) == (NOW, None)
    with pytest.raises(QprError, match=r"not opened from a folder\. Open it by its URL"):
        certificate_of("file", some, Scored(some, scores(), 7), None, SETTINGS, now=NOW)


def test_a_request_without_a_verdict_or_an_undecided_one_counts_as_wrong():
    plain = made(requests())
    for verdict in (None, "unclear"):
        some = [r._replace(verdict=verdict) if r.verdict == "wrong" else r for r in requests()]
        assert made(some).wrong == plain.wrong


def fault_of(*given, **named):
    with pytest.raises(QprError) as refused:
        made(*given, **named)
    return str(refused.value)


def test_the_reason_for_no_certificate_has_the_numbers_that_decided_it():
    few = fault_of(requests(100))
    assert few.startswith("file: 100 judged requests do not show at most 5 % wrong with confidence 90 %: ")
    assert (
        "30 of them choose the threshold, and 30 of these have a probability; at least 45 are needed. About 50 further"
        in few
    )
    assert "--delta" not in few
    in_order = divide([request.name for request in requests(100)])
    lowest = float(scores(100)[in_order][14])
    above = int((scores(100) >= lowest).sum())
    fewer = fault_of(requests(100), SETTINGS.model_copy(update={"min_probability": lowest}))
    assert f"and 15 of these have a probability of at least {lowest}; at least 45 are needed. " in fewer
    assert f"About {math.ceil(150 * 100 / above) - 100} further requests" in fewer
    bad = fault_of(requests(wrong=lambda row: row % 24 == 5))
    assert "wrong answers. " in bad
    assert "--delta 0.05: at the same --delta it could succeed by chance. " in bad


def test_of_the_requests_below_the_minimum_probability_none_needs_a_verdict():
    some = [r if r.row < 250 else r._replace(verdict=None, labeller=None) for r in requests()]
    searcher = type("Searcher", (), {"version": VERSION})()
    lowest = SETTINGS.model_copy(update={"min_probability": float(scores()[249])})

    def scored(*_):
        return Scored(some, scores(), 0)

    with pytest.MonkeyPatch.context() as patched:
        patched.setattr("jobs.workflows.certificates.certification.score", scored)
        assert certified("file", some, searcher, lowest, now=NOW).threshold >= lowest.min_probability
        some[249] = some[249]._replace(verdict=None, labeller=None)
        with pytest.raises(QprError, match="1 request, row 249: without a verdict"):
            certified("file", some, searcher, lowest, now=NOW)


def test_the_table_of_a_certificate_has_its_figures():
    shown = certificate().model_copy(update={"alpha": 0.0225, "delta": 0.0015})
    names, figures = (list(column.cells) for column in _table("url", shown).columns)
    assert dict(zip(names, figures, strict=True)) == {
        "promise": "at most 2.25 % wrong with confidence 99.85 %",
        "minimum probability": "0.8000",
        "requests answered": "800 of 1,400 (57.1 %)",
        "wrong among them": "7",
        "upper bound": "1.6 %",
        "in the index word for word": "31",
        "asked": "2026-10-01 to 2026-10-01",
        "labellers": "Ada, Bob",
        "expires": "2026-10-31",
    }
