"""Nouns of English: which words name a thing of their own, and which of them can name the same one.

nouns.parquet -> lexicon -> is_thing, are_related

The table is made from WordNet 3.0 (Princeton University, `WORDNET.txt`; Miller 1995) and from `nouns.json` by
`benchmarks.certificates.make_nouns`. A word that it does not have is the name of a thing: most names are in no list.
"""

from __future__ import annotations

import functools
from collections.abc import Iterator, Sequence
from importlib import resources
from typing import Final, NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

_ENDINGS: Final = (
    ("s", ""), ("es", ""), ("ies", "y"), ("ed", ""), ("ed", "e"), ("ing", ""), ("ing", "e"), ("er", ""), ("er", "e"),
    ("est", ""), ("est", "e"), ("ly", ""), ("d", ""), ("ily", "y"), ("ier", "y"), ("iest", "y"), ("men", "man"),
    ("ves", "f"),
)  # fmt: skip
"""Endings of English words, each with what stands in its place in the form of a dictionary."""
_DOUBLING: Final = frozenset(("ed", "ing", "er", "est"))
"""Endings before which a consonant is doubled: "stopped"."""
_SHORTEST: Final = 2


class _Lexicon(NamedTuple):
    """The table.

    Attributes:
        words: (W,) words in ASCII, ascending.
        things: (W,) whether a word names a thing of its own.
        senses: meanings of each word.
        broader: meanings of other words that are broader than one of its own.
    """

    words: np.ndarray
    things: np.ndarray
    senses: pa.ListArray
    broader: pa.ListArray


class _Entry(NamedTuple):
    is_thing: bool
    senses: frozenset[int]
    broader: frozenset[int]


_UNLISTED: Final = _Entry(is_thing=True, senses=frozenset(), broader=frozenset())


def is_thing(word: str) -> bool:
    """Return whether a word in lower case names a thing of its own: "laptop" and "Zorvak", not "use", "way" or "sell".

    A word of which no form is in the table does. A word with a digit or sign does not.
    """
    return word.isalpha() and len(word) >= _SHORTEST and _entry(word).is_thing


def is_listed(word: str) -> bool:
    """Return whether a form of a word in lower case is in the table."""
    return _entry(word) is not _UNLISTED


def is_phrase(words: Sequence[str]) -> bool:
    """Return whether words in lower case are the listed name of one thing together: "sour cream", "driving licence"."""
    return len(words) > 1 and (entry := _entry("_".join(words))).is_thing and entry is not _UNLISTED


def are_related(one: str, two: str) -> bool:
    """Return whether two words in lower case can name the same thing: synonyms, or one is a kind of the other."""
    first, second = _entry(one), _entry(two)
    common = first.senses & second.senses or first.senses & second.broader or first.broader & second.senses
    return bool(common)


@functools.lru_cache(maxsize=4_096)
def _entry(word: str) -> _Entry:
    table = _lexicon()
    for form in forms(word):
        place = int(np.searchsorted(table.words, form.encode()))
        if place < len(table.words) and table.words[place] == form.encode():
            senses, broader = (frozenset(column[place].as_py()) for column in (table.senses, table.broader))
            return _Entry(bool(table.things[place]), senses, broader)
    return _UNLISTED


def forms(word: str) -> Iterator[str]:
    """Yield a word and the forms that a dictionary may have in its place: "stopped", "stopp", "stop", "stoppe"."""
    yield word
    for ending, other in _ENDINGS:
        if not word.endswith(ending) or len(word) - len(ending) < _SHORTEST:
            continue
        form = word[: -len(ending)] + other
        yield form
        if ending in _DOUBLING and not other and form[-1] == form[-2]:
            yield form[:-1]


@functools.cache
def _lexicon() -> _Lexicon:
    with resources.files(__package__).joinpath("nouns.parquet").open("rb") as file:
        table = pq.ParquetFile(file, pre_buffer=False).read(use_threads=False).combine_chunks()  # 13 MB less
    words, things, senses, broader = (table[name].chunk(0) for name in ("word", "is_thing", "senses", "broader"))
    return _Lexicon(
        np.array([word.encode() for word in words.to_pylist()]), things.to_numpy(zero_copy_only=False), senses, broader
    )
