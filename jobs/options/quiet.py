"""The option that every command has: ``--quiet``.

function of a command -> with_quiet -> the same function with one more option
"""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable
from typing import Annotated, Any

import typer

from jobs.display.console import set_quiet

Quiet = Annotated[
    bool,
    typer.Option(
        "--quiet",
        envvar="QPR_QUIET",
        show_envvar=True,
        help="Print no progress or notes.",
    ),
]


def with_quiet(command: Callable[..., None]) -> Callable[..., None]:
    """Return a command that takes ``--quiet`` too, and is quiet or not before anything else happens."""

    @functools.wraps(command)
    def run(*arguments: Any, quiet: bool = False, **options: Any) -> None:
        set_quiet(quiet)
        command(*arguments, **options)

    signature = inspect.signature(command, eval_str=True)
    added = inspect.Parameter("quiet", inspect.Parameter.KEYWORD_ONLY, default=False, annotation=Quiet)
    run.__signature__ = signature.replace(parameters=[*signature.parameters.values(), added])  # type: ignore[attr-defined]
    return run
