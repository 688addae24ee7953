import asyncio
import inspect
import threading

import pytest

from model.search.results import Answer, Hit
from qpr.adapters.redisvl_check import AnswerCheck
from schemas.errors import UsageError

BILL = Hit(1, 5, "How do I pay my bill?", "Open Payments.", None, None, 3, probability=0.97)


class Known:
    """Answers one question; all others are abstentions."""

    def answer(self, question, *, filters=None):
        question.encode()
        self.filters = filters
        answered = question == "pay my bill"
        return Answer(question, answered=answered, reason="exact" if answered else "no_certificate", hit=BILL)


def test_a_known_answer_is_one_entry_and_an_abstention_none():
    cache = AnswerCheck(Known())
    assert cache.check("pay my bill", num_results=3) == [
        {
            "entry_id": "5",
            "prompt": "How do I pay my bill?",
            "response": "Open Payments.",
            "metadata": {"reason": "exact", "probability": 0.97},
        }
    ]
    assert cache.check(prompt="pay my bills") == []
    assert cache.check("pay my bill", return_fields=["response", "unknown"]) == [{"response": "Open Payments."}]


async def test_it_can_be_awaited_while_other_coroutines_run():
    class Waiting(Known):
        def answer(self, question, *, filters=None):
            assert goes_on.wait(10)
            return super().answer(question, filters=filters)

    async def go_on():
        goes_on.set()

    goes_on = threading.Event()
    asked = AnswerCheck(Waiting()).acheck("pay my bill", return_fields=["response"])
    assert (await asyncio.gather(asked, go_on()))[0] == [{"response": "Open Payments."}]
    with pytest.raises(UsageError, match="a prompt has to be a str, got NoneType"):
        await AnswerCheck(Known()).acheck()


def test_a_prompt_with_half_a_character_has_no_entry():
    assert AnswerCheck(Known()).check("pay\ud800") == []


@pytest.mark.parametrize(("prompt", "is_asked"), [("a" * 2000, True), ("a" * 2001, False), ("\ufdfa" * 112, False)])
def test_a_prompt_that_is_too_long_for_a_question_is_not_searched(prompt, is_asked):
    known = Known()
    assert AnswerCheck(known).check(prompt) == []
    assert hasattr(known, "filters") == is_asked


def test_filters_are_those_of_all_questions():
    known = Known()
    assert AnswerCheck(known, {"tenant": "acme"}).check("pay my bill")
    assert known.filters == {"tenant": "acme"}


@pytest.mark.parametrize(
    "given",
    [
        {},
        {"vector": [0.1]},
        {"prompt": "a", "distance_threshold": 0.0},
        {"prompt": "a", "filter_expression": "x"},
        {"prompt": "a", "num_results": 0},
        {"prompt": "a", "num_results": "1"},
        {"prompt": "a", "return_fields": "response"},
        {"prompt": "a", "return_fields": 5},
    ],
)
def test_what_a_certificate_cannot_decide_is_refused(given):
    with pytest.raises(UsageError):
        AnswerCheck(Known()).check(**given)


def test_it_is_called_like_the_original_and_its_entries_have_the_same_fields():
    llm = pytest.importorskip("redisvl.extensions.cache.llm", reason="needs redisvl")
    schema = pytest.importorskip("redisvl.extensions.cache.llm.schema", reason="needs redisvl")
    for name in ("check", "acheck"):
        original, ours = getattr(llm.SemanticCache, name), getattr(AnswerCheck, name)
        assert list(inspect.signature(ours).parameters) == list(inspect.signature(original).parameters)
        assert inspect.iscoroutinefunction(ours) == inspect.iscoroutinefunction(original)
    [entry] = AnswerCheck(Known()).check("pay my bill")
    assert set(entry) <= set(schema.CacheHit.model_fields)
    schema.CacheHit(**entry, vector_distance=0.0, inserted_at=0.0, updated_at=0.0)
