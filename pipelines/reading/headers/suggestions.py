"""Suggestions for columns that a file has under another name, from names and values.

missing columns, some values of each column -> suggest_columns -> our name -> the file's
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from typing import Final

from pipelines.reading.headers.column_words import COLUMN_WORDS, IDENTIFIER_WORDS

SAMPLE_ROWS: Final = 100
"""Number of rows from which columns are suggested."""

_WORD: Final = re.compile(r"[^\W\d_]+")
_HUMP: Final = re.compile(r"(?<=[a-z])(?=[A-Z])")
_ISO_DATE: Final = re.compile(r"\s*\d{4}-\d{2}-\d{2}([T ]\d{2}:\d{2}.*)?")
_JSON: Final = re.compile(r'\s*(\{\s*"|\[\s*[\[{"])')
_LOCALE: Final = re.compile(r"[a-z]{2,3}([-_][A-Za-z]{2,4})?")
_QUESTION_MARKS: Final = ("?", "？", "؟")
_MIN_SHARE: Final = 0.2
"""Minimum share of values with a question mark in a column of questions; many users leave the mark out."""

_TAG: Final = re.compile(r"</?\w[^<>]*>")
_MIN_COPIES: Final = 0.5
"""Minimum share of the values of a column that are those of the column of questions, so that it has no answers."""

_TEXTS: Final = ("question", "answer")
_MIN_WORD: Final = 3  # characters; a shorter word, such as "at" or "a", has to be the whole name
_MIN_ENDING: Final = 5  # characters of a known word that ends a longer one, such as Kundenfrage


def suggest_columns(missing: Sequence[str], sample: Mapping[str, Sequence[str]]) -> dict[str, str]:
    """Return the file's most probable column for each of ``missing``; one without any evidence is left out.

    Names decide before values; no column is suggested twice.

    Args:
        missing: our names of columns.
        sample: some values, none blank, of each unused column of the file.
    """
    suggested: dict[str, str] = {}
    sample = {name: values for name, values in sample.items() if not values or not all(map(is_json, values))}
    for score in (_score_name, _score_values, _score_length):
        for ours in missing:
            if ours not in suggested:
                free = {theirs: values for theirs, values in sample.items() if theirs not in suggested.values()}
                if ours in _TEXTS:
                    chosen = [sample[suggested[other]] for other in _TEXTS if other in suggested]
                    free = {name: some for name, some in free.items() if not any(_is_copy(some, of) for of in chosen)}
                scores = {theirs: score(ours, theirs, values) for theirs, values in free.items()}
                best = max(scores, key=scores.__getitem__, default="")  # of equals the first in the file
                suggested |= {ours: best} if scores.get(best) else {}
    return suggested


def is_json(value: str) -> bool:
    """Return whether a text seems to be an object or a list of JSON."""
    return _JSON.match(value) is not None


def _score_name(ours: str, theirs: str, values: Sequence[str]) -> float:
    """Return nearly 2 for a listed name, nearly 1 for a name with a listed word, else 0."""
    listed = COLUMN_WORDS.get(ours, (ours,))
    words = [word.lower() for word in _WORD.findall(_HUMP.sub(" ", theirs))]
    wholes = {theirs.strip().lower(), "".join(words), "_".join(words)}
    is_text = (
        ours in _TEXTS and not IDENTIFIER_WORDS.intersection(words) and not (ours == "question" and _is_no_text(values))
    )
    for rank, name in enumerate(listed):
        if name in wholes:
            return 2 - rank / 100
    for rank, name in enumerate(listed):
        if (is_text or ours not in _TEXTS) and any(_holds(word, name) for word in words):
            return 1 - rank / 100
    return 0


def _holds(word: str, listed: str) -> bool:
    if _is_cjk(listed):
        return listed in word  # such languages are written without spaces
    return len(listed) >= _MIN_WORD and (word == listed or (len(listed) >= _MIN_ENDING and word.endswith(listed)))


def _score_values(ours: str, theirs: str, values: Sequence[str]) -> float:
    """Return a score of the values as a column, 0 without evidence."""
    if not values:
        return 0
    match ours:
        case "question":
            asked = _share(values, lambda value: _bare(value).endswith(_QUESTION_MARKS))
            return asked if asked >= _MIN_SHARE and not _is_no_text(values) else 0
        case "answer":
            return _score_length(ours, theirs, values)
        case "timestamp":
            return float(_share(values, lambda value: bool(_ISO_DATE.fullmatch(value))) == 1)
        case "confidence":
            return float(_share(values, _is_share) == 1)
        case "locale":
            return float(_share(values, lambda value: bool(_LOCALE.fullmatch(value))) == 1)
        case _:
            return 0


def _score_length(ours: str, theirs: str, values: Sequence[str]) -> float:
    """Return the mean length of texts, the last evidence if names and values show nothing."""
    del theirs
    return sum(map(len, values)) / len(values) if ours in _TEXTS and values and not _is_no_text(values) else 0


def _is_no_text(values: Sequence[str]) -> bool:
    """Return True if most values have no space between two words, as ids, labels, times and URLs."""
    return bool(values) and _share(values, _is_text) < _MIN_SHARE


def _is_text(value: str) -> bool:
    if is_json(value) or _ISO_DATE.fullmatch(value):
        return False
    return _is_cjk(value) or sum(map(bool, map(_WORD.search, value.split()))) > 1


def _is_copy(values: Sequence[str], of: Sequence[str]) -> bool:
    """Return True if at least half of the values are those of another column, such as a text with and without HTML.

    A question is hardly ever the answer to one.
    """
    others = set(map(_bare, of))
    return bool(values) and _share(values, lambda value: _bare(value) in others) >= _MIN_COPIES


def _bare(value: str) -> str:
    """Return a text without tags and white space."""
    return "".join(_TAG.sub("", value).split())


def _is_cjk(text: str) -> bool:
    return any("\u3040" <= character <= "\u9fff" or "\uac00" <= character <= "\ud7a3" for character in text)


def _is_share(value: str) -> bool:
    try:
        return 0 <= float(value.replace(",", ".")) <= 1
    except ValueError:
        return False


def _share(values: Sequence[str], holds: Callable[[str], bool]) -> float:
    return sum(map(holds, values)) / len(values)
