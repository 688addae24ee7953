"""Scripts of questions: the most frequent one of a question's letters.

QUESTIONS with their clusters -> script_counts -> counters
"""

from __future__ import annotations

import unicodedata
from typing import Final

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from schemas.words import words

SCRIPTS: Final = (
    "latin", "cyrillic", "greek", "armenian", "georgian", "hebrew", "arabic", "ethiopic", "devanagari", "bengali",
    "gurmukhi", "gujarati", "tamil", "telugu", "kannada", "malayalam", "sinhala", "thai", "lao", "khmer", "burmese",
    "tibetan", "javanese", "balinese", "han", "kana", "hangul", "other", "none",
)  # fmt: skip
"""Names of scripts in counters; `OTHER` stands for all further ones, `NO_LETTER` for questions without a letter."""

NO_LETTER: Final = "none"

OTHER: Final = "other"

PREFIX: Final = "script_"
"""Beginning of the counters of `script_counts`."""

LONG: Final = 12
"""Minimum number of characters of a question of one word that may be several, as in a script without spaces."""

_NUMBER: Final = {name: number for number, name in enumerate(SCRIPTS)}
_NAMED_OTHERWISE: Final = {"cjk": "han", "hiragana": "kana", "katakana": "kana", "myanmar": "burmese"}
_ROWS: Final = 1 << 16
"""Number of questions whose letters are counted together; bounds memory."""


def script_counts(questions: pa.Table) -> dict[str, int]:
    """Return for each script the numbers of questions in a cluster, in none and of one long word, as counters.

    Args:
        questions: QUESTIONS with their clusters.
    """
    keys, cluster_ids = questions["key"].combine_chunks(), questions["cluster_id"]
    kept = pc.is_valid(cluster_ids).to_numpy()
    scripts = np.concatenate([np.zeros(0, np.int64), *(_scripts(part) for part in _parts(keys))])
    uncut = np.bincount(scripts[_uncut_rows(keys)], minlength=len(SCRIPTS))
    counts = np.bincount(scripts * 2 + kept, minlength=2 * len(SCRIPTS)).reshape(-1, 2)
    outcomes = ("rejected", "kept")
    return {
        f"{PREFIX}{SCRIPTS[script]}_{outcomes[outcome]}": int(counts[script, outcome])
        for script in np.flatnonzero(counts.any(axis=1))
        for outcome in (1, 0)
    } | {f"{PREFIX}{SCRIPTS[script]}_uncut": int(uncut[script]) for script in np.flatnonzero(uncut)}


def _uncut_rows(keys: pa.Array) -> np.ndarray:
    """Return the rows of keys that are one word of at least `LONG` characters, not all in ASCII."""
    long = pc.match_substring_regex(keys, rf"^\S{{{LONG},}}$")
    rows = np.flatnonzero(pc.and_(long, pc.invert(pc.string_is_ascii(keys))).to_numpy(zero_copy_only=False))
    is_uncut = [len(words(key)) == 1 for key in keys.take(pa.array(rows)).to_pylist()]
    uncut: np.ndarray = rows[np.array(is_uncut, bool)]
    return uncut


def _parts(keys: pa.Array) -> list[pa.Array]:
    return [keys.slice(start, _ROWS) for start in range(0, len(keys), _ROWS)]


def _scripts(keys: pa.Array) -> np.ndarray:
    """Return the place in `SCRIPTS` of the script of each key; of equally frequent ones the first."""
    has_latin = pc.match_substring_regex(keys, "[A-Za-z]").to_numpy(zero_copy_only=False)
    scripts = np.where(has_latin, _NUMBER["latin"], _NUMBER[NO_LETTER])
    others = np.flatnonzero(~pc.string_is_ascii(keys).to_numpy(zero_copy_only=False))
    if len(others):
        scripts[others] = _most_frequent(keys.take(pa.array(others)).to_pylist())
    return scripts


def _most_frequent(keys: list[str]) -> np.ndarray:
    codes = np.frombuffer("".join(keys).encode("utf-32-le"), "<u4")
    row = np.repeat(np.arange(len(keys)), [len(key) for key in keys])
    distinct, place = np.unique(codes, return_inverse=True)
    script = np.array([_script(chr(code)) for code in distinct], np.int64)[place]
    counts = np.bincount(row * len(SCRIPTS) + script, minlength=len(keys) * len(SCRIPTS)).reshape(-1, len(SCRIPTS))
    counts[:, _NUMBER[NO_LETTER]] = 0
    return np.where(counts.any(axis=1), counts.argmax(axis=1), _NUMBER[NO_LETTER])


def _script(character: str) -> int:
    if not character.isalpha():
        return _NUMBER[NO_LETTER]
    first = (
        unicodedata.name(character, "").replace("-", " ").split(" ")[0].lower()
    )  # Python has no table of scripts, but names
    return _NUMBER.get(_NAMED_OTHERWISE.get(first, first), _NUMBER[OTHER])
