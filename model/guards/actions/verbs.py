"""Verbs of English: which words can be one, and which of them can name the same action.

verbs.parquet -> table -> find_verb -> are_related

The table is made from WordNet 3.0 (Princeton University; Miller 1995) and from `verbs.json` by
`benchmarks.certificates.make_verbs`. A word that it does not have is no verb.
"""

from __future__ import annotations

import functools
from collections.abc import Iterator
from importlib import resources
from typing import Final, NamedTuple

import pyarrow.parquet as pq

from model.guards.lists import listed, read_json

PARTICLES: Final = listed("particles_of_verbs")
"""Words behind a verb that can change its meaning: "look up", "apply for"."""
_OF_PARTICLES: Final = frozenset(["apart", "away", "back", "down", "off", "out", "over", "up", "together"])


class Verb(NamedTuple):
    """A verb, or a verb and its particle.

    Attributes:
        bases: bases that its form may belong to: "find" and "found" of "found".
        share: share of the verb among the uses of the word, 0 to 1.
        meanings: its meanings, by number.
        related: meanings that are broader than its own or linked to them.
        others: lines of verbs that differ, such as "boil" and "fry", in which the verb is.
        is_general: whether it stands for many others, such as "do" and "get".
    """

    bases: frozenset[str]
    share: float
    meanings: frozenset[int]
    related: frozenset[int]
    others: frozenset[int]
    is_general: bool


_ENDINGS: Final = (
    ("s", ""),
    ("es", ""),
    ("ies", "y"),
    ("ied", "y"),
    ("ed", ""),
    ("ed", "e"),
    ("ing", ""),
    ("ing", "e"),
)
"""Endings of verbs, each with what stands in its place in the base: "copied" is "copy"."""


class _Row(NamedTuple):
    base: str | None
    share: float | None
    meanings: list[int]
    related: list[int]


def are_related(one: Verb, two: Verb) -> bool:
    """Return whether two verbs can name the same action: synonyms, or one is a kind or cause of the other."""
    if one.bases & two.bases:
        return True
    if one.others & two.others:
        return False
    return bool(one.meanings & two.meanings or one.meanings & two.related or one.related & two.meanings)


def find_verb(word: str, particle: str = "") -> Verb | None:
    """Return the verb that a word in lower case can be, or None.

    Args:
        word: any form of a verb: "picked".
        particle: the word that belongs to it: "up"; empty if there is none. Where both together are no listed verb, the
            meanings are those of the word, if the particle adds little: "apply" of "apply at". A general verb, and one
            with an adverb as particle that is not listed, has none.
    """
    verb, phrase = _verb(word), _verb(word, particle) if particle else None
    if phrase is None:
        is_left_open = verb is not None and particle in _OF_PARTICLES
        return verb._replace(is_general=True) if verb and is_left_open else verb
    if verb is None:
        return phrase
    if verb.is_general and particle not in _OF_PARTICLES:
        return verb
    return phrase._replace(meanings=verb.meanings | phrase.meanings, related=verb.related | phrase.related)


def find_phrase(word: str, particle: str) -> Verb | None:
    """Return the verb that a word and its particle are together: "pick up"; None if they are not listed."""
    return _verb(word, particle)


def is_gerund(word: str) -> bool:
    """Return whether a word ends in -ing and is no verb itself, unlike "bring"."""
    return word.endswith("ing") and (word not in _table() or _table()[word].share is None)


def is_participle(word: str) -> bool:
    """Return whether a word is an irregular form of a verb, or ends like a regular one."""
    return word.endswith("ed") or (not word.endswith("ing") and word in _table() and _table()[word].base is not None)


@functools.lru_cache(maxsize=4_096)
def _verb(word: str, particle: str = "") -> Verb | None:
    table, ending = _table(), f"_{particle}" if particle else ""
    base = table[word].base if word in table else None
    candidates = dict.fromkeys((*_bases(word), base or word))
    found = [form for form in candidates if form + ending in table and table[form + ending].share is not None]
    if not found:
        return None
    rows = [table[form + ending] for form in found]
    general, different = _lists()
    return Verb(
        bases=frozenset(found),
        share=max(row.share for row in rows if row.share is not None),
        meanings=frozenset(number for row in rows for number in row.meanings),
        related=frozenset(number for row in rows for number in row.related),
        others=frozenset(number for number, line in enumerate(different) if not line.isdisjoint(found)),
        is_general=not particle and not general.isdisjoint(found),
    )


def _bases(word: str) -> Iterator[str]:
    """Yield a word and the bases that it may be a regular form of: "stopped", "stopp", "stop", "stoppe"."""
    yield word
    for ending, other in _ENDINGS:
        base = word.removesuffix(ending) + other
        if word.endswith(ending) and len(base) > 1:
            yield base
            if not other and len(ending) > 1 and base[-1] == base[-2]:
                yield base[:-1]


@functools.cache
def _lists() -> tuple[frozenset[str], list[frozenset[str]]]:
    """Return general verbs, and lists of verbs that differ although WordNet relates them."""
    lists = read_json(__package__, "verbs.json")
    return frozenset(" ".join(lists["general"]).split()), [frozenset(line.split()) for line in lists["different"]]


@functools.cache
def _table() -> dict[str, _Row]:
    with resources.files(__package__).joinpath("verbs.parquet").open("rb") as file:
        table = pq.ParquetFile(file, pre_buffer=False).read(use_threads=False)
    columns = [table[name].to_pylist() for name in ("word", "base", "share_of_verb", "meanings", "related")]
    return {word: _Row(*cells) for word, *cells in zip(*columns, strict=True)}
