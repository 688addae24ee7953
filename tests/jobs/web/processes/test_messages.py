"""Messages between a server and its search processes: what arrives is what was sent."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from jobs.web.processes.messages import (
    Frames,
    SearchProcessError,
    call_message,
    call_of,
    framed,
    outcomes_message,
    outcomes_of,
)
from jobs.web.versions.calls import Call, Listed, Listing
from model.index.rows.row_filters import UnknownValueError
from model.search.results import Answer, Hit, Why
from schemas.errors import FilterError, QprError, UsageError

INTEGERS = st.integers(-(2**63), 2**63 - 1)
TEXTS = st.text(st.characters(exclude_categories=["Cs"]))
SHARES = st.none() | st.floats(0, 1)
WHYS = st.builds(
    Why,
    st.lists(TEXTS).map(tuple),
    st.none() | st.integers(1, 100),
    st.none() | st.integers(1, 100),
    st.dictionaries(TEXTS, st.floats(allow_nan=False, allow_infinity=False)),
    st.none() | TEXTS,
)
HITS = st.builds(
    Hit,
    st.integers(1, 100),
    INTEGERS,
    TEXTS,
    st.none() | TEXTS,
    st.none() | TEXTS,
    st.none() | INTEGERS,
    st.none() | INTEGERS,
    SHARES,
    WHYS,
)
ANSWERS = st.builds(
    Answer, TEXTS, st.booleans(), TEXTS, st.none() | HITS, st.none() | TEXTS, st.lists(HITS, max_size=3).map(tuple)
)
PAST = Listing(3, frozenset({"pay"}), past=True)


def sent(message):
    """Return a message after its way through a connection."""
    [arrived] = Frames().feed(framed(message))
    return arrived


@given(st.lists(st.dictionaries(TEXTS, TEXTS), max_size=4), st.integers(1, 9))
def test_messages_arrive_in_order_however_their_bytes_are_cut(messages, size):
    data, frames = b"".join(map(framed, messages)), Frames()
    arrived = [message for start in range(0, len(data), size) for message in frames.feed(data[start : start + size])]
    assert arrived == messages


@pytest.mark.parametrize(
    "call",
    [
        Call("version", "answer", 0, None, (), None),
        Call("version", "search", 10, "dense", (("locale", "de"), ("tenant", "a")), PAST),
        Call("version", "search", 10, None, (), PAST._replace(past=False)),
    ],
)
def test_a_call_arrives_with_the_blocked_answers_that_the_process_was_sent(call):
    message = sent(call_message(call, [["a", "b"], ["c"]]))
    assert call_of(message, "version", frozenset({"pay"})) == call
    assert message["parts"] == [["a", "b"], ["c"]]


def received(call, found):
    """Return outcomes as they arrive, for requests with as many questions."""
    parts = [[""] * (1 if isinstance(outcome, Exception) else len(outcome)) for outcome in found]
    return outcomes_of(call, sent(outcomes_message(call, found)), parts)


@given(st.lists(st.lists(ANSWERS, max_size=3), max_size=3))
def test_answers_arrive_with_all_that_they_had(found):
    call = Call("version", "answer", 0, None, (), None)
    assert received(call, found) == found


@given(st.lists(st.lists(st.lists(HITS, max_size=3), max_size=3), max_size=3))
def test_hits_arrive_with_all_that_they_had(found):
    call = Call("version", "search", 1, None, (), None)
    assert received(call, found) == found


def test_documents_of_hits_arrive_with_whether_others_were_left_out():
    found = [[Listed([{"rank": 1, "text": "a"}], True), Listed([], False)]]
    call = Call("version", "search", 1, None, (), PAST)
    arrived = received(call, found)
    assert arrived == found
    assert [listed.lacks for listed in arrived[0]] == [True, False]


@pytest.mark.parametrize(
    "error",
    [UnknownValueError("tenant: no question has x"), FilterError("name a value"), UsageError("no"), QprError("gone")],
    ids=lambda error: type(error).__name__,
)
def test_errors_that_clients_are_explained_arrive_as_what_they_were(error):
    call = Call("version", "answer", 0, None, (), None)
    [[], arrived] = received(call, [[], error])
    assert type(arrived) is type(error)
    assert str(arrived) == str(error)


def test_a_defect_arrives_without_its_text_which_can_have_a_question():
    call = Call("version", "answer", 0, None, (), None)
    [arrived] = received(call, [RuntimeError("secret question")])
    assert type(arrived) is SearchProcessError
    assert str(arrived) == "RuntimeError in a process that searches, which has printed the cause"
