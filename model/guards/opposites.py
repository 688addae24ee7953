"""Opposite words of English: add and remove, cheaper and dearer, before and after, legal and illegal, on and off.

lists.json -> opposites by form -> number of opposites in which two texts differ

A list has groups of two sides: each word of "add,insert/remove,delete" is the opposite of each behind the stroke. Verbs
and adjectives have all their forms. Not counted are ends of a scale after "how" ("how hard" and "how easy" ask the
same), particles that mean the same ("fill in" and "fill out"), and sides that are exchanged as well: "A is cheaper than
B" and "B is dearer than A", "lend me" and "borrow from you".
"""

from __future__ import annotations

import functools
import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Set
from itertools import pairwise
from typing import Final

from model.guards.lists import irregular_forms, listed
from model.guards.reading import stem

_OPEN = re.compile(r"^(?:un|non)-?(?=[a-z]{3})")
_NOT_OPEN = frozenset(map(stem, listed("no_prefix_un")))
_PREFIXES: Final = ("in", "im", "il", "ir", "dis", "de", "a", "off")
_PREFIXED: Final[dict[str, str]] = {
    stem(prefix + base): stem(base) for prefix in _PREFIXES for base in listed(f"prefix_{prefix}")
}
_COUNTERPARTS: Final = tuple(tuple(pair.split("/")) for pair in listed("opposite_beginnings"))
"""Beginnings of words that are opposites if the rest is one: "overexposed" and "underexposed"."""
_BEFORE_OTHERS: Final = frozenset(beginning[:2] for pair in _COUNTERPARTS for beginning in pair)
"""The first two letters of each; a quick first test."""
_BEGINNINGS: Final = frozenset(prefix[0] for prefix in (*_PREFIXES, "un", "non"))
_ENDINGS: Final = {
    "opposite_verbs": ("s", "es", "d", "ed", "ing"),
    "opposite_converses": ("s", "es", "d", "ed", "ing"),
    "opposite_adjectives": ("r", "er", "st", "est"),
    "opposite_scales": ("r", "er", "st", "est"),
    "opposite_words": ("s", "es"),
    "opposite_relations": (),
}
_CARRIED: Final = listed("carried_by_opposites")
"""Words that change with an opposite and without a meaning of their own: "add to" and "remove from", "most dear"."""
_PARTICLES: Final = tuple(
    (first, second) for pair in listed("opposite_particles") for first, second in [pair.split(":")]
)
_EXCEPTIONS: Final = listed("exceptions")
_ALIKE: Final = listed("particles_that_mean_the_same")
_ARTICLES: Final = frozenset(("a", "an", "from", "my", "of", "our", "the", "to", "your"))
_BE: Final = frozenset(("is", "are", "was", "were"))
_PERSONS: Final = {"i": "i", "me": "i", "we": "i", "us": "i", "you": "you"}


def may_be_opposites(one: Set[str], two: Set[str], differing: Set[str]) -> bool:
    """Return whether words in which two texts differ may be opposites; a quick first test.

    Args:
        one: words of a text.
        two: words of another.
        differing: words of one text alone, of either.
    """
    marks = differing & _marks()
    if marks and (are_listed(marks) or not _EXCEPTIONS.isdisjoint(marks)):
        return True
    if marks and any(second in marks and (first in one or first in two) for first, second in _PARTICLES):
        return True
    return any(
        (word[0] in _BEGINNINGS and (word.startswith(("un", "non")) or stem(word) in _PREFIXED))
        or (word[:2] in _BEFORE_OTHERS and not _counterparts(word).isdisjoint(differing))
        for word in differing
    )


def are_listed(differing: Set[str]) -> bool:
    """Return whether two of the words are opposites of the lists, or one is the other with "un": "unopened"."""
    found = _opposites()
    return any(
        not differing.isdisjoint(found[word]) if word in found else word.startswith("un") and word[2:] in differing
        for word in differing
    )


def take_out_opposites(one: list[str], two: list[str], only_one: dict[str, str], only_two: dict[str, str]) -> int:
    """Remove opposites from the words in which two texts differ, and return their number. Symmetric.

    Args:
        one: words of a text in order.
        two: words of another.
        only_one: content words of the first text alone, by stem; changed in place.
        only_two: content words of the second text alone, by stem; changed in place.
    """
    pairs = [
        (first, second)
        for first in only_one.values()
        for second in only_two.values()
        if _are_opposites(first, second)
        and not (_ask_for_a_scale(one, two, first, second) or _names_both(one, first) or _names_both(two, second))
    ]
    if not pairs:
        return _take_out_particles(one, two, only_one, only_two) or _take_out_exception(only_one, only_two)
    left, right = {first for first, _ in pairs}, {second for _, second in pairs}
    if _sides_exchanged(one, two, pairs, left | right):
        return 0
    for words in (only_one, only_two):
        _take_out(words, left | right | _CARRIED)
    return min(len(left), len(right))


def _take_out(words: dict[str, str], found: Set[str]) -> None:
    for short in [short for short, word in words.items() if word in found]:
        del words[short]


def _are_opposites(one: str, two: str) -> bool:
    if two in _opposites().get(one, ()) or two in _counterparts(one):
        return True
    return _is_denied_form(one, two) or _is_denied_form(two, one)


@functools.lru_cache(maxsize=4_096)
def _counterparts(word: str) -> frozenset[str]:
    """Return the words with the opposite of the beginning of a word; many do not exist."""
    pairs = (pair for one, two in _COUNTERPARTS for pair in ((one, two), (two, one)))
    return frozenset(other + word[len(one) :] for one, other in pairs if word.startswith(one))


def _is_denied_form(word: str, base: str) -> bool:
    """Return whether a word is another with a negating prefix."""
    short, rest = stem(word), stem(base)
    if _PREFIXED.get(short) == rest:
        return True
    match = _OPEN.match(word)
    return match is not None and short not in _NOT_OPEN and stem(word[match.end() :]) == rest


def _names_both(words: list[str], word: str) -> bool:
    """Return whether a text has an opposite of one of its words too: "which drawbacks and advantages"."""
    return not _opposites().get(word, frozenset()).isdisjoint(words)


def _ask_for_a_scale(one: list[str], two: list[str], first: str, second: str) -> bool:
    """Return whether two adjectives ask for a place on a scale: "how hard is it" and "how easy is it"."""
    is_scale = second in _table("opposite_scales").get(first, ())
    if is_scale and one[0] in _BE and two[0] in _BE and "than" not in (*one, *two):
        return True  # "is it hard" and "is it easy"
    is_adjective = is_scale or second in _table("opposite_adjectives").get(first, ())
    return is_adjective and ("how", first) in pairwise(one) and ("how", second) in pairwise(two)


def _sides_exchanged(one: list[str], two: list[str], pairs: Iterable[tuple[str, str]], found: Set[str]) -> bool:
    """Return whether the sides of a relation are exchanged with it: "A before B" is "B after A"."""
    converse = _table("opposite_converses")
    if any(second in converse.get(first, ()) for first, second in pairs):
        persons = ([_PERSONS[word] for word in words if word in _PERSONS] for words in (one, two))
        if next(persons) != next(persons):
            return True
    elif not (
        "than" in one
        or "than" in two
        or any(second in _table("opposite_relations").get(first, ()) for first, second in pairs)
    ):
        return False
    return _order(one, two, found) != _order(two, one, found)


def _order(words: list[str], others: list[str], found: Set[str]) -> list[str]:
    """Return the stems that two texts share, in the order of the first; function words are left out."""
    left_out = listed("unchanged_by_negation") | _CARRIED | found
    common = {stem(word) for word in others if word not in left_out}
    return list(dict.fromkeys(short for word in words if word not in left_out and (short := stem(word)) in common))


def _take_out_particles(one: list[str], two: list[str], only_one: dict[str, str], only_two: dict[str, str]) -> int:
    """Remove particles such as "on" and "off" that two texts have exchanged, and return the number of their pairs."""
    more = Counter(one)
    more.subtract(two)
    exchanged = [
        (first, second)
        for first, second in _PARTICLES
        if more[first] * more[second] < 0
        and not (_means_the_same(one, second) or _means_the_same(two, second))
        and not _followers(one, first, second).isdisjoint(_followers(two, first, second))
    ]
    for words in (only_one, only_two):
        _take_out(words, {particle for pair in exchanged for particle in pair})
    return len(exchanged)


def _followers(words: list[str], *particles: str) -> set[tuple[str, str]]:
    """Return the words that follow particles, "" at the end; for "from" and "to", those before them as well."""
    kept = ["", *(word for word in words if word in particles or word not in _ARTICLES), ""]
    found = zip(kept, kept[1:], kept[2:], strict=False)
    return {(before if "to" in particles else "", after) for before, word, after in found if word in particles}


def _take_out_exception(only_one: dict[str, str], only_two: dict[str, str]) -> int:
    """Remove "except" of one text, and return 1 if it was there: "all mails from May", "all mails except from May"."""
    found = _EXCEPTIONS.intersection((*only_one.values(), *only_two.values()))
    for words in (only_one, only_two):
        _take_out(words, found and found | _CARRIED)
    return len(found) % 2


def _means_the_same(words: list[str], particle: str) -> bool:
    """Return whether a verb of a text has the same meaning with both particles, or "off" follows a number."""
    if any(f"{particle}:{word}" in _ALIKE for word in words):
        return True
    return any(second == particle and first.isdigit() for first, second in pairwise(words))


@functools.cache
def _marks() -> frozenset[str]:
    """Return all words that may be one of two opposites, but for those with a prefix."""
    return _EXCEPTIONS.union(_opposites(), (second for _, second in _PARTICLES))


@functools.cache
def _opposites() -> Mapping[str, Set[str]]:
    """Return the opposites of each form of a word in the lists."""
    found: defaultdict[str, set[str]] = defaultdict(set)
    for kind in _ENDINGS:
        for form, others in _table(kind).items():
            found[form] |= others
    return dict(found)


@functools.cache
def _table(kind: str) -> Mapping[str, Set[str]]:
    found: defaultdict[str, set[str]] = defaultdict(set)
    for group in listed(kind):
        one, two = ({form for word in side.split(",") for form in _forms(word, kind)} for side in group.split("/"))
        for form in one:
            found[form] |= two
        for form in two:
            found[form] |= one
    return dict(found)


def _forms(word: str, kind: str) -> Iterator[str]:
    """Yield the forms of a word; those that do not exist ("hided") do no harm."""
    yield word
    if endings := _ENDINGS[kind]:
        yield from irregular_forms().get(word, ())
        roots = [word, word.removesuffix("e"), word + word[-1], re.sub("y$", "i", word)]
        yield from (root + ending for root in roots for ending in endings)
