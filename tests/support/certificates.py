"""A certificate as `qpr certify` writes it, without the requests that it took."""

from __future__ import annotations

import datetime
from pathlib import Path
from typing import Any

from model.certificates.certificate import Certificate, write_certificate
from model.certificates.procedure import ThresholdTest
from model.certificates.version import RULES, Version
from schemas.artifacts.writer import Output
from schemas.statistics.binomial import lower_tail, upper_bound

NOW = datetime.datetime(2026, 10, 1, 12, tzinfo=datetime.UTC)
VERSION = Version(
    index="1" * 64, confidence="2" * 64, mode="dense", reranker=None, guards=("numbers",), probes=8, k=10, release=RULES
)


def threshold_test(threshold: float, answered: int, wrong: int) -> ThresholdTest:
    return ThresholdTest(threshold, answered, wrong, float(lower_tail(wrong, answered, 0.02)))


def certificate(**fields: Any) -> Certificate:
    given: dict[str, Any] = {
        "version": VERSION,
        "version_digest": VERSION.digest,
        "alpha": 0.02,
        "delta": 0.05,
        "threshold": 0.8,
        "answered": 800,
        "wrong": 7,
        "upper_bound": upper_bound(7, 800, 0.05),
        "coverage": 800 / 1_400,
        "requests": 2_000,
        "exact": 31,
        "order": 600,
        "tested": 1_400,
        "tests": [threshold_test(0.9, 400, 2), threshold_test(0.8, 800, 7), threshold_test(0.7, 900, 20)],
        "first_day": NOW.date(),
        "last_day": NOW.date(),
        "labellers": ["Ada", "Bob"],
        "labelled_digest": "3" * 64,
        "created": NOW,
        "expires": NOW + datetime.timedelta(days=30),
    }
    return Certificate(**(given | fields))


def stored_certificate(url: str | Path, **fields: Any) -> str:
    """Write a certificate and return its digest."""
    return write_certificate(Output(str(url), "certificate", overwrite=True), certificate(**fields), inputs=[]).digest
