"""Roles that are exchanged between two English texts, after a quick first test of the order of their words.

Reading -> stems in order -> parts -> exchange

Five kinds of exchange, for texts whose other words may differ a little:

- two parts around the same verb: "my neighbour reported me" and "I reported my neighbour", "I have my wife's card" and
  "my wife has my card", where "my" before a word that has it in both texts is left out;
- the side that is asked for: "who do I follow" and "who follows me";
- an owner and what it owns: "my boss's friend" and "my friend's boss";
- two words wherever they stand (`model.guards.roles.renaming`): "the buyer can leave if the seller dies";
- two clauses, or the sides of a comparison whose reason or degree is asked for.
"""

from __future__ import annotations

from collections.abc import Set
from typing import Final

from model.guards.reading import Reading, stem
from model.guards.roles.clauses import clauses_exchanged, comparison_exchanged
from model.guards.roles.owners import owners_exchanged
from model.guards.roles.parts import (
    DETERMINERS,
    DROPPED,
    HAVING,
    OBJECTS,
    POSSESSIVES,
    PREPOSITIONS,
    base,
    is_participle,
    owned_words,
    parts_of,
    passives,
)
from model.guards.roles.questions import asked_exchanged
from model.guards.roles.renaming import words_renamed
from model.guards.roles.sides import sides_exchanged

_ROLELESS: Final = DROPPED | PREPOSITIONS | (POSSESSIVES - OBJECTS)
_LEAST_SHARED: Final = 2


def roles_exchanged(query: Reading, question: Reading) -> bool:
    """Return whether sides of a verb, comparison or question, two clauses or an owner are exchanged. Symmetric.

    Args:
        query: an English text.
        question: another one that shares most of its words.
    """
    ours, theirs = owned_words(query), owned_words(question)
    if owners_exchanged(query, question) or words_renamed(query, question) or clauses_exchanged(query, question):
        return True
    turns = _turns(query, question, ours & theirs if ours != theirs else None)
    if not turns:
        return False
    first, second = (parts_of(text, ours & theirs) for text in (query, question))
    if turns > 1:
        passive = passives(query) ^ passives(question)
        if sides_exchanged(first, second, passive):
            return True
        if ours != theirs:
            one, two = (parts_of(text, ours | theirs) for text in (query, question))
            if sides_exchanged(one, two, passive):
                return True
    return (
        asked_exchanged(query, question, first, second)
        or asked_exchanged(question, query, second, first)
        or comparison_exchanged(query, question, first, second)
    )


def _turns(query: Reading, question: Reading, owned: Set[tuple[str, str]] | None) -> int:
    """Return 0 if no two parts can be exchanged, 1 if two alone, 2 if with a verb between; a quick first test."""
    first, second = _keys(query, owned), _keys(question, owned)
    shared = set(first) & set(second)
    if len(shared) < _LEAST_SHARED:
        return 0
    one, two = ([key for key in keys if key in shared] for keys in (first, second))
    if _is_passive(query) or _is_passive(question):
        return 2
    if one == two:
        return 0
    if len(shared) > _LEAST_SHARED and _longest_common(one, two[::-1]) > _LEAST_SHARED:
        return 2
    return int(len(one) == len(first) == len(two) == len(second))


def _is_passive(reading: Reading) -> bool:
    if "by" not in reading.vocabulary:
        return False
    at = reading.words.index("by")
    return any(is_participle(word) for word in reading.words[max(0, at - 2) : at])


def _longest_common(one: list[str], two: list[str]) -> int:
    """Return the length of the longest common subsequence."""
    row = [0] * (len(two) + 1)
    for left in one:
        diagonal = 0
        for at, right in enumerate(two, 1):
            above = row[at]
            row[at] = diagonal + 1 if left == right else max(above, row[at - 1])
            diagonal = above
    return row[-1]


def _keys(reading: Reading, owned: Set[tuple[str, str]] | None) -> list[str]:
    """Return the stems of words with a role in order, with those possessives that are not owned by both texts."""
    if owned is None:
        return [base(word) for word in reading.words if word not in _ROLELESS]
    pairs = zip(reading.words, [*reading.words[1:], ""], strict=True)
    return [
        base(word)
        for word, following in pairs
        if word not in _ROLELESS
        or (word in POSSESSIVES and (base(word), stem(following)) not in owned)
        or (word in HAVING and following in DETERMINERS)
    ]
