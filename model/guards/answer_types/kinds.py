"""Types that nouns ask for: "what is the price of", "which platform does", "opening hours town hall".

words behind "what", or keywords -> Kind
"""

from __future__ import annotations

from typing import Final, NamedTuple

from model.guards.answer_types.vocabulary import Types, asking_list, of_noun
from model.guards.entities.nouns import is_thing
from model.guards.lists import listed

_BE: Final = asking_list("be")
_ENDS_OF_NOUNS: Final = asking_list("no_head")
_DETERMINERS: Final = listed("determiners")
_NO_OBJECT: Final = asking_list("of_needs") | asking_list("of_opinion")
_AUXILIARIES: Final = asking_list("auxiliaries")
_INDEFINITE: Final = frozenset(("a", "an", "any", "some"))
_OF_SEVERAL: Final = asking_list("with_indefinite")
"""Types with more than one answer: "what are some symptoms", but "a good website" is any of many."""
_OF_CHOICE: Final = asking_list("of_choice")
_OF_BEST: Final = asking_list("with_best")
_GENERIC: Final = asking_list("generic")
_OF_KEYWORDS: Final = asking_list("of_keywords")
_OF_REQUESTS: Final = asking_list("of_requests")
_IN_OTHERS: Final = asking_list("in_other_languages")
_OF_MONEY: Final = asking_list("of_money_paid")
_IMPERATIVES: Final = asking_list("imperatives")
_NO_PURPOSE: Final = asking_list("before_for")
_NO_DEFINITION: Final = asking_list("of_choice") | asking_list("no_definition")
"""Words of which another thing is asked than what they are: "what is checkout", "what is last entry"."""
_HELPING: Final = asking_list("helping")
_CAUSES: Final = asking_list("causing")
_OF_SUMS: Final = frozenset(("amount", "come", "up"))
_ADVERBS: Final = frozenset(("actually", "exactly", "really"))
_MOST_KEYWORDS: Final = 8
_LONGEST_PART: Final = 5
_LONGEST_DEFINED: Final = 2


class Kind(NamedTuple):
    """Types of an answer.

    Attributes:
        types: the types, one of which is meant.
        nouns: the words that name them, empty where a question word alone does.
        places: places in the text of the words that ask and are no part of the thing.
        is_listed: the types are those of a listed word.
    """

    types: Types
    nouns: tuple[str, ...] = ()
    places: range = range(0)
    is_listed: bool = True


def ask_by_what(after: list[str], begin: int, *, can_be_subject: bool = True) -> Kind | None:
    """Return the kind that "what" or "which" asks for.

    Args:
        after: words behind it.
        begin: place of the first of them in the text.
        can_be_subject: no preposition stands before it.
    """
    if not after:
        return None
    if after[0] in _DETERMINERS and after[-1] in _OF_MONEY:  # "tell me what the ticket costs"
        return Kind(frozenset(("money",)))
    if after[0] in _BE or after[0] in _DETERMINERS:
        is_definite = _INDEFINITE.isdisjoint(after[:2])
        skipped = sum(1 for word in after[:2] if word in _BE or word in _DETERMINERS)
        kind = _of_property(after[skipped:], begin + skipped)
        return kind if kind and (is_definite or kind.types <= _OF_SEVERAL) else _of_definition(after)
    verb = 1 if after[0] in _ADVERBS else 0  # "what exactly makes it"
    if not _CAUSES.isdisjoint(after[verb : verb + 1]):
        return Kind(frozenset(("reason",)), places=range(begin, begin + verb + 1))
    if not _HELPING.isdisjoint(after[verb : verb + 1]):
        return Kind(frozenset(("treatment",)), places=range(begin, begin + verb + 1))
    if after[0] in _ENDS_OF_NOUNS:
        return _of_verb(after)
    part = _noun_part(after)
    if len(part) in (0, len(after)):  # "which countries", "what sells best"
        return None
    for end in range(len(part), 0, -1):  # "which platform serves Hull"
        types, length = of_noun(part[:end])
        if types:
            types = types | _beside(types, after[end], can_be_subject=can_be_subject)
            return Kind(types, tuple(part[end - length : end]), range(begin, begin + end))
    return Kind(frozenset(("thing",)), tuple(part), is_listed=False)


def _of_definition(after: list[str]) -> Kind | None:
    """Return the kind of "what is a smart meter" and "what is Vesak", where nothing else is asked."""
    thing = after[2:] if after[1:2] and after[1] in ("a", "an") else after[1:]
    if after[0] not in ("is", "are") or not 0 < len(thing) <= _LONGEST_DEFINED or not is_thing(thing[-1]):
        return None
    if not _NO_DEFINITION.isdisjoint(thing) or not _ENDS_OF_NOUNS.isdisjoint(thing) or of_noun(thing)[0]:
        return None
    return Kind(frozenset(("definition",)))


def _beside(types: Types, following: str, *, can_be_subject: bool) -> Types:
    """Return the types that an answer to "which" can have too: "which country won", "which areas do you deliver to"."""
    if "area" in types:
        return frozenset(("place",))
    is_subject = can_be_subject and (following in _BE or following not in _AUXILIARIES)
    return frozenset(("person_subject",)) if "place" in types and is_subject else frozenset()


def _of_verb(after: list[str]) -> Kind | None:
    """Return the kind of "what does it cost", "what did he write"."""
    if "do" not in after[1:] and not _OF_MONEY.isdisjoint(after[1:]):
        return Kind(frozenset(("money",)))
    if "weigh" in after:
        return Kind(frozenset(("weight",)))
    if not _CAUSES.isdisjoint(after[1:4]):
        return Kind(frozenset(("reason",)))
    if after[-1] == "to" and not _OF_SUMS.isdisjoint(after[-3:-1]):  # "what does it come to"
        return Kind(frozenset(("money", "amount", "quantity", "count")))
    if "mean" in after or "stand" in after:
        return Kind(frozenset(("meaning",)))
    if after[0] in ("do", "does", "did") and after[-1] not in ("for", "do") and _NO_OBJECT.isdisjoint(after[1:]):
        return Kind(frozenset(("object",)))
    return None


def _of_property(after: list[str], begin: int) -> Kind | None:
    """Return the kind of "what is the delivery fee for books", "what is Peru's population"."""
    if after[-2:] in (["made", "of"], ["made", "from"]):
        return Kind(frozenset(("material", "ingredients")))
    if after[-1:] == ["for"] and _NO_PURPOSE.isdisjoint(after[-2:]):
        return Kind(frozenset(("purpose",)))
    part = _noun_part(after)
    if not part:
        return None
    types, length = of_noun(part)
    end = len(part)
    if part[-1] in _GENERIC and end > 1:
        by_word, words = of_noun(part[:-1])
        if by_word and length < 2:  # "weight limit", unless the whole is listed
            types, length = by_word, words + 1
    if not types or (not _OF_CHOICE.isdisjoint(part) and types.isdisjoint(_OF_BEST)):
        return None
    is_followed = len(after) > end and after[end] not in _BE
    start = 0 if is_followed else end - length
    return Kind(types, tuple(part[end - length :]), range(begin + start, begin + end))


def _noun_part(words: list[str]) -> list[str]:
    """Return the words before the first function word that is no part of a listed noun: "terms and conditions"."""
    end = next((place for place, word in enumerate(words) if word in _ENDS_OF_NOUNS), len(words))
    if len(words) > end + 1 and of_noun(words[: end + 2])[1] > 2:
        end += 2
    return words[:end] if end <= _LONGEST_PART else []


def ask_by_keywords(words: list[str]) -> Kind | None:
    """Return the kind of a text without a question word: "price of a ticket", "town hall opening hours"."""
    begin = _begin_of_request(words)
    if words[:1] and words[0] in _IMPERATIVES:  # "change the amount" asks for the way
        return None
    if begin is None or len(words) - begin > _MOST_KEYWORDS:
        return None
    words = words[begin:]
    found = [
        (start, end)
        for end in range(1, len(words) + 1)
        if (length := of_noun(words[max(0, end - 3) : end])[1])
        for start in [end - length]
    ]
    whole = [pair for pair in found if not any(_contains(other, pair) for other in found)]
    first = next((end for start, end in whole if start == 0 or (start <= 2 and words[end : end + 1] == ["of"])), 0)
    whole = [pair for pair in whole if not first or pair[1] == first]  # "price of parking at terminal 2"
    if len(whole) != 1:
        return None
    start, end = whole[0]
    types, _ = of_noun(words[start:end])
    if end < len(words) and words[end] in _GENERIC:
        end += 1
    if start > 2 and end != len(words):
        return None
    nouns = tuple(words[start:end])
    is_before = start <= 2 and end < len(words)
    return Kind(types, nouns, range(begin + (0 if is_before else start), begin + end))


def _contains(one: tuple[int, int], two: tuple[int, int]) -> bool:
    return one != two and one[0] <= two[0] and two[1] <= one[1]


def _begin_of_request(words: list[str]) -> int | None:
    """Return the place behind "I need the" and "please give me the", 0 for keywords, None for any other text."""
    for place, word in enumerate(words[:8]):
        if word in _OF_REQUESTS and words[place + 1 : place + 2] in (["the"], ["your"]):
            return place + 2 if _are_keywords(words[place:]) else None
    return 0 if _are_keywords(words) else None


def _are_keywords(words: list[str]) -> bool:
    return all(word in _OF_KEYWORDS or word not in _ENDS_OF_NOUNS for word in words)


def is_english_noun(kind: Kind) -> bool:
    """Return whether the words that name the types are of no other language: "opening hours", not "distance"."""
    return any(word not in _IN_OTHERS and word.removesuffix("s") not in _IN_OTHERS for word in kind.nouns)
