"""Parts of an English text with a role: persons and content words, and the object of a passive clause behind its verb.

Reading -> words -> parts
"""

from __future__ import annotations

import functools
import itertools
import re
from collections.abc import Iterable, Set
from typing import Final, NamedTuple

from model.guards.lists import first_forms, listed
from model.guards.reading import Reading, stem
from model.guards.roles.symmetry import is_symmetric

PREPOSITIONS: Final = listed("prepositions")
PERSONS: Final = dict(entry.split("=") for entry in listed("persons"))
"""Words for a person with a common name of theirs: "my" and "me" are "i"."""
POSSESSIVES: Final = listed("possessives")
OBJECTS: Final = listed("objects")
BE: Final = frozenset(["am", "is", "are", "was", "were", "be", "been", "being", "get", "gets", "got"])
HAVING: Final = frozenset(["get", "gets", "got", "has", "have", "had"])
"""Verbs that are left out but before one of `DETERMINERS`: "I got my parcel" and "I got fired"."""
DETERMINERS: Final = listed("determiners") | {"no"}
AUXILIARIES: Final = listed("auxiliaries")
DROPPED: Final = (listed("left_out_of_order") | listed("left_out_of_roles")) - PERSONS.keys()
NO_SIDES: Final = frozenset(map(stem, listed("no_sides")))
"""Stems of words that are no person or thing, so that no verb has them on a side."""
LONGEST_NAME: Final = 3
BARRIER: Final = "|"
"""Stem of a part between two clauses or in a symmetric relation: nothing is exchanged across it."""

_FIRST_FORMS: Final = first_forms()
_DENYING: Final = listed("negations")
_MOST_AFTER_BE: Final = 6
"""Words between a form of "be" and its participle, with the participle: "is the top up card verified"."""
_PARTICIPLES: Final = listed("irregular_participles")
BARRIERS: Final = frozenset(["when", "if", "because", BARRIER])
_BETWEEN_CLAUSES: Final = re.compile(r"(?:(?<!\b[a-z])\.|[,:;?!])[.,:;?!]*\s+(?=\w)")
_WORD: Final = re.compile(r"\||[^\W_]+(?:'[^\W\d_]+)*")


class Part(NamedTuple):
    """A person, a content word or a barrier.

    Attributes:
        mark: the preposition before it, or the empty text.
        stem: its stem, the name of a person or `BARRIER`.
        word: the word as it stands in the text; "me" for a person moved behind a verb.
    """

    mark: str
    stem: str
    word: str


def parts_of(reading: Reading, owned: Set[tuple[str, str]]) -> list[Part]:
    """Return persons, content words and barriers in order, each with its preposition; an agent before its verb."""
    parts: list[Part] = []
    words = words_and_barriers(reading)
    mark, be = "", False
    for place, word in enumerate(words):
        following = words[place + 1] if place + 1 < len(words) else ""
        if word in BARRIERS or is_symmetric(words, place):
            parts.append(Part("", BARRIER, word))
            mark, be = "", False
            continue
        if word in PREPOSITIONS:
            mark = word
            continue
        if word in BE and not (word in HAVING and following in DETERMINERS):
            be = True
            continue
        if not _is_part(word, following, owned):
            continue
        parts.append(Part("" if mark == "to" and not parts else mark, base(word), word))
        _turn(parts, passive=be)
        mark, be = "", be and word in PERSONS
    return parts


def _is_part(word: str, following: str, owned: Set[tuple[str, str]]) -> bool:
    if word in PERSONS:
        if following == "do":  # "what can I do"
            return False
        return word not in POSSESSIVES or (PERSONS[word], stem(following)) not in owned
    return word not in DROPPED or (word in HAVING and following in DETERMINERS)


def words_and_barriers(reading: Reading) -> list[str]:
    """Return the words in order, with the marks between clauses as words of their own."""
    if _BETWEEN_CLAUSES.search(reading.folded):
        text = _BETWEEN_CLAUSES.sub(f" {BARRIER} ", reading.folded)
        return [word.partition("'")[0] for word in _WORD.findall(text)]
    return [word.partition("'")[0] for word in reading.words]


def _turn(parts: list[Part], *, passive: bool) -> None:
    """Put the object of a passive clause behind its verb, and the agent after "by" before it, in place."""
    last = parts[-1]
    if last.mark == "by" and len(parts) > 1:
        at = len(parts) - 2
        if is_participle(parts[at].word):  # "a car hit by a cyclist"
            target = [parts[at - 1]] if at and not parts[at - 1].mark and parts[at - 1].stem != BARRIER else []
            parts[at - len(target) :] = [Part("", last.stem, last.word), parts[at], *target]
        elif at and parts[at].word == "me" and is_participle(parts[at - 1].word):  # turned already
            parts[at - 1 :] = [Part("", last.stem, last.word), parts[at - 1], parts[at]]
    elif passive and is_participle(last.word) and len(parts) > 1 and parts[-2].word in PERSONS and not last.mark:
        parts[-2:] = [last, parts[-2]._replace(word="me")]


def is_participle(word: str) -> bool:
    """Return whether a word may be the participle of a passive clause."""
    return word.endswith("ed") or word in _PARTICIPLES


def passives(reading: Reading) -> set[str]:
    """Return the stems of verbs in passive clauses without an agent: "decl" of "my card was declined"."""
    words = reading.words
    return {
        base(word)
        for place, word in enumerate(words)
        if is_participle(word) and "by" not in words[place + 1 : place + 3] and _is_behind_be(words, place)
    }


def _is_behind_be(words: list[str], place: int) -> bool:
    """Return whether a form of "be" and up to five words without a subject or "have" stand before a participle."""
    for at in range(place - 1, max(-1, place - _MOST_AFTER_BE - 1), -1):
        if words[at] in BE:
            return True
        is_subject = words[at] in PERSONS and words[at] not in POSSESSIVES and words[at - 1] not in BE
        if is_subject or words[at] in HAVING:
            return False
    return False


def is_denied(words: Iterable[str]) -> bool:
    """Return whether one of the words denies: "not", "never", "isn't"."""
    return any(word in _DENYING or word.endswith("n't") for word in words)


def owned_words(reading: Reading) -> set[tuple[str, str]]:
    """Return persons with the stems of the words that follow their possessives: "my wife" is ("i", "wif")."""
    if POSSESSIVES.isdisjoint(reading.vocabulary):
        return set()
    words = reading.words
    return {(PERSONS[one], stem(two)) for one, two in itertools.pairwise(words) if one in POSSESSIVES}


@functools.lru_cache(maxsize=4_096)
def base(word: str) -> str:
    """Return the stem of a word, that of its first form for an irregular verb: "sent" and "sending" are one."""
    word = word.partition("'")[0]
    return PERSONS.get(word) or stem(_FIRST_FORMS.get(word, word))
