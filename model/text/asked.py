"""Arguments given by a program to an encoder or a search, checked: questions, numbers, ids of questions.

list, generator or column of questions -> checked_texts -> texts, or an Arrow column of them
"""

from __future__ import annotations

import operator
from collections.abc import Iterable, Mapping
from typing import Any, Final

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from schemas.arrays import Int64s
from schemas.errors import UsageError
from schemas.quantities import counted
from schemas.text import normal_length

MAX_CHARACTERS: Final = 2000
"""Maximum characters of a question of another system, by default: the time of a search grows with their number."""

_TEXTS: Final = (pa.types.is_string, pa.types.is_large_string, pa.types.is_string_view)

_ADVICE: Final = {type(None): "Leave it out", bytes: "Decode it"}
"""Advice about items that ``str`` converts to another text than the question."""


def checked_texts(questions: object, call: str, example: str) -> pa.Array | pa.ChunkedArray | list[str]:
    """Return several questions given to ``call``: an Arrow column of texts as it is, everything else as a list.

    Every iterable of str is taken, also a generator and a column of NumPy, pandas or polars. A dict is not, whose keys
    would be taken, nor is anything with a null: it has no vector and no hits.

    Args:
        questions: the argument.
        call: name of the function.
        example: how to call it, or another one, for one question.

    Raises:
        UsageError: they are one text, or no such iterable, or contain something else than text.
    """
    if isinstance(questions, pa.Array | pa.ChunkedArray):
        if not questions.null_count and _holds_text(questions.type):
            return questions
        questions = questions.to_pylist()
    if isinstance(questions, str | bytes | Mapping) or not isinstance(questions, Iterable):
        raise UsageError(f"{call} takes a list of questions, got {type(questions).__name__}. Write {example} for one")
    if (dimensions := getattr(questions, "ndim", 1)) != 1:  # the items of a DataFrame are the names of its columns
        shape = f"{type(questions).__name__} of {counted(dimensions, 'dimension')}"
        raise UsageError(f"{call} takes a list of questions, got {shape}. Give one column")
    listed = list(questions)
    for number, question in enumerate(listed):
        if not isinstance(question, str):
            kind, advice = type(question).__name__, _ADVICE.get(type(question), "Convert it to str")
            raise UsageError(f"{call} takes a list of str, item {number} is of type {kind}. {advice}")
        if not is_text(question):
            raise UsageError(f"item {number} is no text: it has a surrogate without its pair. Decode it from UTF-8")
    return [*map(str.__str__, listed)]  # of NumPy's type for texts, and of an enum's, the text alone


def checked_questions(questions: object, call: str, example: str) -> list[str]:
    """Return the same as `checked_texts` as a list."""
    texts = checked_texts(questions, call, example)
    return texts if isinstance(texts, list) else texts.to_pylist()


def checked_question(question: object, call: str) -> str:
    """Return the question given to ``call``.

    Raises:
        UsageError: it is not a str, or no text.
    """
    if not isinstance(question, str):
        kind = type(question).__name__
        raise UsageError(f"{call} takes one question as a str, got {kind}. Write {call}_many([...]) for several")
    if not is_text(question):
        raise UsageError("the question is no text: it has a surrogate without its pair. Decode it from UTF-8")
    return question


def checked_number(number: Any, name: str) -> int:
    """Return a whole number that was given as the argument ``name``.

    Raises:
        UsageError: it is of another type, such as a float.
    """
    try:
        return operator.index(number)
    except TypeError as error:
        raise UsageError(f"{name} takes a whole number, got {number!r}. Convert it to int") from error


def checked_names(names: object, name: str) -> frozenset[str]:
    """Return the texts, such as ids of answers, that were given as the argument ``name``.

    Raises:
        UsageError: they are one text, or no iterable of str.
    """
    if isinstance(names, str | bytes | Mapping) or not isinstance(names, Iterable):
        raise UsageError(f"{name} takes a set of str, got {type(names).__name__}. Put it into a set")
    listed = list(names)
    for each in listed:
        if not isinstance(each, str):
            raise UsageError(f"{name} takes a set of str, got {each!r} in it. Convert it to str")
    return frozenset(listed)


def checked_ids(ids: Any, *, count: int) -> Int64s:
    """Return ids of questions that were given as the argument ``exclude``, (count,).

    Raises:
        UsageError: they are as many as another number, or no whole numbers of 64 bits. A float has lost some of an id.
    """
    try:
        given = np.asarray(ids)
    except ValueError:  # lists of different lengths
        given = np.empty((), object)
    if given.shape == (count,) == (0,):
        return np.empty(0, np.int64)
    if given.shape != (count,) or given.dtype.kind not in "iu" or int(given.max()) >= 2**63:
        expected = f"an array of {counted(count, 'whole number')}, the id of one question for each text"
        raise UsageError(f"exclude takes {expected}, got {_described(ids, given)}. Give -1 for a text without one")
    return given.astype(np.int64)


def _described(value: object, array: npt.NDArray[Any]) -> str:
    """Return the type of a value; of an array also its numbers' type and its shape."""
    kind = type(value).__name__
    return f"{kind} of {array.dtype} in the shape {array.shape}" if array.ndim else kind


def is_text(question: str) -> bool:
    """Return whether a str has no surrogate without its pair, so that it can be written in UTF-8."""
    try:
        question.encode()
    except UnicodeEncodeError:
        return False
    return True


def is_short(question: str, most: int = MAX_CHARACTERS) -> bool:
    """Return whether a question has few enough characters, also in NFKC, which decides the time of its search."""
    return len(question) <= most and normal_length(question) <= most


def _holds_text(kind: pa.DataType) -> bool:
    return any(is_kind(kind.value_type if pa.types.is_dictionary(kind) else kind) for is_kind in _TEXTS)
