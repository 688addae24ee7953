"""``qpr search``: the questions of an index most similar to each given question.

arguments or lines of stdin -> Index.search_many -> a table or a JSON object a question
"""

from __future__ import annotations

import dataclasses
import itertools
import json
import shlex
import sys
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, Annotated, Any

import rich.table
import typer

from jobs.display.console import results, say, warn
from jobs.display.help import Command
from jobs.display.json_ids import with_text_ids
from jobs.display.text_input import question_arguments, question_lines
from schemas.errors import UsageError

if TYPE_CHECKING:
    from model.index.hits import Hit

BATCH = 256
"""Lines of stdin searched together; one at a time if typed."""

HITS = 1_000_000
"""Maximum hits of the questions searched together, which bounds the memory of a large ``--k``."""


WRONG_USAGE: type[Exception] = typer.BadParameter.__mro__[1]
"""Click's base error of wrong usage; some versions of typer have their own copy of click."""


class SearchCommand(Command):
    """`qpr search`, which explains what to do with a question that begins with a dash."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Parse a command line.

        Raises:
            UsageError: it is wrong, and one of its words may be a question that looks like an option.
        """
        words = list(itertools.takewhile(lambda word: word != "--", args))
        known = [option for parameter in self.params for option in parameter.opts]
        dashed = [word for word in words if word.startswith("-") and word.partition("=")[0] not in known]
        try:
            return super().parse_args(ctx, args)
        except WRONG_USAGE as error:
            if not dashed:
                raise
            after = shlex.join(["--", dashed[0]])
            told = str(error).rstrip(".")
            raise UsageError(f"{told}. If {dashed[0]!r} is a question, write -- before it: … {after}") from error


def search(
    index: Annotated[str, typer.Option(metavar="FOLDER", help="Index to search.")],
    questions: Annotated[
        list[str] | None,
        typer.Argument(metavar="QUESTION", help="Question to search for.", show_default="lines of stdin"),
    ] = None,
    k: Annotated[int, typer.Option("--k", "-k", min=1, metavar="N", help="Maximum hits of a question.")] = 20,
    probes: Annotated[
        int | None,
        typer.Option(min=1, metavar="N", help="Lists searched.", show_default="the index's"),
    ] = None,
    rerank: Annotated[str | None, typer.Option(metavar="FOLDER", help="Reranker of the index.")] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON object a line for each question.")] = False,
) -> None:
    """Find the questions most similar to each question.

    A score is the negative squared distance of the two vectors: 0 is best. With --rerank it is the reranker's own.

    A question that begins with a dash follows after --.

    Example:
      qpr search --index index "how do I pay my bill" --k 5
    """
    from model.search.opening import open_index

    given = question_arguments(questions or [])
    if not given and _is_typed():
        say("Type a question and press Enter; Ctrl-D ends.")
    opened = open_index(index, probes=probes, rerank=rerank)
    most = min(k, len(opened))
    empty = True
    for batch in _batches(given or _lines_of_stdin(), k=most):
        empty = False
        for question, hits in zip(batch, opened.search_many(batch, most), strict=True):
            if not hits:
                warn(f"{question[:80]!r}: no word to search by")
            _print(question, hits, as_json=as_json)
    if empty:
        raise UsageError("no question: give one as an argument or one a line on stdin")


def _is_typed() -> bool:
    return sys.stdin is not None and sys.stdin.isatty()


def _lines_of_stdin() -> Iterator[str]:
    return question_lines(sys.stdin.buffer if sys.stdin is not None else [], source="standard input")


def _batches(texts: Iterable[str], *, k: int) -> Iterator[list[str]]:
    size = 1 if _is_typed() else min(BATCH, max(HITS // k, 1))
    remaining = iter(texts)
    while batch := list(itertools.islice(remaining, size)):
        yield batch


def _print(question: str, hits: list[Hit], *, as_json: bool) -> None:
    if as_json:
        found = {"question": question, "hits": [with_text_ids(dataclasses.asdict(hit)) for hit in hits]}
        sys.stdout.write(json.dumps(found, ensure_ascii=False) + "\n")
        sys.stdout.flush()
        return
    if not hits:
        return
    from jobs.display.safe_text import printable

    table = rich.table.Table(title=rich.markup.escape(printable(question)), title_justify="left")
    for name in ("rank", "score"):
        table.add_column(name, justify="right")
    table.add_column("question")
    answered = any(hit.answer for hit in hits)
    if answered:
        table.add_column("answer")
    for hit in hits:
        cells = [hit.text, *([hit.answer or ""] if answered else [])]
        table.add_row(str(hit.rank), f"{hit.score:.3f}", *(rich.markup.escape(printable(cell)) for cell in cells))
    results.print(table)
