"""A thing in place of another one in the same words: "pair them with a phone" and "pair them with a laptop".

the words in which two texts differ -> replaces_a_thing -> conflict

Descriptions in place of each other ("local" and "remote") are compared first (`model.guards.entities.describing`).

Of 3,000 pairs of Quora's questions in which this sees another thing, 5 % are labelled as duplicates, many of them
wrongly (docs/decisions/0116). Words that are synonyms, kinds of each other, or spelled alike are no evidence.
"""

from __future__ import annotations

import itertools
from typing import Final, NamedTuple, Self

from model.guards.entities.describing import describes_otherwise, describes_the_same
from model.guards.entities.names import by_group, find_names, known_names
from model.guards.entities.nouns import are_related, forms, is_listed, is_phrase, is_thing
from model.guards.entities.spellings import same_name
from model.guards.lists import groups_of, listed
from model.guards.reading import Reading, stem

LONGEST: Final = 3
"""Words in which each text may differ: "a credit card"."""
_MOST_CONTENT: Final = 2
_DETERMINERS: Final = listed("determiners")
_HEADS: Final = listed("heads_of_compounds")
"""Words that name a thing of its own behind another noun: "coffee machine" and "email address"."""
_OF_SERVICES: Final = groups_of("nouns_of_services")
"""Words such as "order", "booking" and "invoice", in groups whose words stand for each other. Of 780 right wordings of
FAQs that exchange a word the rule stopped 110 before it was silent about these."""
_SPECIFIC: Final = listed("specific_nouns_of_services")
"""Those that stand for no other thing: a password is no thermostat, and pensioners are no students."""
_BEFORE_THINGS: Final = listed("before_things")
_OTHERS: Final = listed("others")
_SUBJECTS: Final = frozenset(["he", "i", "she", "they", "we", "who", "you"])
_BEFORE_VERBS: Final = frozenset(["able", "allowed", "how", "like", "need", "possible", "try", "want", "way", "ways"])
"""Words between which and a verb "to" stands: "how to loop over a list"."""
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


class _Part(NamedTuple):
    """The words of a text that stand between those which it shares with another one.

    Attributes:
        words: as they are written.
        lower: without case.
        before: the last shared word before them; none at the start.
        after: the first shared word behind them; none at the end.
    """

    words: list[str]
    lower: list[str]
    before: list[str]
    after: list[str]

    @classmethod
    def of(cls, reading: Reading, start: int, end: int) -> Self:
        """Return the part of a text; ``start`` and ``end`` are the numbers of shared words before and behind it."""
        words = [word for word, _ in reading.cased[start : len(reading.cased) - end]]
        before, after = reading.words[:start][-1:], reading.words[len(reading.words) - end :][:1]
        return cls(words, [word.casefold() for word in words], before, after)


def replaces_a_thing(query: Reading, question: Reading, start: int, end: int) -> bool:
    """Return whether texts that begin and end with the same words name different things between these. Symmetric.

    Both texts are English.

    Args:
        query: the text that a person asks.
        question: the text of a hit.
        start: number of words that both begin with.
        end: number of words that both end with.
    """
    one, two = (_Part.of(text, start, end) for text in (query, question))
    if not (0 < len(one.words) <= LONGEST and 0 < len(two.words) <= LONGEST):
        return False
    if _have_verbs(query.words, start, end):
        return False
    if not (question.vocabulary.isdisjoint(_content(one.lower)) and query.vocabulary.isdisjoint(_content(two.lower))):
        return False
    first, second = ([word for word in part.lower if word not in _DETERMINERS] for part in (one, two))
    if describes_the_same(first, second):
        return False
    return describes_otherwise(first, second, "".join(one.after)) or _names_another(one, two)


def _content(words: list[str]) -> list[str]:
    return [word for word in words if word not in _FUNCTION]


def _names_another(one: _Part, two: _Part) -> bool:
    """Return whether nouns stand in place of each other that cannot name the same thing."""
    first, second = _content(one.lower), _content(two.lower)
    if not all(0 < len(words) <= _MOST_CONTENT or is_phrase(words) for words in (first, second)):
        return False
    if _relations(one.lower) != _relations(two.lower) or _stand_for_others(first, second):
        return False
    with_next = ([*first, *one.after], [*second, *two.after])
    with_last = ([*one.before, *first], [*two.before, *second])  # "sour cream" and "whipped cream"
    if not (_are_things(first) and _are_things(second)) and not any(map(_are_phrases, (with_next, with_last))):
        return False
    if _have_a_common_name(first, second):
        return False
    if any(map(_may_be_phrases_of_one, ((first, second), with_next, with_last))):
        return False
    if any(_may_be_the_same(left, right) for left, right in _compared(first, second) if min(len(left), len(right)) > 1):
        return False
    return not any(
        same_name(*(" ".join(word for word in part.words if word.casefold() not in left_out) for part in (one, two)))
        for left_out in (_FUNCTION, frozenset(one.lower).intersection(two.lower))
    )


def _stand_for_others(first: list[str], second: list[str]) -> bool:
    """Return whether words of services stand in place of each other or of a thing: "my order", "my parcel", "my dress".

    Words of different groups do not: a "username" is no "password".
    """
    if max(len(first), len(second)) > _MOST_CONTENT:  # "set-top box"
        return False
    one, two = ([_groups(word) for word in words] for words in (first, second))
    if one[-1] and two[-1]:
        is_compared = len(one) == 1 or len(two) == 1 or all((*one, *two))
        return is_compared and not one[-1].isdisjoint(two[-1])
    words = ((one, first, second), (two, second, first))
    return any(len(groups) == 1 and groups[0] and not _is_specific(*pair) for groups, *pair in words)


def _is_specific(words: list[str], others: list[str]) -> bool:
    """Return whether a word of services stands for its group alone and the others are listed: a "nurse", "veterans"."""
    return not _SPECIFIC.isdisjoint(itertools.islice(forms(words[-1]), 4)) and all(map(is_listed, others))


def _groups(word: str) -> frozenset[int]:
    """Return the groups of a word of services; other words have none."""
    of_forms = (_OF_SERVICES.get(form, frozenset()) for form in itertools.islice(forms(word), 4))
    return next(filter(None, of_forms), frozenset())


def _compared(first: list[str], second: list[str]) -> list[tuple[str, str]]:
    """Return the words that may name the same thing; two nouns behind other things do not make one thing of these.

    A "gym membership" is no "magazine subscription".
    """
    pairs = list(itertools.product(first, second))
    if len(first) == len(second) == _MOST_CONTENT and is_thing(first[0]) and is_thing(second[0]):
        pairs.remove((first[-1], second[-1]))
    return pairs


def are_english(query: Reading, question: Reading) -> bool:
    """Return whether both texts are English, or have English nouns only: "entry requirements law degree"."""
    if query.is_english and question.is_english:
        return True
    words = query.vocabulary | question.vocabulary
    return words.isdisjoint(_OTHERS) and all(len(word) == 1 or word in _FUNCTION or is_listed(word) for word in words)


def _are_things(words: list[str]) -> bool:
    if len(words) > 1 and words[0] in _BEFORE_THINGS and is_thing(words[-1]):  # "red lentils"
        words = words[1:]
    if all(map(is_thing, words)) or is_phrase(words):
        return True
    return len(words) > 1 and words[-1] in _HEADS and all(map(is_thing, words[:-1]))


def _are_phrases(parts: tuple[list[str], list[str]]) -> bool:
    return all(map(is_phrase, parts))


def _may_be_phrases_of_one(parts: tuple[list[str], list[str]]) -> bool:
    one, two = ("_".join(words) for words in parts)
    return are_related(one, two)


def _have_verbs(words: list[str], start: int, end: int) -> bool:
    """Return whether a verb stands where texts differ: behind "who", "you" or "how to", and between "to" and "the"."""
    before = words[start - 1] if start else ""
    after = words[-end] if end else ""
    if before != "to":
        return before in _SUBJECTS
    return after in _DETERMINERS or not _BEFORE_VERBS.isdisjoint(words[:start][-2:-1])


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
