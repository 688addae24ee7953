import pytest

from model.search.results import Answer, Hit

pytest.importorskip("langchain_core", reason="needs langchain-core")

from langchain_core.language_models import FakeListChatModel, FakeListLLM
from langchain_core.messages import AIMessage, HumanMessage, SystemMessage

from model.index.rows.row_filters import UnknownValueError
from qpr.adapters.langchain_cache import AnswerCache
from qpr.adapters.redisvl_check import AnswerCheck
from schemas.errors import UsageError

BILL = Hit(1, 5, "How do I pay my bill?", "Open Payments.", None, None, 3)


class Known:
    """Answers one question; all others are abstentions."""

    def __init__(self, hit=BILL):
        self.hit, self.asked = hit, []

    def answer(self, question, *, filters=None):
        self.filters = filters
        self.asked.append(question)
        answered = question == "pay my bill"
        return Answer(question, answered=answered, reason="exact" if answered else "no_hit", hit=self.hit)


def test_a_known_question_does_not_reach_the_model():
    model = FakeListLLM(responses=["from the model"] * 3, cache=AnswerCache(Known()))
    assert model.invoke("pay my bill") == "Open Payments."
    assert model.invoke("something else") == "from the model"
    assert model.invoke("something else") == "from the model"  # it was not remembered


def test_filters_are_those_of_all_questions():
    searcher = Known()
    assert AnswerCache(searcher, {"tenant": "acme"}).lookup("pay my bill", "")
    assert searcher.filters == {"tenant": "acme"}


def test_a_chat_with_several_messages_of_a_person_reaches_the_model():
    searcher = Known()
    model = FakeListChatModel(responses=["from the model"] * 9, cache=AnswerCache(searcher))
    asked = HumanMessage("pay my bill")
    assert model.invoke([asked]).content == "Open Payments."
    assert model.invoke([SystemMessage("Be kind."), asked]).content == "Open Payments."
    assert searcher.asked == ["pay my bill"] * 2
    for messages in (
        [HumanMessage("hello"), AIMessage("hi"), asked],
        [SystemMessage("pay my bill")],
    ):
        assert model.invoke(messages).content == "from the model"
    assert searcher.asked == ["pay my bill"] * 2


def test_parts_of_a_message_are_joined_if_all_are_text():
    searcher = Known()
    model = FakeListChatModel(responses=["from the model"] * 9, cache=AnswerCache(searcher))
    text, image = {"type": "text", "text": "pay my"}, {"type": "image_url", "image_url": {"url": "https://a/b.png"}}
    for parts in ([text, "bill"], [text, {**text, "text": "bill", "cache_control": {"type": "ephemeral"}}]):
        assert model.invoke([HumanMessage(parts)]).content == "Open Payments."
    assert searcher.asked == ["pay my bill"] * 2
    for parts in ([{**text, "text": "pay my bill"}, image], [image], [], [{"type": "text"}]):
        assert model.invoke([HumanMessage(parts)]).content == "from the model"
    assert searcher.asked == ["pay my bill"] * 2


@pytest.mark.parametrize("adapter", [AnswerCache, AnswerCheck])
def test_the_url_of_an_index_is_no_searcher(adapter):
    with pytest.raises(UsageError, match=r"an adapter takes a Searcher, got str\. Write open_searcher\(url\)"):
        adapter("index")


@pytest.mark.parametrize("prompt", [5, b"pay my bill", ["pay my bill"]])
def test_a_prompt_that_is_no_text_is_an_error(prompt):
    for ask in (lambda: AnswerCache(Known()).lookup(prompt, ""), lambda: AnswerCheck(Known()).check(prompt)):
        with pytest.raises(UsageError, match="str"):
            ask()


@pytest.mark.parametrize(
    "prompt",
    [
        "[1, 2]",
        '{"a": 1}',
        "",
        "null",
        "[]",
        '[{"kwargs": 1}]',
        '[{"kwargs": null}]',
        '[{"kwargs": {}}]',
        "[" * 100_000,
    ],
)
def test_a_prompt_that_is_json_but_no_chat_is_a_question_or_nothing(prompt):
    assert AnswerCache(Known()).lookup(prompt, "") is None


@pytest.mark.parametrize("prompt", ["pay\ud800", '[{"kwargs": {"type": "human", "content": "pay\\ud800"}}]'])
def test_a_prompt_with_half_a_character_reaches_the_model(prompt):
    searcher = Known()
    assert AnswerCache(searcher).lookup(prompt, "") is None
    assert searcher.asked == []


def test_a_question_without_an_answer_in_the_index_reaches_the_model():
    hit = Hit(1, 5, "pay my bill", None, None, None, 3)
    assert AnswerCache(Known(hit)).lookup("pay my bill", "") is None


def test_a_tenant_without_questions_reaches_the_model():
    class OfAcme(Known):
        def answer(self, question, *, filters=None):
            if filters != {"tenant": "acme"}:
                raise UnknownValueError("filters: no question has the tenant 'new'")
            return super().answer(question, filters=filters)

    searcher = OfAcme()
    assert AnswerCache(searcher, {"tenant": "acme"}).lookup("pay my bill", "")
    assert AnswerCache(searcher, {"tenant": "new"}).lookup("pay my bill", "") is None
    assert AnswerCheck(searcher, {"tenant": "new"}).check("pay my bill") == []


def test_filters_that_do_not_fit_the_index_are_an_error():
    class Varied(Known):
        def answer(self, question, *, filters=None):
            raise UsageError("filters: tenant is missing")

    for ask in (lambda: AnswerCache(Varied()).lookup("a", ""), lambda: AnswerCheck(Varied()).check("a")):
        with pytest.raises(UsageError, match="tenant is missing"):
            ask()
