"""Small logs in several scripts, to learn linkage from: questions of Quora and of templates, spelled in other letters.

clusters of texts, seed -> small_logs -> KnownLog

The letters of English questions are replaced by those of another script, with and without spaces between words. The
result means nothing, but its words and the characters that two wordings share are cut as in that script.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Final

import numpy as np

from benchmarks.logs.cluster_sources import Source
from benchmarks.logs.known_logs import KnownLog, of_clusters
from benchmarks.logs.learning_logs import learning_log

CLUSTERS: Final = 50
"""Number of clusters of a small log; every second one shares the answer of another."""

LOGS_A_SCRIPT: Final = 3
WORDINGS: Final = 4
_LETTERS: Final = "abcdefghijklmnopqrstuvwxyz"


def _shifted(first: str, *, spaced: bool) -> Callable[[str], str]:
    """Return a function that replaces each letter by that of a script which begins at ``first``."""
    table = {ord(letter): chr(ord(first) + place) for place, letter in enumerate(_LETTERS)}
    return lambda text: (text if spaced else text.replace(" ", "")).lower().translate(table)


def _in_pairs(first: str, step: int, *, spaced: bool) -> Callable[[str], str]:
    """Return a function that replaces each two letters of a word by one character of a script of syllables."""

    def spell(text: str) -> str:
        words = ("".join(filter(str.isalnum, word)) for word in text.lower().split())
        return (" " if spaced else "").join(map(of_word, words))

    def of_word(word: str) -> str:
        codes = [26 * (ord(a) % 26) + ord(b) % 26 for a, b in zip(word[::2], f"{word[1::2]}a", strict=False)]
        return "".join(chr(ord(first) + step * code) for code in codes)

    return spell


SCRIPTS: Final[dict[str, Callable[[str], str]]] = {
    "latin": lambda text: text,
    "cyrillic": _shifted("а", spaced=True),
    "devanagari": _shifted("क", spaced=True),
    "thai": _shifted("ก", spaced=False),
    "hangul": _in_pairs("가", 16, spaced=True),
    "han": _in_pairs("一", 7, spaced=False),
}
"""Spelling of an English text by script."""


def small_logs(source: Source, *, seed: int) -> Iterator[KnownLog]:
    """Yield small logs of Quora's clusters and of generated ones in each script.

    Args:
        source: clusters to draw from.
        seed: of all choices.
    """
    generator = np.random.default_rng(seed)
    texts = source.texts.to_pylist()
    asked = [[texts[row] for row in rows[:WORDINGS]] for rows in source.clusters if len(rows) >= WORDINGS]
    templates = list(_clusters_of(learning_log("values", seed=seed)))
    for script, spell in SCRIPTS.items():
        for number in range(LOGS_A_SCRIPT):
            for kind, clusters in (("asked", asked), ("templates", templates)):
                yield _log(f"small-{kind}-{script}-{number}", clusters, spell, generator)


def _clusters_of(log: KnownLog) -> Iterator[list[str]]:
    texts: dict[int, list[str]] = {}
    for (question, _), judged in zip(log.rows, log.judged, strict=True):
        texts.setdefault(judged.group, []).append(question)
    yield from (wordings for wordings in texts.values() if len(wordings) >= WORDINGS - 1)


def _log(
    name: str, clusters: Sequence[list[str]], spell: Callable[[str], str], generator: np.random.Generator
) -> KnownLog:
    """Return a log of drawn clusters, near ones in the given order too, so that some differ in one value."""
    first = int(generator.integers(max(len(clusters) - CLUSTERS // 2, 1)))
    near = list(range(first, min(first + CLUSTERS // 2, len(clusters))))
    drawn = [i for i in generator.permutation(len(clusters)).tolist() if i not in near][: CLUSTERS - len(near)]
    chosen = [*near, *drawn]
    answer_of: dict[int, int] = {}
    for place in range(len(chosen)):
        answer_of.setdefault(place, place)
        answer_of.setdefault((place + CLUSTERS // 2 + 2) % len(chosen), place)
    named = [
        (f"{name} answer {answer_of[place]}", place, list(dict.fromkeys(map(spell, clusters[number]))))
        for place, number in enumerate(chosen)
    ]
    return of_clusters(name, named)
