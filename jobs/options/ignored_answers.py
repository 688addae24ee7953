"""The option of ``qpr clusters`` that leaves rows with a fallback answer out.

--ignore-answer TEXT or @FILE -> read_ignored -> answers, answer ids
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Annotated

import typer

from schemas.artifacts import storage
from schemas.errors import QprError, UsageError

IgnoreAnswer = Annotated[
    list[str] | None,
    typer.Option(
        metavar="TEXT",
        help="Reject rows with this answer or answer id, such as a fallback; @FILE: one a line. Repeatable.",
        rich_help_panel="Limits",
    ),
]


def read_ignored(given: Iterable[str]) -> tuple[str, ...]:
    """Return the answers and answer ids to ignore, sorted, each once.

    ``@`` marks a file: a text would change its meaning if a file of its name appeared in the folder.

    Args:
        given: each an answer, an answer id, or ``@`` and the URL of a UTF-8 file with one a line.

    Raises:
        UsageError: a text is blank.
        QprError: a file cannot be read, is not UTF-8 or holds no answer.
    """
    return tuple(sorted({answer for value in given for answer in _answers(value)}))


def _answers(value: str) -> Iterator[str]:
    if not value.startswith("@"):
        if not value.strip():
            raise UsageError("--ignore-answer is blank. Give an answer, an answer id or @FILE")
        yield value
        return
    url = value[1:]
    try:
        lines = [line.strip() for line in storage.read_bytes(url).decode("utf-8-sig").splitlines()]
    except UnicodeDecodeError as error:
        raise QprError(
            f"{url}: --ignore-answer reads UTF-8, and this file is not ({error.reason}). Convert it"
        ) from error
    if not any(lines):
        raise QprError(f"{url}: holds no answer to ignore. Give one a line")
    yield from filter(None, lines)
