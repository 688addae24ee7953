"""Known answers to prompts, for the adapters.

prompt -> known_answer -> Searcher.answer -> the answer and its hit, or None
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

from model.index.rows.row_filters import UnknownValueError
from model.search.results import Hit, Reason
from model.search.searcher import Searcher
from model.text.asked import is_short, is_text
from schemas.errors import UsageError


class Known(NamedTuple):
    """An answer of the index.

    Attributes:
        text: of the answer.
        hit: the question that has it.
        reason: permits the answer.
    """

    text: str
    hit: Hit
    reason: Reason


def checked_searcher(searcher: Searcher) -> Searcher:
    """Return the searcher of an adapter.

    Raises:
        UsageError: it is something else, such as the URL of an index.
    """
    if not callable(getattr(searcher, "answer", None)):
        raise UsageError(f"an adapter takes a Searcher, got {type(searcher).__name__}. Write open_searcher(url)")
    return searcher


def known_answer(searcher: Searcher, prompt: object, filters: Mapping[str, str] | None) -> Known | None:
    """Return the answer to a prompt; None where the searcher abstains, or the answer has no text.

    A value of a column that the index does not have, such as a new tenant, has no answers; neither has a prompt of over
    `model.text.asked.MAX_CHARACTERS`.

    Raises:
        UsageError: the prompt is not a str, or the filters lack a column of the index or name another one.
    """
    if not isinstance(prompt, str):
        raise UsageError(f"a prompt has to be a str, got {type(prompt).__name__}. Convert it to str")
    if not is_text(prompt) or not is_short(prompt):
        return None
    try:
        answer = searcher.answer(prompt, filters=filters)
    except UnknownValueError:
        return None
    if not answer.answered or answer.hit is None or answer.hit.answer is None:
        return None
    return Known(answer.hit.answer, answer.hit, answer.reason)
