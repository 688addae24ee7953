"""A group of commands that imports the module of a command when that command is used.

command line -> LazyGroup -> LazyCommand.build -> the command; without one, summaries -> help

Importing all modules takes 0.3 CPU seconds, so the help of the group prints summaries that stand beside the names.
"""

from __future__ import annotations

import importlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, ClassVar, NamedTuple, cast

import typer
import typer.main
from typer.core import TyperGroup

from jobs.display.help import Command, explained_usage
from jobs.options.quiet import with_quiet


class LazyCommand(NamedTuple):
    """Place of a command, and its line in the help of the group.

    Attributes:
        folder: of its module, which is called as the command is.
        name: of the command.
        summary: first line of the function's docstring.
        command_class: type of the command.
    """

    folder: str
    name: str
    summary: str
    command_class: type[Command] = Command

    @property
    def module(self) -> str:
        """Return the name of the module."""
        return f"jobs.commands.{self.folder}.{self.name.replace('-', '_')}"

    def load(self) -> Callable[..., None]:
        """Import the module and return its function of the same name."""
        function = getattr(importlib.import_module(self.module), self.module.rpartition(".")[2])
        return cast(Callable[..., None], function)

    def build(self) -> Any:
        """Import the module and return the command, with its settings' options and ``--quiet``."""
        from jobs.options.from_settings import with_settings  # imports pydantic, without which `qpr --help` works

        function = with_quiet(with_settings(self.load()))
        alone = typer.Typer(add_completion=False, pretty_exceptions_enable=False, rich_markup_mode=None)
        alone.command(self.name, cls=self.command_class)(function)
        return typer.main.get_command(alone)


class LazyCommands(Mapping[str, Any]):
    """Commands by name, each built at its first use; the names alone import nothing."""

    def __init__(self, entries: Mapping[str, LazyCommand]) -> None:
        self._entries = entries
        self._built: dict[str, Any] = {}

    def __getitem__(self, name: str) -> Any:
        """Return the command called ``name``."""
        entry = self._entries[name]
        if name not in self._built:
            self._built[name] = entry.build()
        return self._built[name]

    def __iter__(self) -> Iterator[str]:
        """Return the names, in the order of the help."""
        return iter(self._entries)

    def __len__(self) -> int:
        """Return the number of commands."""
        return len(self._entries)


class LazyGroup(TyperGroup):
    """The group of ``entries``; its help prints the whole summary of each, however long, under the headings."""

    entries: ClassVar[Mapping[str, LazyCommand]] = {}
    sections: ClassVar[Mapping[str, Sequence[LazyCommand]]] = {}

    def __init__(self, **settings: Any) -> None:
        super().__init__(**settings)
        self.commands: Any = LazyCommands(self.entries)

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Parse a command line up to the name of the command.

        Raises:
            UsageError: there is no such option.
        """
        with explained_usage(ctx):
            return super().parse_args(ctx, args)

    def resolve_command(self, ctx: Any, args: list[str]) -> Any:
        """Return the command that ``args`` begin with, its name and its arguments.

        Raises:
            UsageError: there is no such command.
        """
        with explained_usage(ctx):
            return super().resolve_command(ctx, args)

    def list_commands(self, ctx: Any) -> list[str]:  # noqa: ARG002  # Click asks for it
        """Return the names; the method of the base class would build every command."""
        return list(self.entries)

    def get_command(self, ctx: Any, cmd_name: str) -> Any:  # noqa: ARG002  # Click asks for it
        """Return the command called ``cmd_name``, None for no such command."""
        return self.commands[cmd_name] if cmd_name in self.entries else None

    def format_commands(self, ctx: Any, formatter: Any) -> None:  # noqa: ARG002  # Click asks for it
        """Write one row a command, without importing any."""
        width = max(map(len, self.entries))
        for heading, commands in self.sections.items():
            with formatter.section(heading):
                formatter.write_dl([(command.name.ljust(width), command.summary) for command in commands])
