"""Scores of judged requests."""

import datetime

import pytest

from jobs.workflows.certificates.scoring import score
from model.certificates.requests import Request
from model.search.results import Answer, Hit

NOON = datetime.datetime(2026, 11, 30, 12, tzinfo=datetime.UTC)


class Known:
    """Gives the same answer to all questions."""

    version = None

    def __init__(self, answer_id):
        self.hit = Hit(1, 5, "How do I pay?", "Open Payments.", answer_id, None, 3, probability=0.9)

    def answer_many(self, questions, *, filters=None):
        return [Answer(question, answered=False, reason="below", hit=self.hit) for question in questions]


@pytest.mark.parametrize(("answer_id", "verdict"), [("a 7", "right"), (" a 7\t", "right"), ("a 8", None), ("a7", None)])
def test_a_verdict_holds_for_an_answer_whose_id_has_outer_white_space(answer_id, verdict):
    request = Request(1, "pay", NOON, "right", probability=0.9, answer_id="a 7")
    [scored] = score("requests.csv", [request], Known(answer_id)).requests
    assert scored.verdict == verdict
