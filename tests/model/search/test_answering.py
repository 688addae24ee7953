import datetime
from types import SimpleNamespace

import pytest

from model.search.answering import decide, with_guard
from model.search.results import Hit, Why
from schemas.text import question_id

NOW = datetime.datetime(2026, 10, 1, tzinfo=datetime.UTC)


def hit(text="how do I pay", probability=0.9, guard=None, answer="online", answer_id="a1"):
    return Hit(1, question_id(text), text, answer, answer_id, None, None, probability, Why(guard=guard))


def permit(threshold=0.8, *, expired=False, alarm=False):
    content = SimpleNamespace(threshold=threshold, is_expired=lambda now: expired and now == NOW)
    return SimpleNamespace(digest="d" * 64, certificate=content, alarm=alarm)


@pytest.mark.parametrize(
    ("best", "certificate", "answered", "reason"),
    [
        (None, permit(), False, "no_hit"),
        (hit("Pay my bill?"), None, True, "exact"),
        (hit("Pay my bill?", 0.1, "numbers"), permit(expired=True), True, "exact"),
        (hit(), None, False, "no_certificate"),
        (hit(), permit(expired=True), False, "expired"),
        (hit(), permit(alarm=True), False, "alarm"),
        (hit("Pay my bill?"), permit(alarm=True), True, "exact"),
        (hit(guard="negation"), permit(), False, "guard:negation"),
        (hit(probability=0.79), permit(), False, "below_confidence"),
        (hit(probability=None), permit(0.0), False, "below_confidence"),
        (hit(probability=0.8), permit(), True, "certified"),
    ],
)
def test_a_question_is_answered_exactly_or_by_the_certificate(best, certificate, answered, reason):
    answer = decide("pay my bill", best, certificate, NOW, SimpleNamespace(has_answers=True))
    assert (answer.question, answer.answered, answer.reason, answer.hit) == ("pay my bill", answered, reason, best)
    assert answer.certificate == (certificate.digest if reason == "certified" else None)


@pytest.mark.parametrize("text", ["Pay my bill?", "how do I pay"])
def test_a_question_without_an_answer_answers_nothing_unless_the_index_has_none(text):
    best = hit(text, answer=None, answer_id=None)
    found = [decide("pay my bill", best, permit(), NOW, SimpleNamespace(has_answers=has)) for has in (True, False)]
    assert [(answer.answered, answer.hit) for answer in found] == [(False, best), (True, best)]
    assert found[0].reason == "no_answer"
    assert decide("pay my bill", hit(text, answer=None), permit(), NOW, SimpleNamespace(has_answers=True)).answered


def test_a_hit_names_the_guard_that_sees_another_question():
    assert with_guard("fly to Paris in 2019", hit("fly to Paris in 2018")).why.guard == "numbers"
    assert with_guard("how can I pay", hit("how do I pay")).why.guard is None
    assert with_guard("how can I pay", hit("how do I pay")) == hit("how do I pay")
