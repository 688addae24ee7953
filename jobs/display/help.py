"""The ``--help`` of every command: two columns under named panels, no name cut at 80 columns.

parameters of a command -> Command.format_options -> sections of text
"""

from __future__ import annotations

import itertools
import re
import shlex
from typing import Any

import typer
from typer.core import TyperCommand

from schemas.errors import UsageError

OPTIONS = "Options"
"""The panel of an option that names none; it comes first."""

ARGUMENTS = "Arguments"

_TYPES = {"<int>": "N", "<int range>": "N", "<float>": "X", "<float range>": "X"}
"""Short names of values, where an option gives none: `TEXT` for any other."""

_MIN_INTEGER, _MAX_INTEGER = -(2**63), 2**63 - 1

_DEFAULT = re.compile(r"\[default: \((.+?)\)(;|\])")
"""A default that is written as text; Typer puts it in parentheses."""

_EXAMPLES = re.compile("^(?=Examples?:)", re.MULTILINE)


WRONG_USAGE: type[Exception] = typer.BadParameter.__mro__[1]
"""Click's base error of wrong usage; some versions of typer have their own copy of click."""


class Command(TyperCommand):
    """A command whose help groups options by their ``rich_help_panel`` and prints examples line by line."""

    def __init__(self, *arguments: Any, **settings: Any) -> None:
        if settings.get("help"):
            settings["help"] = _EXAMPLES.sub("\b\n", settings["help"])  # \b: lines are not joined and wrapped
        super().__init__(*arguments, **settings)

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Parse a command line.

        Raises:
            UsageError: an option is an empty text, such as a variable of a shell that is not set: it would count as not
                given, and `qpr answer` would go on without its certificate. Or an integer has more than 64 bits, which
                no array can hold.
        """
        rest = super().parse_args(ctx, args)
        for parameter in self.params:
            value = ctx.params.get(parameter.name)
            if isinstance(value, int) and not _MIN_INTEGER <= value <= _MAX_INTEGER:
                least = getattr(parameter, "min", None)
                allowed = f"{_MIN_INTEGER if least is None else least} to {_MAX_INTEGER}"
                raise UsageError(f"{parameter.opts[0]} {value}: is out of range. Give a number from {allowed}")
            if parameter.param_type_name == "option" and (value == "" or (isinstance(value, list) and "" in value)):
                raise UsageError(f"{parameter.opts[0]}: is empty. Give a value, or leave the option out")
        return rest

    def format_options(self, ctx: Any, formatter: Any) -> None:
        """Write one section a panel; Rich's own tables cut names that are longer than a quarter of the screen."""
        panels: dict[str, list[tuple[str, str]]] = {ARGUMENTS: [], OPTIONS: []}
        for parameter in self.get_params(ctx):
            if record := parameter.get_help_record(ctx):
                named = parameter.param_type_name == "argument"
                panel = getattr(parameter, "rich_help_panel", None) or (ARGUMENTS if named else OPTIONS)
                text = _DEFAULT.sub(r"[default: \1\2", record[1])
                panels.setdefault(panel, []).append((_signature(record[0], named=named), text))
        for name, records in panels.items():
            if not records:
                continue
            with formatter.section(name):
                formatter.write_dl(records)


class SearchCommand(Command):
    """`qpr search`, which explains what to do with a question that begins with a dash."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Parse a command line.

        Raises:
            UsageError: it is wrong, and one of its words may be a question that looks like an option.
        """
        words = list(itertools.takewhile(lambda word: word != "--", args))
        options = [option for parameter in self.params for option in parameter.opts]
        dashed = [word for word in words if word.startswith("-") and word.partition("=")[0] not in options]
        try:
            return super().parse_args(ctx, args)
        except WRONG_USAGE as error:
            if not dashed:
                raise
            after = shlex.join(["--", dashed[0]])
            message = error.format_message().rstrip(".")  # type: ignore[attr-defined]  # names the option, str() does not
            raise UsageError(f"{message}. If {dashed[0]!r} is a question, write -- before it: … {after}") from error


def _signature(written: str, *, named: bool) -> str:
    """Return an option's names and the short name of its value; of an argument the name alone."""
    return re.sub(" ?(<[^>]*>)", lambda found: "" if named else f" {_TYPES.get(found[1], 'TEXT')}", written)
