"""The process that serves the review page until it is stopped.

Review, Page -> serve_review -> requests, until SIGTERM
"""

from __future__ import annotations

from jobs.review.session import Review
from jobs.review.settings import Page
from jobs.web.listening import Server, address_of, listening
from jobs.web.metrics import Metrics
from jobs.web.protection.gate import Gate
from jobs.web.protection.tokens import checked_token, is_local
from jobs.web.review.app import LIMITS, create_review_app
from jobs.web.settings import Serving

_DRAIN_S = 10.0
"""Seconds that running requests get after a signal; a second signal ends them at once."""


def serve_review(review: Review, reviewer: str, settings: Page) -> None:
    """Serve a review until SIGTERM or SIGINT.

    Args:
        review: the queue and its verdicts.
        reviewer: name that stands in the page of this machine at first.
        settings: address and token.

    Raises:
        QprError: the address is in use, or the token file is no good.
        UsageError: other machines could connect without a token.
    """
    token = checked_token(settings.host, settings.token_file)
    serving = Serving(host=settings.host, port=settings.port, token_file=settings.token_file, log="none", limits=LIMITS)
    metrics = Metrics(waiting=lambda: 0, opened=lambda: 1)
    with listening(settings.host, settings.port) as listener:
        review.queue.item(0)  # the first read takes longest
        app = create_review_app(review, metrics, reviewer=reviewer if token is None else "")
        gate = Gate(app, settings=serving, metrics=metrics, token=token, local=is_local(settings.host))
        Server(gate, f"review at {address_of(listener)}/review, Ctrl-C ends", drain=_DRAIN_S).run([listener])
