"""Output of every command: results on stdout, messages on stderr, errors without a traceback.

command result -> emit -> a table for a person or JSON for a program
"""

from __future__ import annotations

import contextlib
import functools
import io
import logging
import os
import re
import signal
import sys
import traceback
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

import rich.console
import rich.table
from rich.progress import (
    BarColumn,
    MofNCompleteColumn,
    Progress,
    ProgressColumn,
    SpinnerColumn,
    Task,
    TextColumn,
    TimeElapsedColumn,
    TimeRemainingColumn,
)
from rich.text import Text

from jobs.display.safe_text import escape_controls, json_text
from jobs.display.signals import stop_signals
from pipelines.engine import progress
from schemas.artifacts.io_errors import system_fault
from schemas.errors import EXTRA_OF_MODULE, QprError, how_to_install, is_out_of_memory

_WHERE_IT_RAN = re.compile(r" \[while running '.*")
"""Suffix that Beam appends to an error."""

_TOO_MUCH_TEXT = re.compile("offset overflow|exceed offset capacity|more than 2147483646|32-bit binary|to fit in str")
"""Messages of Arrow, whose columns of text and lists have offsets of 32 bits."""

_REFRESHES_PER_S = 4
"""Refreshes of the progress line: one takes a millisecond of the thread that all Python code of a run shares."""

_plain = functools.partial(rich.console.Console, highlight=False, soft_wrap=True, markup=False, emoji=False)
"""A console that prints texts as they are: paths and questions may contain ``[/red]`` or ``:x:``."""

messages = _plain(stderr=True)
"""Progress and notes; ``--quiet`` turns them off."""

alarms = _plain(stderr=True)
"""Warnings and errors."""

results = _plain()
"""Results of the command."""

_warnings: list[str] = []
"""Warnings of the command so far, which its JSON has too."""


def emit(result: Mapping[str, Any], *, as_json: bool, table: Callable[[], Any]) -> None:
    """Print a command's result: one JSON document, or whatever rich renderable ``table`` returns.

    The document has the warnings that were printed before, and others of the result.
    """
    if as_json:
        document = {**result, "warnings": list(dict.fromkeys([*_warnings, *result.get("warnings", ())]))}
        sys.stdout.write(json_text(document, indent=2))
    elif results.is_terminal or "COLUMNS" in os.environ:
        results.print(table())
    else:  # in a file or a pipe rich would break the paths in a table at 80 columns
        _plain(width=2**16, quiet=results.quiet).print(table())


def two_columns(title: str, rows: Mapping[str, Any]) -> rich.table.Table:
    """Return a name-and-value table; whole numbers get thousands separators, None is "not measured", True "yes"."""
    table = rich.table.Table(title=title, title_justify="left", show_header=False)
    table.add_column(style="bold")
    table.add_column(justify="right", overflow="fold")  # a path cut short cannot be copied
    for name, value in rows.items():
        if isinstance(value, bool):
            value = "yes" if value else "no"
        shown = "not measured" if value is None else f"{value:,}" if isinstance(value, int) else str(value)
        table.add_row(name, escape_controls(shown))
    return table


def say(text: str) -> None:
    """Print one line for a person on stderr."""
    messages.print(escape_controls(text))


def warn(text: str) -> None:
    """Print one line on stderr that ``--quiet`` does not turn off."""
    _warnings.append(text)
    alarms.print(f"warning: {escape_controls(text)}", style="yellow")


def set_quiet(quiet: bool) -> None:
    """Turn progress and notes off or on; warnings, errors and results are printed either way."""
    messages.quiet = quiet


def be_silent() -> None:
    """Print errors only from now on, where another process prints the rest for this one as well."""
    messages.quiet = alarms.quiet = results.quiet = True


def progress_bar(*extra: str) -> Progress:
    """Return a bar on stderr with counts, elapsed and remaining time; ``extra`` names task fields to show as well."""
    return Progress(
        TextColumn("{task.description}", markup=False),
        BarColumn(),
        MofNCompleteColumn(),
        *(TextColumn(f"{name} {{task.fields[{name}]}}", markup=False) for name in extra),
        TimeElapsedColumn(),
        TimeRemainingColumn(),
        console=messages,
        disable=messages.quiet or not messages.is_terminal,
    )


class _CountsColumn(ProgressColumn):
    """Counts of the steps of this process; empty while they run in other processes."""

    def render(self, task: Task) -> Text:  # noqa: ARG002  # part of rich's interface
        """Return the counts as they are now."""
        return Text(", ".join(progress.counts()))


@contextlib.contextmanager
def working(what: str) -> Iterator[None]:
    """Show a spinner, elapsed time and counts on a terminal inside the block; elsewhere print one line.

    Args:
        what: description of the work.
    """
    progress.reset()
    if not messages.is_terminal:
        say(what)
        yield
        return
    columns = SpinnerColumn(), TextColumn("{task.description}", markup=False), TimeElapsedColumn(), _CountsColumn()
    with Progress(*columns, console=messages, refresh_per_second=_REFRESHES_PER_S, disable=messages.quiet) as bar:
        bar.add_task(what, total=None)
        yield


@contextlib.contextmanager
def counting(what: str, *, total: int) -> Iterator[Callable[[int], None]]:
    """Show a bar for ``what`` on a terminal inside the block; elsewhere print one line.

    Yields:
        A function that takes the number of finished items.
    """
    if not messages.is_terminal:
        say(f"{what}: {total:,}")
    with progress_bar() as bar:
        task = bar.add_task(what, total=total)
        yield lambda done: bar.update(task, completed=done)


def run_explained(command: Callable[[], None], arguments: Sequence[str]) -> int:
    """Run a command and return its exit code: 0 done, 1 failed, 2 wrong usage, 4 rows of a day that cannot be used.

    Every failure is one readable line; with QPR_TRACEBACK its traceback follows. A command that is stopped by a signal
    returns 128 and the signal's number, 130 for Ctrl-C.
    """
    _warnings.clear()
    if not os.environ.get("QPR_TRACEBACK"):
        logging.getLogger().setLevel(logging.ERROR)  # libraries warn about what no user can change
    _use_utf8()
    with stop_signals() as received:
        try:
            command()
        except SystemExit as ended:
            if received and ended.code:
                return _stopped(received)
            if isinstance(ended.code, str):  # Python prints it
                raise
            return ended.code or 0
        except BaseException as error:
            if received or isinstance(error, KeyboardInterrupt):
                return _stopped(received)
            if (code := _explained(error, arguments)) is None:
                raise
            if os.environ.get("QPR_TRACEBACK"):
                traceback.print_exception(error)
            return code
    return 0


def _use_utf8() -> None:
    """Write UTF-8 to both streams in every locale; a path that is not valid text is written escaped."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(encoding="utf-8", errors="backslashreplace")


def _stopped(received: Sequence[int]) -> int:
    # as a shell reports a program that a signal ended
    return _fail("stopped; earlier outputs are unchanged", 128 + (received or [signal.SIGINT])[0])


def _explained(error: BaseException, arguments: Sequence[str]) -> int | None:
    """Print the cause of a failure and return the exit code; None for a failure that needs a traceback."""
    match error:
        case QprError():
            return _fail(_WHERE_IT_RAN.sub("", str(error)), error.exit_code)
        case ModuleNotFoundError():
            if (extra := EXTRA_OF_MODULE.get((error.name or "").split(".")[0])) is None:
                return None
            needs = f"`qpr {' '.join(arguments[:1])}` needs {error.name}, which is not installed"
            return _fail(f"{needs}. {how_to_install(extra)}", 1)
        case BrokenPipeError():  # the reader of the results has closed the pipe
            return 1
        case OSError() if error.strerror:
            return _fail(f"{error.filename or 'cannot read or write'}: {system_fault(error)}", 1)
        case Exception() if is_out_of_memory(error):
            cause = f" ({error})".removesuffix(" ()") if isinstance(error, MemoryError) else ""
            return _fail(f"not enough memory{cause}. Use smaller inputs or a larger machine", 1)
        case Exception() if not os.environ.get("QPR_TRACEBACK"):
            return _fail(_cause(error), 1)
    return None


def _fail(text: str, code: int) -> int:
    alarms.quiet = False  # a silent process may be the only one that failed
    alarms.print(f"error: {escape_controls(text)}", style="red")
    return code


def _cause(error: Exception) -> str:
    """Return the user's error inside a runner's error, or one line about a defect of this program."""
    causes = re.findall(r"schemas\.errors\.QprError: (.+)$", str(error), re.MULTILINE)
    if causes:
        return _WHERE_IT_RAN.sub("", causes[-1])
    if _TOO_MUCH_TEXT.search(str(error)):
        return (
            "a question, an answer or a shard has more than 2 GiB of text. Raise --shards, or shorten or remove the "
            "longest questions and answers"
        )
    last = (str(error).strip().splitlines() or [""])[-1]
    return f"{type(error).__name__}: {last}. This is a defect; set QPR_TRACEBACK=1 to see where"
