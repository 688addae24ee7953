"""The guard of the order of arguments: from Paris to Rome and from Rome to Paris, dogs chase cats and cats chase dogs.

Reading -> units: content words with the preposition before them -> conflict

Both texts need the same content words. Then one of two things has to be seen:

- two words have exchanged two prepositions: "to Rome from Paris" and "to Paris from Rome";
- two parts have exchanged their places and all else stands where it stood, with a verb or a preposition between them.

Passive clauses are read as active ones. Words that stay true when their sides are exchanged prevent both: "and", "or",
"vs", "than", "between", "differ", "similar", "marry", "distance", "plus" (symmetric relations). Texts whose other words
differ a little are compared by persons, verbs and ways (`model.guards.roles`). Other languages have a rule of their own
(`model.guards.languages.order`).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Set
from typing import Final, NamedTuple

from model.guards.languages.glossing.reading import glossed
from model.guards.languages.order import moves_object, parts_are_exchanged
from model.guards.languages.recognition import common_languages
from model.guards.lists import listed
from model.guards.reading import Reading, stem
from model.guards.roles.exchange import roles_exchanged
from model.guards.roles.symmetry import SYMMETRIC, is_symmetric
from model.guards.roles.ways import ways_opposite

_PREPOSITIONS: Final = listed("prepositions")
_DROPPED: Final = listed("left_out_of_order")
_LEFT_OUT: Final = _DROPPED | _PREPOSITIONS
_SHORT: Final = listed("english_in_short_texts")
_IRREGULAR_PARTICIPLES: Final = listed("irregular_participles")
_BE: Final = frozenset(["is", "are", "was", "were", "be", "been", "being", "get", "gets", "got"])
_LEAST_WORDS: Final = 2
_MOST_DIFFERING: Final = 4
"""Words of both texts together that may differ in their endings; a quick first test."""
_MOST_WORDS: Final = 60
"""Longer texts are compared by their content words alone: times of the other tests grow with the square."""
_EVERY: Final = frozenset(["a", "an", "every", "all", "each", "any"])
_LONGEST_PART: Final = 3
_NO_MARK: Final = frozenset(
    {
        ("to", verb)
        for verb in [
            "want",
            "how",
            "like",
            "need",
            "try",
            "way",
            "able",
            "start",
            "begin",
            "learn",
            "used",
            "place",
            "going",
            "know",
            "best",
        ]
    }
    | {("of", word) for word in ["some", "one", "many", "most", "any", "all", "kind"]}
)
"""Prepositions that mark nothing after these words: "to" before a verb, "some of"."""
_REPLACES: Final = listed("replacing")
"""Verbs after which "with" has a direction."""


class _Unit(NamedTuple):
    mark: str
    stem: str


def order_differs(query: Reading, question: Reading) -> bool:
    """Return whether two words have exchanged their roles between the texts. Symmetric."""
    query, question = glossed(query, question)
    if languages := common_languages(query, question):
        if any(moves_object(query, question, language) for language in languages):
            return False
        return any(parts_are_exchanged(query, question, language) for language in languages)
    if len((query.vocabulary ^ question.vocabulary) - _LEFT_OUT) > _MOST_DIFFERING:
        return False
    if query.folded == question.folded:
        return False
    is_short = max(len(query.words), len(question.words)) <= _MOST_WORDS
    exchanged = _words_exchanged(query, question) or (is_short and ways_opposite(query, question))
    exchanged = exchanged and not (_is_symmetric(query) or _is_symmetric(question))
    exchanged = exchanged or (is_short and roles_exchanged(query, question))
    return exchanged and (_is_english(query) or _is_english(question))


def _is_english(reading: Reading) -> bool:
    """Return whether a text has a function word of English; a short one has only "to" or "into" between two names."""
    if reading.is_english or " to " in reading.folded:
        return True
    return not _SHORT.isdisjoint(reading.vocabulary)


def _is_symmetric(reading: Reading) -> bool:
    """Return whether a word of a symmetric relation is in the text."""
    if SYMMETRIC.isdisjoint(reading.vocabulary):
        return False
    return any(is_symmetric(reading.words, place) for place in range(len(reading.words)))


def _words_exchanged(query: Reading, question: Reading) -> bool:
    """Return whether two of the same content words have exchanged their prepositions or places."""
    words, others = _content(query), _content(question)
    if len(words) != len(others):  # stems are not needed
        return False
    stems = sorted(map(stem, words))
    if stems != sorted(map(stem, others)) or len(set(stems)) < _LEAST_WORDS:
        return False
    if query.words.count("as") > 1 or ("with" in query.vocabulary and _REPLACES.isdisjoint(query.vocabulary)):
        return False
    repeated = {word for word, times in Counter(stems).items() if times > 1}
    first, second = _units(query, repeated), _units(question, repeated)
    asks_identity = all(text.words[0] in _BE and text.words[1] in _EVERY for text in (query, question))
    nouns = {stem(word) for word in (*query.words, *question.words) if word.endswith("ing")}
    return first != second and (
        _prepositions_exchanged(first, second)
        or _places_exchanged(first, second, compounds=nouns, asks_identity=asks_identity)
    )


def _content(reading: Reading) -> list[str]:
    """Return the content words in order."""
    words = [word.partition("'")[0] for word in reading.words] if "'" in reading.folded else reading.words
    return [word for word in words if word not in _LEFT_OUT]


def _units(reading: Reading, repeated: Set[str]) -> list[_Unit]:
    """Return the content words in order, with their prepositions; "Z" of "X is done by Z" comes before the verb.

    Repeated words are left out: the two laws of "state law" and "federal law" have exchanged nothing.
    """
    units: list[_Unit] = []
    mark, be, before = "", False, ""
    for token in reading.words:
        word = token.partition("'")[0]
        if word in _BE:
            be = True
        if word in _PREPOSITIONS:
            mark = "" if (word, before) in _NO_MARK else word
        elif word not in _DROPPED and stem(word) not in repeated:
            units.append(_Unit(mark, stem(word)))
            passive = be and mark == "by" and len(units) > 1
            if passive and _is_participle(reading.words[reading.words.index(token) - 1 :: -1]):
                _make_active(units)
            mark = ""
        before = word
    return units


def _is_participle(before: list[str]) -> bool:
    """Return whether the word before "by" is a participle, in words that are read backwards from "by"."""
    at_by = next((place for place, word in enumerate(before) if word == "by"), len(before))
    verb = before[at_by + 1] if at_by + 1 < len(before) else ""
    return verb.endswith("ed") or verb in _IRREGULAR_PARTICIPLES


def _make_active(units: list[_Unit]) -> None:
    """Turn [..., object, verb, by:agent] into [..., agent, verb, object] in place."""
    agent, verb = units.pop(), units.pop()
    target = [units.pop()] if units and not units[-1].mark else []
    units += [_Unit("", agent.stem), verb, *target]


def _prepositions_exchanged(first: list[_Unit], second: list[_Unit]) -> bool:
    """Return whether two words have exchanged two prepositions: "to A from B" and "to B from A"."""
    marks = {unit.stem: unit.mark for unit in second}
    exchanged = {(unit.mark, marks[unit.stem]) for unit in first if unit.mark and marks[unit.stem]}
    return any(one != two and (two, one) in exchanged for one, two in exchanged)


def _places_exchanged(first: list[_Unit], second: list[_Unit], *, compounds: Set[str], asks_identity: bool) -> bool:
    """Return whether two parts have exchanged their places, and all else stands where it stood.

    Args:
        first: units of one text.
        second: the same words in another order.
        compounds: stems of words in -ing. Between two nouns these make a compound: "bots asking questions" are
            "question asking bots".
        asks_identity: both texts begin like "is every square a rectangle", where no content word stands between
            the two.
    """
    differing = [place for place, (one, two) in enumerate(zip(first, second, strict=True)) if one.stem != two.stem]
    if not differing:
        return False
    one, two = (units[differing[0] : differing[-1] + 1] for units in (first, second))
    stems, others = ([unit.stem for unit in units] for units in (one, two))
    for left in range(1, min(_LONGEST_PART, len(one) - 1) + 1):
        for right in range(1, min(_LONGEST_PART, len(one) - left) + 1):
            end = len(one) - right
            if stems[end:] + stems[left:end] + stems[:left] != others:
                continue
            between = [word for word in stems[left:end] if word not in compounds]
            begin_marks, end_marks = (one[0].mark, two[0].mark), (one[end].mark, two[len(two) - left].mark)
            kept = begin_marks[0] == begin_marks[1] and end_marks[0] == end_marks[1]
            directed = end_marks[0] not in ("", begin_marks[0])
            return kept and (bool(between) or directed or (asks_identity and len(first) == 2))
    return False
