"""Scores of judged requests."""

import dataclasses
import datetime
from contextlib import nullcontext

import pytest

from jobs.workflows.certificates.scoring import score
from model.certificates.requests import Request
from model.search.results import Answer, Hit, Why
from schemas.errors import QprError

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


HIT = Known("a 7").hit


class Listed:
    """Gives each question the answer of a table by the question and its values."""

    version = None

    def __init__(self, answers):
        self._answers = answers

    def answer_many(self, questions, *, filters=None):
        return [self._answers[question, (filters or {}).get("tenant")] for question in questions]


def answer(reason="below", hit=HIT, **changes):
    return Answer("?", answered=False, reason=reason, hit=hit and dataclasses.replace(hit, **changes))


def asked(question, **fields):
    return Request(1, question, NOON, "right", **fields)


def test_requests_have_the_probabilities_of_their_answers_and_those_in_the_index_are_left_out():
    answers = {
        ("exact", None): answer("exact", probability=1.0),
        ("none", None): answer("none", None),
        ("guarded", None): answer(why=Why(guard="numbers")),
        ("the time", None): answer("no_answer", probability=0.9),
        ("pay", "acme"): answer(probability=0.4),
        ("pay", "globex"): answer(probability=0.6),
    }
    requests = [asked(question, filters=(("tenant", tenant),) if tenant else ()) for question, tenant in answers]
    scored = score("requests.csv", requests, Listed(answers))
    assert (scored.scores.tolist(), scored.exact) == ([-1, -1, -1, 0.4, 0.6], 1)
    assert scored.requests == requests[1:]


@pytest.mark.parametrize(
    ("probability", "answer_id", "reason", "guard", "is_refused"),
    [
        (0.8, None, "below", None, True),
        (0.8995, None, "below", None, False),
        (0.8, None, "below", "numbers", False),
        (0.8, None, "no_answer", None, False),
        (0.8, "a 7", "below", None, False),
        (None, None, "below", None, False),
    ],
)
def test_verdicts_on_answers_without_a_name_need_the_same_probability(
    probability, answer_id, reason, guard, is_refused
):
    given = Listed({("pay", None): answer(reason, why=Why(guard=guard))})
    requests = [asked("pay", probability=probability, answer_id=answer_id)]
    with pytest.raises(QprError, match=r"1 request, .* row 1, with another") if is_refused else nullcontext():
        assert score("requests.csv", requests, given).requests == requests


def test_an_index_without_probabilities_is_refused():
    with pytest.raises(QprError, match="has no confidence model"):
        score("requests.csv", [asked("pay")], Listed({("pay", None): answer(probability=None)}))
