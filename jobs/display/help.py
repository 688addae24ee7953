"""The ``--help`` of every command: two columns under named panels, no name cut at 80 columns.

parameters of a command -> Command.format_options -> sections of text
"""

from __future__ import annotations

import re
from typing import Any

from typer.core import TyperCommand

OPTIONS = "Options"
"""The panel of an option that names none; it comes first."""

ARGUMENTS = "Arguments"

_TYPES = {"<int>": "N", "<int range>": "N", "<float>": "X", "<float range>": "X"}
"""Short names of values, where an option gives none: `TEXT` for any other."""

_DEFAULT = re.compile(r"\[default: \((.+?)\)(;|\])")
"""A default that is written as text; Typer puts it in parentheses."""

_EXAMPLES = re.compile("^(?=Examples?:)", re.MULTILINE)


class Command(TyperCommand):
    """A command whose help groups options by their ``rich_help_panel`` and prints examples line by line."""

    def __init__(self, *arguments: Any, **settings: Any) -> None:
        if settings.get("help"):
            settings["help"] = _EXAMPLES.sub("\b\n", settings["help"])  # \b: lines are not joined and wrapped
        super().__init__(*arguments, **settings)

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


def _signature(written: str, *, named: bool) -> str:
    """Return an option's names and the short name of its value; of an argument the name alone."""
    return re.sub(" ?(<[^>]*>)", lambda found: "" if named else f" {_TYPES.get(found[1], 'TEXT')}", written)
