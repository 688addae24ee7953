"""Questions given to a search by a program, checked.

arguments of Searcher -> checked_question, checked_questions -> texts
"""

from __future__ import annotations

import operator
from collections.abc import Iterable
from typing import Any, Final

import pyarrow as pa

from schemas.errors import UsageError
from schemas.text import normal_length

MAX_CHARACTERS: Final = 2000
"""Maximum characters of a question of another system, by default: the time of a search grows with their number."""


def checked_questions(questions: object, call: str) -> list[str]:
    """Return the questions given to ``<call>_many``.

    Raises:
        UsageError: they are one str, no sequence, or contain something else than text.
    """
    if isinstance(questions, pa.Array | pa.ChunkedArray):
        questions = questions.to_pylist()
    if isinstance(questions, str) or not isinstance(questions, Iterable):
        kind = type(questions).__name__
        raise UsageError(f"{call}_many takes a list of questions, got {kind}. Write {call}(question) for one")
    listed = list(questions)
    for number, question in enumerate(listed):
        if not isinstance(question, str):
            kind = type(question).__name__
            raise UsageError(f"{call}_many takes a list of str, item {number} is of type {kind}. Convert it to str")
        if not is_text(question):
            raise UsageError(f"item {number} is no text: it has a surrogate without its pair. Decode it from UTF-8")
    return listed


def checked_number(number: Any, name: str) -> int:
    """Return a whole number that was given as the argument ``name``.

    Raises:
        UsageError: it is of another type, such as a float.
    """
    try:
        return operator.index(number)
    except TypeError as error:
        raise UsageError(f"{name} takes a whole number, got {number!r}. Convert it to int") from error


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
