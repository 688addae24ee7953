"""The guard of actions: the same question about another action.

Reading -> the words that differ -> two verbs -> conflict

"How do I freeze my account?" and "how to close my account" differ in one verb, function words aside. Both stand where
only a verb can (`model.guards.actions.places`) and are no names of one action (`model.guards.actions.verbs`). Others
are no evidence: general verbs stand for any ("get" for "order"), and the synonyms of verbs that are in no list are
unknown.
"""

from __future__ import annotations

from typing import Final, NamedTuple

from model.guards.actions.places import is_passive, is_verb_here
from model.guards.actions.verbs import PARTICLES, Verb, are_related, find_phrase, find_verb
from model.guards.entities.nouns import is_listed
from model.guards.languages.recognition import common_languages
from model.guards.lists import listed
from model.guards.reading import Reading, stem
from model.guards.roles.parts import is_denied

_LONGEST: Final = 2
"""Words in which each text may differ, function words aside: "put together"."""
_MOST_DIFFERING: Final = 4
"""Distinct content words of one text alone: two, and other forms of words that both have."""
_MOST_LONGER: Final = 10
"""Distinct words that one text has more: "Could you please tell me how I can track my parcel" and "track my parcel"."""
_PREPOSITIONS: Final = listed("prepositions")
_LEFT_OUT: Final = (
    listed("determiners")
    | listed("english")
    | listed("english_and_others")
    | _PREPOSITIONS
    | listed("left_out_of_actions")
)
_OTHERS: Final = listed("others") - listed("english_and_others") - frozenset(["a", "an", "as", "in", "on"])
"""Words of other languages; English keywords have some of them as well."""
_PERSONS: Final = {"i": "i", "we": "i", "you": "you"}


class _Part(NamedTuple):
    """The verb in which a text differs from another.

    Attributes:
        words: words of the text.
        at: place of the verb.
        end: place behind the verb and its particle.
        verb: what it names.
    """

    words: list[str]
    at: int
    end: int
    verb: Verb


def action_differs(query: Reading, question: Reading) -> bool:
    """Return whether the texts differ in one verb, which names another action in each. Symmetric."""
    if abs(len(query.vocabulary) - len(question.vocabulary)) > _MOST_LONGER:
        return False
    if not (0 < len(query.vocabulary - question.vocabulary - _LEFT_OUT) <= _MOST_DIFFERING):
        return False
    if not (0 < len(question.vocabulary - query.vocabulary - _LEFT_OUT) <= _MOST_DIFFERING):
        return False
    places = _differing(query.words, question.words)
    if places is None:
        return False
    one, two = _part(query.words, places[0]), _part(question.words, places[1])
    if one is None or two is None or are_related(one.verb, two.verb) or not _are_english(query, question):
        return False
    if query.cased[one.at][1] or question.cased[two.at][1]:
        return False
    if is_denied(query.vocabulary) != is_denied(question.vocabulary):
        return False
    return _have_one_structure(one, two) and _are_verbs(one, two)


def _differing(words: list[str], others: list[str]) -> tuple[list[int], list[int]] | None:
    """Return the places of the words in which two texts differ, function words aside; None if there are more than two.

    Args:
        words: words of a text in order.
        others: words of another.
    """
    one, two = ([at for at, word in enumerate(text) if word not in _LEFT_OUT] for text in (words, others))
    shortest, start, end = min(len(one), len(two)), 0, 0
    if max(len(one), len(two)) - shortest >= _LONGEST:
        return None
    while start < shortest and _is_same(words[one[start]], others[two[start]]):
        start += 1
    while end < shortest - start and _is_same(words[one[-1 - end]], others[two[-1 - end]]):
        end += 1
    first, second = one[start : len(one) - end], two[start : len(two) - end]
    return (first, second) if 0 < len(first) <= _LONGEST and 0 < len(second) <= _LONGEST else None


def _is_same(one: str, two: str) -> bool:
    return one == two or (len(stem(one)) > 2 and stem(one) == stem(two))


def _part(words: list[str], places: list[int]) -> _Part | None:
    """Return the verb at the first of some places, with its particle behind it or at the second place."""
    at = places[0]
    particle = words[places[1]] if len(places) == _LONGEST else next(iter(words[at + 1 : at + 2]), "")
    if particle not in PARTICLES:
        if len(places) == _LONGEST:
            return None
        particle = ""
    verb = find_verb(words[at], particle)
    if verb is None or verb.is_general:
        return None
    is_phrase = particle and words[at + 1] == particle and find_phrase(words[at], particle) is not None
    return _Part(words, at, at + (2 if is_phrase else 1), verb)


def _are_english(query: Reading, question: Reading) -> bool:
    """Return whether both texts are English, or have English words and one name: "merge cells in google sheets"."""
    if query.is_english and question.is_english:
        return True
    words = query.vocabulary | question.vocabulary
    if not words.isdisjoint(_OTHERS) or common_languages(query, question):
        return False
    return sum(word not in _LEFT_OUT and not is_listed(word) for word in words) <= 1


def _have_one_structure(one: _Part, two: _Part) -> bool:
    """Return whether two verbs have one subject, both are passive or none, and neither alone has a preposition.

    "Set up a direct debit" and "pay by direct debit" have two structures.
    """
    if is_passive(one.words, one.at) != is_passive(two.words, two.at) or _subject(one) != _subject(two):
        return False
    left, right = (part.words[part.end : part.end + 1] for part in (one, two))
    return left == right or _PREPOSITIONS.isdisjoint((*left, *right))


def _subject(part: _Part) -> str:
    """Return the person close before a verb: "we" is "I"; empty if there is none."""
    before = part.words[max(0, part.at - 3) : part.at]
    return next((_PERSONS[word] for word in reversed(before) if word in _PERSONS), "")


def _are_verbs(one: _Part, two: _Part) -> bool:
    """Return whether both words are verbs where they stand. At the start of keywords, a sure one is enough for both."""
    share = max(one.verb.share, two.verb.share) if one.at == two.at == 0 else None
    return all(is_verb_here(part.words, part.at, share or part.verb.share) for part in (one, two))
