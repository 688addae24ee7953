"""The type of answer that a text asks for, and the thing of which it asks.

Reading -> "how long do elephants live" -> Kind(duration, lifespan), things (elephants)

A text has a type if its one question word stands at the start, behind a greeting, at the start of a clause, or behind a
request ("can you tell me when …"), or if it is keywords with one listed noun at either end ("opening hours town hall").
A text with two question words, and a question whose type is in no list, has none.
"""

from __future__ import annotations

import re
from typing import Final

from model.guards.answer_types.amounts import ask_by_how
from model.guards.answer_types.kinds import Kind, ask_by_keywords, ask_by_what
from model.guards.answer_types.vocabulary import asking_list
from model.guards.lists import first_forms, listed
from model.guards.reading import Reading, stem

_PREPOSITIONS: Final = listed("prepositions")
_QUESTION_WORDS: Final = asking_list("question_words")
_CONTRACTED: Final = {"whats": "what", "whens": "when", "wheres": "where", "whos": "who", "hows": "how"}
_BREAK: Final = re.compile(
    r"(?:^|[,.;:!?(–—]|\s-)\s*(?:(?:for|at|in|on|by|from|to|with|within|until|and|so|but)\s+)?"
    r"(?:what|which|when|where|who|why|how)"
)
"""A question word at the start of a clause."""
_SENTENCE: Final = re.compile(r"[.,!?;:]\s|n't\b")
_SENT: Final = asking_list("sent")
_OF_STATES: Final = asking_list("of_states")
_DUTIES: Final = asking_list("duties")
_OF_SENT: Final = frozenset(("my", "our", "the"))
_CONTRACTION: Final = re.compile(r"\b(?:when|where|who|why|how)'?s\b")
_AUXILIARIES: Final = asking_list("auxiliaries")
_REQUESTING: Final = asking_list("before_questions")
_MAY_BEGIN: Final = asking_list("may_begin")
_PAST: Final = asking_list("past")
_ME: Final = asking_list("me")
_OF_ORIGIN: Final = asking_list("of_origin")
_OF_LOOKING_UP: Final = asking_list("of_looking_up")
_OF_OPINION: Final = asking_list("of_opinion")
_OF_ELIGIBLE_PERSONS: Final = asking_list("of_eligible_persons")
_OF_TRUTH: Final = asking_list("of_truth")
_OF_WAITING: Final = asking_list("of_waiting")
LEFT_OUT: Final = asking_list("light").union(
    _AUXILIARIES,
    _QUESTION_WORDS,
    *map(listed, ("determiners", "prepositions", "pronouns_and_connectives", "unchanged_by_negation")),
)
"""Words that name no thing: function words, and words that ask, such as "cost" and "usually"."""
_FIRST_FORMS: Final = first_forms()


def read_kind(reading: Reading) -> Kind | None:
    """Return the kind of answer that an English text asks for, None without one definite type."""
    asking = reading.vocabulary & _QUESTION_WORDS
    if len(asking) > 1:
        return None
    words = _words(reading)
    if asking:
        word = _CONTRACTED.get(*asking, *asking)
        kind = _ask_at(reading, words, words.index(word)) if words.count(word) == 1 else None
    else:
        kind = _ask_for_truth(words)
        if kind is None and not _SENTENCE.search(reading.folded):
            kind = ask_by_keywords(words)
    return kind if kind and kind.types else None


def things_of(reading: Reading, kind: Kind) -> frozenset[str]:
    """Return the stems of the content words of a text that do not ask for a kind of answer."""
    rest = (word for place, word in enumerate(_words(reading)) if place not in kind.places)
    things = (_FIRST_FORMS.get(word, word) for word in rest if word not in LEFT_OUT)
    return frozenset(stem(word) for word in things if word not in LEFT_OUT)


def _ask_for_truth(words: list[str]) -> Kind | None:
    """Return the kind of "is the shop closed", which "why is the shop closed" takes for true."""
    begin = next((place for place, word in enumerate(words) if word not in _MAY_BEGIN), len(words))
    if words[begin : begin + 1] and words[begin] in _OF_TRUTH:
        return Kind(frozenset(("truth",)), places=range(begin, begin + 1))
    return None


def _words(reading: Reading) -> list[str]:
    if reading.vocabulary.isdisjoint(_CONTRACTED):
        return reading.words
    return [_CONTRACTED.get(word, word) for word in reading.words]


def _ask_at(reading: Reading, words: list[str], place: int) -> Kind | None:
    """Return the kind that the question word at a place asks for."""
    before, word, after = words[:place], words[place], words[place + 1 :]
    if not after or "?" in reading.folded.rstrip(" ?!."):  # "Do they expire? Why?" asks twice
        return None
    is_indirect = bool(before) and before[-1] in _REQUESTING
    if not (is_indirect or all(word in _MAY_BEGIN for word in before) or _BREAK.search(reading.folded)):
        return None
    if word == "how":
        return ask_by_how(after, place + 1, is_indirect=is_indirect)
    if word in ("what", "which"):
        is_means = "with" in (*before[-1:], after[-1])  # "what can I pay with", "how can I pay"
        is_placed = bool(before) and before[-1] in _PREPOSITIONS  # "in which museum"
        return None if is_means else ask_by_what(after, place + 1, can_be_subject=not is_placed)
    is_asked = is_indirect or after[0] in _AUXILIARIES or _CONTRACTION.search(reading.folded)
    if not is_asked and word in ("when", "where"):  # "When I pay by card" begins a clause
        return None
    return Kind(_TYPES[word](before, after))


def _of_when(before: list[str], after: list[str]) -> frozenset[str]:
    if before and before[-1] == "since":
        return frozenset(("time_past", "duration", "lifespan"))
    if not _OF_STATES.isdisjoint(after):
        return frozenset(("time", "temperature"))
    return frozenset(("time_past" if not _PAST.isdisjoint(after[:4]) else "time",))


def _of_where(_: list[str], after: list[str]) -> frozenset[str]:
    is_mine = (after[0] == "to" or not _ME.isdisjoint(after[:2])) and after[0] not in _PAST
    if is_mine and "my" in after and not _OF_LOOKING_UP.isdisjoint(after[:4]):
        return frozenset()  # "where can I see my balance", "what is my balance"
    if after[0] in ("is", "are") and not _OF_SENT.isdisjoint(after[1:2]) and not _SENT.isdisjoint(after[2:4]):
        return frozenset(("place", "time", "duration", "time_taken", "reason"))  # "where is my order"
    is_way = not _OF_ORIGIN.isdisjoint(after)  # "where did it come from", "how did it start"
    return frozenset(("place_for_me" if is_mine else "place", *(("manner",) if is_way else ())))


def _of_who(_: list[str], after: list[str]) -> frozenset[str]:
    if not _OF_ELIGIBLE_PERSONS.isdisjoint(after[1:3]) and after[0] not in ("do", "did"):
        return frozenset(("person_eligible",))
    if not _OF_OPINION.isdisjoint(after):
        return frozenset()
    is_object = after[0] in ("do", "does", "did") or not _ME.isdisjoint(after[:2])
    return frozenset(("person" if is_object else "person_subject",))


def _of_why(_: list[str], after: list[str]) -> frozenset[str]:
    if "not" in after or any(word.endswith("n't") for word in after):  # "Why isn't it here?", "Where is it?"
        return frozenset()
    if not _OF_WAITING.isdisjoint(after):  # "Why is it still pending?", "When will it arrive?"
        return frozenset(("reason", "time", "duration", "time_taken", "place", "meaning"))
    is_duty = not _ME.isdisjoint(after[1:2]) and not _DUTIES.isdisjoint(after[:3])
    return frozenset(("reason_to_act" if is_duty else "reason",))


_TYPES: Final = {
    "when": _of_when,
    "where": _of_where,
    "who": _of_who,
    "whom": _of_who,
    "whose": _of_who,
    "why": _of_why,
}
