"""The ``--help`` of every command, two columns under named panels, and one line about a wrong command line.

parameters of a command -> Command.format_options -> sections of text
error of Click or pydantic -> explained_usage, plain_fault -> UsageError
"""

from __future__ import annotations

import contextlib
import itertools
import re
import shlex
from collections.abc import Iterator, Sequence
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

_OPTION = re.compile(r"--[\w-]+")

_EXAMPLES = re.compile("^(?=Examples?:)", re.MULTILINE)


WRONG_USAGE: type[Exception] = typer.BadParameter.__mro__[1]
"""Click's base error of wrong usage; some versions of typer have their own copy of click."""

_VALUE = re.compile(r"Invalid value for '([^']+)'(?: / '[^']+')*: ")
"""Beginning of Click's message about a value, with the names of its option."""

_WORDINGS = (
    (re.compile("^Value error, "), ""),
    (re.compile("Input should be greater than or equal to "), "must be at least "),
    (re.compile("Input should be less than or equal to "), "must be at most "),
    (re.compile("Input should be a valid integer.*"), "must be a whole number"),
    (re.compile("Input should be a valid number.*"), "must be a number"),
    (re.compile("Input should be a valid string, unable to parse.*"), "must be UTF-8"),
    (re.compile("Input should be "), "must be "),
)
"""Wordings of pydantic, with which newer versions of typer check values too, and ours."""


def plain_fault(message: str) -> str:
    """Return the message of pydantic about a value in words that fit behind the value."""
    for wording, ours in _WORDINGS:
        message = wording.sub(ours, message)
    return message


@contextlib.contextmanager
def explained_usage(ctx: Any, advice: str = "") -> Iterator[None]:
    """Raise Click's errors of the block as our own, which print one line without the usage.

    Args:
        ctx: Click's context of the command.
        advice: next step; the help of the command by default.

    Raises:
        UsageError: the command line is wrong.
    """
    try:
        yield
    except WRONG_USAGE as error:
        if type(error).__name__ == "NoArgsIsHelpError":  # newer versions of Click print the help by it
            raise
        message = error.format_message().rstrip(".")  # type: ignore[attr-defined]  # names the option, str() does not
        option = _VALUE.match(message)
        fault = f"{option[1]}: {plain_fault(message[option.end() :])}" if option else message
        end = "" if fault.endswith("?") else "."
        raise UsageError(f"{fault}{end} {advice or f'See `{ctx.command_path} --help`'}") from error


class Command(TyperCommand):
    """A command whose help groups options by their ``rich_help_panel`` and prints examples line by line."""

    def __init__(self, *arguments: Any, **settings: Any) -> None:
        if settings.get("help"):
            settings["help"] = _EXAMPLES.sub("\b\n", settings["help"])  # \b: lines are not joined and wrapped
        super().__init__(*arguments, **settings)

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Parse a command line.

        Raises:
            UsageError: it is wrong, or an option is an empty text, such as a variable of a shell that is not set: it
                would count as not given, and `qpr answer` would go on without its certificate. Or an integer has more
                than 64 bits, which no array can hold.
        """
        with explained_usage(ctx, self.advice(args)):
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

    def advice(self, args: Sequence[str]) -> str:  # noqa: ARG002  # of a subclass
        """Return the next step after a wrong command line, "" for the help of the command."""
        return ""

    def format_options(self, ctx: Any, formatter: Any) -> None:
        """Write one section a panel; Rich's own tables cut names that are longer than a quarter of the screen."""
        panels: dict[str, list[tuple[str, str]]] = {ARGUMENTS: [], OPTIONS: []}
        for parameter in self.get_params(ctx):
            if record := parameter.get_help_record(ctx):
                named = parameter.param_type_name == "argument"
                panel = getattr(parameter, "rich_help_panel", None) or (ARGUMENTS if named else OPTIONS)
                text = _DEFAULT.sub(lambda default: f"[default: {self._own_parts(default[1])}{default[2]}", record[1])
                panels.setdefault(panel, []).append((_signature(record[0], named=named), text))
        for name, records in panels.items():
            if not records:
                continue
            with formatter.section(name):
                formatter.write_dl(records)

    def _own_parts(self, default: str) -> str:
        """Return the parts of a default that name no option of other commands, which share the setting."""
        options = {option for parameter in self.params for option in parameter.opts}
        return "; ".join(part for part in default.split("; ") if options.issuperset(_OPTION.findall(part)))


class SearchCommand(Command):
    """`qpr search`, which explains what to do with a question that begins with a dash."""

    def advice(self, args: Sequence[str]) -> str:
        """Return the next step after a wrong command line, of whose words one may be a question like an option."""
        words = list(itertools.takewhile(lambda word: word != "--", args))
        options = [option for parameter in self.params for option in parameter.opts]
        dashed = [word for word in words if word.startswith("-") and word.partition("=")[0] not in options]
        if not dashed:
            return super().advice(args)
        return f"If {dashed[0]!r} is a question, write -- before it: … {shlex.join(['--', dashed[0]])}"


def _signature(written: str, *, named: bool) -> str:
    """Return an option's names and the short name of its value; of an argument the name alone."""
    return re.sub(" ?(<[^>]*>)", lambda value: "" if named else f" {_TYPES.get(value[1], 'TEXT')}", written)
