import pytest
from starlette.testclient import TestClient

from jobs.web.metrics import Metrics
from jobs.web.protection.gate import Gate
from jobs.web.review.app import LIMITS, create_review_app
from jobs.web.settings import Serving

ADDRESS = "http://127.0.0.1:9"


@pytest.fixture
def served(make_review):
    """Return a function that serves a review behind its gate and returns the review and a client."""
    opened = []

    def serve(queue=None, *, token=None, reviewer=""):
        review = make_review(queue)
        metrics = Metrics(waiting=lambda: 0, opened=lambda: 1)
        app = create_review_app(review, metrics, reviewer=reviewer)
        gate = Gate(app, settings=Serving(log="none", limits=LIMITS), metrics=metrics, token=token)
        client = TestClient(gate, base_url=ADDRESS, raise_server_exceptions=False, follow_redirects=False)
        opened.append(client.__enter__())
        return review, client

    yield serve
    for client in opened:
        client.__exit__(None, None, None)
