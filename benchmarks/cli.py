"""Command line and output that all benchmarks share.

settings, rows -> Report -> Markdown tables, or a line of JSON for each row
"""

from __future__ import annotations

import importlib.util
import json
import re
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Annotated, Any

import typer

from benchmarks.measure import describe_machine
from schemas.errors import QprError

Seed = Annotated[int, typer.Option(help="Seed of all random choices.")]
AsJson = Annotated[bool, typer.Option("--json", help="Print a line of JSON for each row.")]
Pairs = Annotated[str, typer.Option("--dataset", help="Dataset written by qpr quora.")]
Page = Annotated[Path | None, typer.Option("--write", help="Markdown file whose marked part is replaced.")]


def run(*commands: Callable[..., None]) -> None:
    """Run a script's command, or one of several by name; the help is the docstring of the script.

    Raises:
        SystemExit: it has ended, with the text of an error of ours if there was one.
    """
    context = {"max_content_width": 120, "help_option_names": ["-h", "--help"]}
    text = (sys.modules[commands[0].__module__].__doc__ or "").replace("\nRun:", "\n\b\nRun:")
    app = typer.Typer(add_completion=False, rich_markup_mode=None, pretty_exceptions_enable=False)
    app.callback(help=text, context_settings=context)(lambda: None) if len(commands) > 1 else None
    for command in commands:
        app.command(help=text if len(commands) == 1 else None, context_settings=context)(command)
    try:
        app()
    except QprError as error:
        raise SystemExit(f"error: {error}") from error


class Report:
    """Output of a benchmark: a line about machine and settings, then tables.

    A row whose columns differ from those of the row before begins a new table.

    Args:
        as_json: print JSON lines instead of Markdown.
        settings: size, seed and all that decides the figures; the line has those that are not None.
    """

    def __init__(self, *, as_json: bool = False, **settings: object) -> None:
        self._as_json = as_json
        self._columns: tuple[str, ...] = ()
        self.lines: list[str] = []
        given = {name: value for name, value in settings.items() if value is not None}
        described = "; ".join(f"{_title(name)} {_shown(value)}" for name, value in given.items())
        self._print(f"{describe_machine()}; {described}.", {"machine": describe_machine(), **settings})

    def heading(self, text: str) -> None:
        """Begin a section, and a new table in it."""
        self._columns = ()
        self._print(f"\n### {text}", {"section": text})

    def row(self, **cells: Any) -> None:
        """Print a row: a name and a value for each column."""
        if self._as_json:
            print(json.dumps(cells), flush=True)
            return
        if tuple(cells) != self._columns:
            self._columns = tuple(cells)
            self._print("\n" + _joined(map(_title, cells)))
            self._print(_joined("---" for _ in cells))
        self._print(_joined(map(_shown, cells.values())))

    def has_peer(self, package: str) -> bool:
        """Return whether a package is installed; print a row if it is not."""
        is_installed = importlib.util.find_spec(package) is not None
        if not is_installed:
            self.row(peer=package, result="skipped: not installed")
        return is_installed

    def write(self, page: Path | None, *, mark: str) -> None:
        """Put all that was printed between ``<!-- mark -->`` and ``<!-- end -->`` of a Markdown file.

        Raises:
            SystemExit: the file has no such marks.
        """
        if page is None:
            return
        marks = f"<!-- {mark} -->", "<!-- end -->"
        between = "\n".join([marks[0], *self.lines, marks[1]])
        text, count = re.subn(f"{marks[0]}.*?{marks[1]}", lambda _: between, page.read_text("utf-8"), flags=re.DOTALL)
        if not count:
            raise SystemExit(f"{page}: no {marks[0]} with {marks[1]} after it. Add them")
        page.write_text(text, "utf-8")

    def _print(self, line: str, cells: dict[str, object] | None = None) -> None:
        self.lines.append(line)
        if not self._as_json:
            print(line, flush=True)
        elif cells:
            print(json.dumps(cells, default=str), flush=True)


def _joined(cells: Any) -> str:
    return f"| {' | '.join(cells)} |"


def _title(name: str) -> str:
    return " ".join({"cpu": "CPU", "mb": "MB"}.get(word, word) for word in name.split("_"))


def _shown(value: object) -> str:
    """Return a cell: three to four significant digits of a number, nothing for None."""
    if isinstance(value, float):
        size = abs(value)
        return f"{value:,.{4 if size < 1 else 2 if size < 10 else 1 if size < 1000 else 0}f}"
    return "" if value is None else f"{value:,}" if isinstance(value, int) else str(value)
