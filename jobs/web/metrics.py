"""Metrics of the server in the format of Prometheus.

requests, batches, versions -> Metrics -> GET /metrics
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Literal, get_args

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram, Info, ProcessCollector, generate_latest

from model.search.results import Reason

_SECONDS = (0.0005, 0.001, 0.002, 0.003, 0.005, 0.0075, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1.0, 2.0, 5.0, 10.0)
"""Upper ends of the classes of a request's seconds. The alert `QprSlow` compares with .1, so that is one of them."""

TYPE = "text/plain; version=0.0.4; charset=utf-8"

Cause = Literal[
    "address",
    "body",
    "certificate",
    "concurrency",
    "connections",
    "content_encoding",
    "content_type",
    "defect",
    "disconnected",
    "ending",
    "files",
    "full",
    "head",
    "host",
    "http",
    "invalid",
    "judged",
    "no_state",
    "not_found",
    "origin",
    "rate",
    "reload",
    "stalled",
    "timeout",
    "token",
]
"""Causes of refusals."""

_OUTCOMES = {"search": ("hits", "no_hit"), "answer": (*get_args(Reason), "blocked")}
"""Outcomes of questions by endpoint."""


class Metrics:
    """The metrics of one server.

    Args:
        waiting: returns the number of jobs in the queue.
        opened: returns the number of versions in memory.
        blocked: returns the number of blocked answers.
        processes: returns the number of processes that search.
    """

    def __init__(
        self,
        *,
        waiting: Callable[[], int],
        opened: Callable[[], int],
        blocked: Callable[[], int] = int,
        processes: Callable[[], int] = int,
    ) -> None:
        self.registry = kept = CollectorRegistry()
        ProcessCollector(registry=self.registry)
        self.seconds = Histogram(
            "qpr_request_seconds", "Time from request to response.", ["endpoint"], buckets=_SECONDS, registry=kept
        )
        self.requests = Counter("qpr_requests", "Requests.", ["endpoint", "status"], registry=kept)
        self.rejects = Counter("qpr_rejects", "Requests refused by a limit or for a fault.", ["cause"], registry=kept)
        self.in_flight = Gauge("qpr_in_flight", "Requests being processed.", registry=kept)
        self.questions = Counter(
            "qpr_questions", "Questions searched or answered.", ["endpoint", "outcome"], registry=kept
        )
        self.batches = Histogram(
            "qpr_batch_questions", "Questions searched together.", buckets=(1, 2, 4, 8, 16, 32, 64), registry=kept
        )
        self.swaps = Counter("qpr_swaps", "Attempts to open a new version.", ["result"], registry=kept)
        self._show_zeros()
        Gauge("qpr_blocked_answers", "Blocked answers.", registry=kept).set_function(blocked)
        self.version = Info("qpr_index", "Version of the index that answers.", registry=kept)
        self.size = Gauge("qpr_index_questions", "Questions of the index that answers.", registry=kept)
        self.published = Gauge("qpr_index_published", "Unix time at which that version was published.", registry=kept)
        self.bound = Gauge("qpr_certified_bound", "Certified maximum share of wrong answers.", registry=kept)
        self.expires = Gauge("qpr_certificate_expires", "Unix time at which the certificate expires.", registry=kept)
        self.drawn = Counter("qpr_audits_drawn", "Certified answers drawn to be judged.", registry=kept)
        self.audited = Gauge("qpr_audited_answers", "Verdicts on answers of the certificate.", registry=kept)
        self.audited_wrong = Gauge("qpr_audited_wrong", "Wrong answers among them.", registry=kept)
        self.evidence = Gauge("qpr_alarm_evidence", "Evidence against the promise; 100 is an alarm.", registry=kept)
        self.alarm = Gauge("qpr_alarm", "1: only questions of the index are answered.", registry=kept)
        Gauge("qpr_search_processes", "Processes that search.", registry=kept).set_function(processes)
        Gauge("qpr_waiting", "Requests that wait for a thread.", registry=kept).set_function(waiting)
        Gauge("qpr_open_versions", "Versions of the index in memory.", registry=kept).set_function(opened)

    def _show_zeros(self) -> None:
        """Show each counter with a fixed set of labels at 0: an alert on growth misses one that begins at 1."""
        for result in ("swapped", "refused"):
            self.swaps.labels(result)
        for cause in get_args(Cause):
            self.rejects.labels(cause)
        for endpoint, outcomes in _OUTCOMES.items():
            for outcome in outcomes:
                self.questions.labels(endpoint, outcome)

    def text(self) -> bytes:
        """Return all metrics as text."""
        return generate_latest(self.registry)
