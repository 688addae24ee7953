"""Two of the same content words that have exchanged their prepositions or places.

Reading -> units: content words with the preposition before them -> exchange

- Two words have exchanged two prepositions: "to Rome from Paris" and "to Paris from Rome".
- Two parts have exchanged their places and all else stands where it stood, with a verb or a preposition between them:
  "dogs chase cats" and "cats chase dogs", "after eating can I run" and "after running can I eat".

"If", "and" and the marks between clauses have a place too: a clause that has moved as a whole has exchanged nothing.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Set
from typing import Final

from model.guards.lists import listed
from model.guards.reading import Reading
from model.guards.roles.parts import BARRIER, BE, DETERMINERS, NO_SIDES, base, is_denied, passives
from model.guards.roles.units import TIMES, Unit, content, units_of

_LEAST_WORDS: Final = 2
_EVERY: Final = frozenset(["a", "an", "every", "all", "each", "any"])
_LONGEST_PART: Final = 3
_REPLACING: Final = frozenset(map(base, listed("replacing")))
"""Verbs after which "with" and "for" have a direction."""
_FOR_SOMETHING: Final = _REPLACING | frozenset(map(base, listed("before_for")))
"""Verbs and adjectives after which "for" has a direction; "app for students" and "student app" have none."""
_STRANDED: Final = frozenset(["about", "at", "by", "for", "from", "of", "to", "with"])
_GERUND: Final = re.compile(r"[aeiouy].*ing$")  # not "king", "thing"


def words_exchanged(query: Reading, question: Reading) -> bool:
    """Return whether two of the same content words have exchanged their prepositions or places. Symmetric."""
    words, others = content(query), content(question)
    if len(words) != len(others):  # stems are not needed
        return False
    stems = sorted(map(base, words))
    if stems != sorted(map(base, others)) or len(set(stems)) < _LEAST_WORDS:
        return False
    if query.words.count("as") > 1:
        return False
    repeated = {word for word, times in Counter(stems).items() if times > 1}
    first, second = units_of(query, repeated), units_of(question, repeated)
    if first == second:
        return False
    if "with" in query.vocabulary and _REPLACING.isdisjoint(stems):
        return _descriptions_exchanged(first, second)
    if _prepositions_exchanged(first, second):
        return True
    if len(first) != len(second) or (query.words[-1] in _STRANDED) != (question.words[-1] in _STRANDED):
        return False  # a preposition at the end belongs to a word far before it: "music to listen to"
    asks_identity = all(text.words[0] in BE and text.words[1] in _EVERY for text in (query, question))
    fixed = _gerunds(query.words) | _gerunds(question.words)
    fixed |= {BARRIER, "but"} if _moves_over_but(query, question) else {BARRIER}
    passive = passives(query) ^ passives(question)
    return _places_exchanged(first, second, no_verbs=fixed, passive=passive, asks_identity=asks_identity)


def _descriptions_exchanged(first: list[Unit], second: list[Unit]) -> bool:
    """Return whether two words have exchanged the things that they describe: "a linen jacket with a cotton lining"."""
    if len(first) != len(second):
        return False
    places = [at for at, (one, two) in enumerate(zip(first, second, strict=True)) if one != two]
    if len(places) != 2 or first[places[1]].mark != "with" or second[places[1]].mark != "with":
        return False
    begin, end = places
    if (first[begin].stem, first[end].stem) != (second[end].stem, second[begin].stem) or end != begin + 2:
        return False
    described = (first[begin + 1], *first[end + 1 : end + 2])
    return len(described) == 2 and not any(unit.mark or unit.stem == BARRIER for unit in described)


def _gerunds(words: list[str]) -> set[str]:
    """Return the stems of words in -ing that may be nouns: "question asking bots", not "is asking a question"."""
    return {
        base(word)
        for place, word in enumerate(words)
        if _GERUND.search(word)
        and BE.isdisjoint(words[max(0, place - 1) : place])
        and DETERMINERS.isdisjoint(words[place + 1 : place + 2])
    }


def _moves_over_but(query: Reading, question: Reading) -> bool:
    """Return whether "but" joins two clauses of which the same one is denied, or none: "A but B" is then "B but A".

    "In Rome but not in Bonn" and "in Bonn but not in Rome" deny another part each.
    """
    if "but" not in query.vocabulary:
        return False
    before = [is_denied(text.words[: text.words.index("but")]) for text in (query, question)]
    return before[0] != before[1] or not is_denied(query.words)


def _prepositions_exchanged(first: list[Unit], second: list[Unit]) -> bool:
    """Return whether two words have exchanged two prepositions: "to A from B" and "to B from A"."""
    marks = {unit.stem: unit.mark for unit in second}
    exchanged = {(unit.mark, marks.get(unit.stem, "")) for unit in first if unit.mark}
    return any(one != two and two and (two, one) in exchanged for one, two in exchanged)


def _places_exchanged(
    first: list[Unit], second: list[Unit], *, no_verbs: Set[str], passive: Set[str], asks_identity: bool
) -> bool:
    """Return whether two parts have exchanged their places, and all else stands where it stood.

    Args:
        first: units of one text.
        second: the same number of units in another order.
        no_verbs: stems that are no verb between two parts: barriers, nouns in -ing, which make a compound ("bots asking
            questions" are "question asking bots").
        passive: stems of verbs that are passive, without an agent, in one text alone: nothing is exchanged with them.
        asks_identity: both texts begin like "is every square a rectangle", where no content word stands between
            the two.
    """
    stems, others = ([unit.stem for unit in units] for units in (first, second))
    differing = [place for place, (one, two) in enumerate(zip(stems, others, strict=True)) if one != two]
    if not differing:
        return False
    begin, stop = differing[0], differing[-1] + 1
    for left in range(1, min(_LONGEST_PART, stop - begin - 1) + 1):
        for right in range(1, min(_LONGEST_PART, stop - begin - left) + 1):
            verb, end = begin + left, stop - right
            if stems[end:stop] + stems[verb:end] + stems[begin:verb] != others[begin:stop]:
                continue
            if asks_identity and len(first) == _LEAST_WORDS:
                return True
            sides = {stems[begin], stems[end]}
            if left == right == 1 and not NO_SIDES.isdisjoint(sides):
                return False
            if end == verb and not first[end].mark and not all(map(str.isalpha, sides)):  # "after 12th class"
                return False
            if not passive.isdisjoint(stems[begin:stop]):
                return False
            marks = (first[begin].mark, first[end].mark)
            between = list(zip(first[verb:end], second[begin + right : stop - left], strict=True))
            return (
                marks == (second[begin].mark, second[stop - left].mark)
                and all(one.mark == two.mark or {one.mark, two.mark} == {"", "to"} for one, two in between)
                and _has_direction(*marks, stems[:begin], stems[verb:end], no_verbs)
            )
    return False


def _has_direction(mark: str, end_mark: str, before: list[str], between: list[str], no_verbs: Set[str]) -> bool:
    """Return whether a verb or a preposition with a direction stands between two parts.

    Args:
        mark: preposition before the first part.
        end_mark: preposition before the second part.
        before: stems before the first part.
        between: stems between the two.
        no_verbs: stems that are no verb.
    """
    verbs = set(between) - no_verbs
    if end_mark == "for" and _FOR_SOMETHING.isdisjoint(verbs) and _REPLACING.isdisjoint(before):
        return len(verbs) != 1  # "travel bag for A" has one, "Germans need a visa for A" two
    if not end_mark and not between:
        return mark in TIMES
    return bool(verbs) or end_mark not in ("", mark)
