"""A thing in place of another one in the same words: "pair them with a phone" and "pair them with a laptop".

the words in which two texts differ -> replaces_a_thing -> conflict

Of 3,000 pairs of Quora's questions in which this sees another thing, 5 % are labelled as duplicates, many of them
wrongly (docs/decisions/0116). Words that are synonyms, kinds of each other, or spelled alike are no evidence.
"""

from __future__ import annotations

from typing import Final

from model.guards.entities.names import by_group, find_names, known_names
from model.guards.entities.nouns import are_related, is_thing
from model.guards.entities.spellings import same_name
from model.guards.lists import listed
from model.guards.reading import Reading, stem

LONGEST: Final = 3
"""Words in which each text may differ: "a credit card"."""
_MOST_CONTENT: Final = 2
_DETERMINERS: Final = listed("determiners")
_SUBJECTS: Final = frozenset(["he", "i", "she", "they", "we", "who", "you"])
_FUNCTION: Final = _DETERMINERS.union(
    *map(
        listed,
        (
            "unchanged_by_negation",
            "left_out_of_order",
            "prepositions",
            "english",
            "english_and_others",
            "pronouns_and_connectives",
        ),
    )
)


def replaces_a_thing(query: Reading, question: Reading, start: int, end: int) -> bool:
    """Return whether texts that begin and end with the same words name different things between these. Symmetric.

    Args:
        query: the text that a person asks.
        question: the text of a hit.
        start: number of words that both begin with.
        end: number of words that both end with.
    """
    one, two = (words[start : len(words) - end] for words in (query.cased, question.cased))
    if not (0 < len(one) <= LONGEST and 0 < len(two) <= LONGEST and query.is_english and question.is_english):
        return False
    if _have_verbs(query.words, start, end):
        return False
    lower, others = ([word.casefold() for word, _ in words] for words in (one, two))
    first, second = ([word for word in words if word not in _FUNCTION] for words in (lower, others))
    if not (0 < len(first) <= _MOST_CONTENT and 0 < len(second) <= _MOST_CONTENT):
        return False
    if _relations(lower) != _relations(others):
        return False
    if not question.vocabulary.isdisjoint(first) or not query.vocabulary.isdisjoint(second):
        return False
    if not all(map(is_thing, (*first, *second))) or _have_a_common_name(first, second):
        return False
    if any(_may_be_the_same(left, right) for left in first for right in second):
        return False
    return not same_name(
        *(" ".join(word for word, _ in words if word.casefold() not in _FUNCTION) for words in (one, two))
    )


def _have_verbs(words: list[str], start: int, end: int) -> bool:
    """Return whether a verb stands where texts differ: behind "who" or "you", and between "to" and "the"."""
    before = words[start - 1] if start else ""
    after = words[-end] if end else ""
    return before in _SUBJECTS or (before == "to" and after in _DETERMINERS)


def _relations(words: list[str]) -> list[str]:
    """Return the function words that are no determiners: "at home" and "on your face" differ in more than a thing."""
    return sorted(word for word in words if word in _FUNCTION and word not in _DETERMINERS)


def _have_a_common_name(first: list[str], second: list[str]) -> bool:
    groups, others = (
        by_group(find_names([(word, False) for word in words], words, known_names())) for words in (first, second)
    )
    return any(groups[group] & others[group] for group in groups.keys() & others.keys())


def _may_be_the_same(left: str, right: str) -> bool:
    return stem(left) == stem(right) or are_related(left, right) or same_name(left, right)
