"""The side that a question asks for: "which countries did Britain invade" and "which countries invaded Britain".

parts -> subject before its verb in one text, verb before the same words in the other -> exchange
"""

from __future__ import annotations

import itertools
from typing import Final

from model.guards.lists import listed
from model.guards.reading import Reading, stem
from model.guards.roles.parts import (
    AUXILIARIES,
    BARRIER,
    BE,
    DETERMINERS,
    LONGEST_NAME,
    OBJECTS,
    PERSONS,
    POSSESSIVES,
    Part,
    is_participle,
)

_RELATIVE: Final = frozenset(["who", "whom", "that", "which", "what", "many"])
_WITH_NOUNS: Final = frozenset(["which", "what", "many"])
_NO_NOUNS: Final = PERSONS.keys() | DETERMINERS
_HELPING: Final = AUXILIARIES | BE
_BEFORE_VERB: Final = AUXILIARIES - {"do", "does", "did"}
_BEFORE_ING: Final = _BEFORE_VERB | {"is", "are", "was", "were"}
_ONE_SIDED: Final = frozenset(map(stem, listed("one_sided_in_questions")))


def asked_exchanged(query: Reading, question: Reading, first: list[Part], second: list[Part]) -> bool:
    """Return whether the query asks for the object of a verb ("who do I follow") and the question for its subject.

    Args:
        query: text with the subject before the verb.
        question: text with the verb right behind "who", "which countries" or "that".
        first: parts of the query.
        second: parts of the question.
    """
    ours, theirs = ([part.stem for part in parts] for parts in (first, second))
    at = next((place for place, (one, two) in enumerate(zip(ours, theirs, strict=False)) if one != two), len(ours))
    for size in range(1, min(LONGEST_NAME, len(ours) - at - 1) + 1):
        verb = ours[at + size]
        moved = ours[at : at + size]
        is_last = theirs[at:] == [*ours[at + size :], *moved] and second[-size].mark == query.words[-1]
        if is_last or theirs[at:] == [verb, *moved, *ours[at + size + 1 :]]:
            inner, behind = first[at : at + size + 1], second[at : at + size + 1]
            if is_last:  # "who does A give B to", "who gives B to A"
                behind = [second[at], *(part._replace(mark="") for part in second[-size:])]
            unmarked = not any(part.stem == BARRIER or part.mark not in ("", "by") for part in inner)
            return unmarked and verb not in _ONE_SIDED and _asks_side(query, inner, question, behind)
    return False


def _asks_side(query: Reading, first: list[Part], question: Reading, second: list[Part]) -> bool:
    """Return whether the question asks for the subject of the verb and the query for another part."""
    if len(first) == 2 and first[0].word in POSSESSIVES:  # the noun of "your motivation"
        return False
    if any(is_participle(one) and two == "by" for one, two in itertools.pairwise(question.words)):
        return False
    return _asks_for_subject(query, first[-1].word, question, second) and _has_subject(
        query, first[0].word, first[-1].word
    )


def _asks_for_subject(query: Reading, word: str, question: Reading, second: list[Part]) -> bool:
    """Return whether nothing but the asked part and helping verbs stand before the verb of the question.

    Args:
        query: the other text.
        word: its verb. A preposition behind it may be one before the object of the question: "who does A work for",
            "who works for A".
        question: text that may ask for a subject.
        second: its verb and object.
    """
    verb = second[0].word
    gap = _after_relative(question, verb)
    if gap is None or not _is_free(gap, verb):
        return False
    marks = {"", *_behind(query, word)}
    return _HELPING.isdisjoint(_behind(question, verb)) and all(part.mark in marks for part in second)


def _behind(reading: Reading, word: str) -> list[str]:
    """Return the word behind another one, if there is one."""
    at = reading.words.index(word) + 1 if word in reading.vocabulary else len(reading.words)
    return reading.words[at : at + 1]


def _has_subject(query: Reading, subject: str, verb: str) -> bool:
    """Return whether the first word is the subject of the verb: "I", the agent of a passive, or behind "does"."""
    is_passive = is_participle(verb) and not BE.isdisjoint(query.words)
    if subject in PERSONS:
        return subject not in OBJECTS and not is_passive
    before = _after_relative(query, subject) or []
    if is_passive:  # "who was hired by A"
        return before[-1:] == ["by"]
    if not before:  # "the doctor my mother visited"
        at = query.words.index(subject) if subject in query.vocabulary else 0
        return bool(at) and query.words[at - 1] in DETERMINERS
    helping = next((word for word in reversed(before) if word not in DETERMINERS), "")
    return helping in AUXILIARIES or (verb.endswith("ing") and helping in BE)


def _is_free(gap: list[str], verb: str) -> bool:
    """Return whether "who", "which" and up to two nouns, and then helping verbs stand alone before a verb."""
    nouns = list(itertools.takewhile(lambda word: word not in AUXILIARIES and word not in BE, gap[1:]))
    helping = frozenset(gap[1 + len(nouns) :])
    most = 2 if gap[0] in _WITH_NOUNS else 0
    return (
        len(nouns) <= most
        and helping <= (_BEFORE_ING if verb.endswith("ing") else _BEFORE_VERB)
        and _NO_NOUNS.isdisjoint(nouns)
    )


def _after_relative(reading: Reading, word: str) -> list[str] | None:
    """Return the last "who", "which", "what" or "that" before a word, and all between; None where there is none."""
    before = reading.words[: reading.words.index(word)] if word in reading.vocabulary else []
    places = [place for place, one in enumerate(before) if one in _RELATIVE]
    return before[places[-1] :] if places else None
