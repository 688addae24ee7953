"""How every command speaks: results on stdout, everything else on stderr, errors without a traceback.

command result -> emit -> a table for a person or JSON for a program
"""

from __future__ import annotations

import json
import logging
import os
import re
import sys
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import rich.console
import rich.table
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn, TimeRemainingColumn

from schemas.errors import QprError, UsageError

_WHERE_IT_RAN = re.compile(r" \[while running '.*")
"""What Beam appends to an error."""

messages = rich.console.Console(stderr=True, highlight=False, soft_wrap=True)
"""Progress, notes and errors."""

results = rich.console.Console(highlight=False, soft_wrap=True)
"""What the command was asked for."""

EXTRA_OF_MODULE = {
    "apache_beam": "beam",
    "networkx": "beam",
    "torch": "train",
    "sklearn": "train",
    "matplotlib": "train",
    "faiss": "index",
}


def emit(result: Mapping[str, Any], *, as_json: bool, table: Callable[[], Any]) -> None:
    """Print a command's result: one JSON document, or whatever rich renderable ``table`` returns."""
    if as_json:
        sys.stdout.write(json.dumps(result, ensure_ascii=False, indent=2) + "\n")
    else:
        results.print(table())


def two_columns(title: str, rows: Mapping[str, Any]) -> rich.table.Table:
    """Return a name-and-value table; whole numbers get thousands separators."""
    table = rich.table.Table(title=title, title_justify="left", show_header=False)
    table.add_column(style="bold")
    table.add_column(justify="right")
    for name, value in rows.items():
        table.add_row(name, f"{value:,}" if isinstance(value, int) else str(value))
    return table


def say(text: str) -> None:
    """Print one line for a person on stderr."""
    messages.print(text, markup=False)


def progress_bar(*extra: str) -> Progress:
    """Return a bar on stderr with counts, elapsed and remaining time; ``extra`` names task fields to show as well."""
    return Progress(
        TextColumn("{task.description}"),
        BarColumn(),
        MofNCompleteColumn(),
        *(TextColumn(f"{name} {{task.fields[{name}]}}") for name in extra),
        TimeElapsedColumn(),
        TimeRemainingColumn(),
        console=messages,
        disable=not messages.is_terminal,
    )


def run_explained(command: Callable[[], None], arguments: Sequence[str]) -> int:
    """Run a command and return its exit code: 0 done, 1 failed, 2 wrong usage; every failure is one readable line."""
    if not os.environ.get("QPR_TRACEBACK"):
        logging.getLogger().setLevel(logging.ERROR)  # libraries warn about what no user can change
    try:
        command()
    except UsageError as error:
        return _fail(str(error), 2)
    except QprError as error:
        return _fail(_WHERE_IT_RAN.sub("", str(error)), 1)
    except ModuleNotFoundError as error:
        extra = EXTRA_OF_MODULE.get((error.name or "").split(".")[0])
        if extra is None:
            raise
        install = f"pip install 'question-paraphrase-retrieval[{extra}]'"
        return _fail(f"`qpr {' '.join(arguments[:1])}` needs {error.name}, which is not installed. Run: {install}", 1)
    except KeyboardInterrupt:
        return _fail("stopped; what was there before is untouched", 130)
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 1
    except Exception as error:
        if os.environ.get("QPR_TRACEBACK"):
            raise
        return _fail(_cause(error), 1)
    return 0


def _fail(text: str, code: int) -> int:
    messages.print(f"error: {text}", markup=False, style="red")
    return code


def _cause(error: Exception) -> str:
    """Return the user's error inside what a runner raised, or one line about a defect of ours."""
    found = re.findall(r"schemas\.errors\.QprError: (.+)$", str(error), re.MULTILINE)
    if found:
        return _WHERE_IT_RAN.sub("", found[-1])
    last = (str(error).strip().splitlines() or [""])[-1]
    return f"{type(error).__name__}: {last}. This is a defect; set QPR_TRACEBACK=1 to see where"
