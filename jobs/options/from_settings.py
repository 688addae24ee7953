"""Options of a command, generated from pydantic settings.

command with a parameter of settings -> with_settings -> the same command with an option for each described field

Type, bounds, default and help are the field's (`schemas.option`). Fields with the same option share it, and an option
that is not given is not passed to the settings, so that defaults are decided by them alone.
"""

from __future__ import annotations

import abc
import datetime
import functools
import inspect
import typing
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Annotated, Any, Literal, NamedTuple, Self, TypeVar

import pydantic
import typer

from jobs.display.help import plain_fault
from jobs.options.output import choices
from jobs.options.text_lists import read_numbers, read_pairs, read_texts
from schemas.errors import UsageError
from schemas.option import Described, described_settings, is_settings

_Settings = TypeVar("_Settings", bound=pydantic.BaseModel)
_Group = TypeVar("_Group", bound="OptionGroup")

_METAVARS: dict[Any, str | None] = {
    int: "N",
    float: "X",
    str: "TEXT",
    datetime.date: "YYYY-MM-DD",
    dict: "NAME=VALUE",
    bool: None,
}


_NO_DATE = {"date_parsing", "date_from_datetime_parsing", "date_from_datetime_inexact", "date_type"}
"""Types of pydantic's errors about a text that is no date."""

_DATE = "no date. Write YYYY-MM-DD, such as 2026-11-30"


class Setting(NamedTuple):
    """A field that is an option.

    Attributes:
        path: names of the fields that lead to it.
        option: as it is typed.
        read: value of the option to value of the field.
        parameter: of the command, for Typer.
    """

    path: tuple[str, ...]
    option: str
    read: Callable[[Any], Any]
    parameter: inspect.Parameter


class OptionGroup(abc.ABC):
    """Settings of several classes whose options are on one command line together."""

    @classmethod
    @abc.abstractmethod
    def described(cls) -> Iterable[Described]:
        """Return the options; the path of each is the name of its field alone."""

    @classmethod
    @abc.abstractmethod
    def of_values(cls, given: Mapping[str, Any]) -> Self:
        """Return the checked settings with the given values, by the names of their fields.

        Raises:
            UsageError: an option does not belong to the others.
            pydantic.ValidationError: a value does not fit.
        """


def with_settings(command: Callable[..., None]) -> Callable[..., None]:
    """Return a command whose parameters of settings are replaced by their options; the others stay."""
    signature = inspect.signature(command, eval_str=True)
    parameters: dict[str, inspect.Parameter] = {}
    settings: dict[str, tuple[Callable[..., Any], list[Setting]]] = {}
    for name, parameter in signature.parameters.items():
        model = parameter.annotation
        if is_settings(model) or (isinstance(model, type) and issubclass(model, OptionGroup)):
            described = described_settings(model) if is_settings(model) else model.described()
            build = settings_of if is_settings(model) else group_of
            settings[name] = functools.partial(build, model), [*map(_setting, described)]
            for option in settings[name][1]:
                parameters.setdefault(option.parameter.name, option.parameter)
        else:
            parameters[name] = parameter.replace(kind=inspect.Parameter.KEYWORD_ONLY)

    @functools.wraps(command)
    def run(**values: Any) -> None:
        for name, (build, options) in settings.items():
            values[name] = build(options, values)
        command(**{name: values[name] for name in signature.parameters})

    run.__signature__ = inspect.Signature(list(parameters.values()))  # type: ignore[attr-defined]
    return run


def settings_of(model: type[_Settings], options: Sequence[Setting], given: Mapping[str, Any]) -> _Settings:
    """Return checked settings; an option that is None or empty has its default.

    Args:
        model: their class.
        options: of the class.
        given: values of the options, by the names of their parameters.

    Raises:
        UsageError: a value does not fit; the message names its option.
    """
    values = _set_in_defaults(model)
    for option in options:
        value = given[option.parameter.name]
        if value is None or value == []:
            continue
        inner = values
        for name in option.path[:-1]:
            inner = inner.setdefault(name, {})
        inner[option.path[-1]] = option.read(value)
    try:
        return model.model_validate(values)
    except pydantic.ValidationError as error:
        raise UsageError(_fault(error, options)) from error


def group_of(group: type[_Group], options: Sequence[Setting], given: Mapping[str, Any]) -> _Group:
    """Return the checked settings of a group, as `settings_of` does for one class.

    Raises:
        UsageError: a value does not fit; the message names its option.
    """
    values = {option.path[0]: (option, given[option.parameter.name]) for option in options}
    try:
        return group.of_values(
            {name: option.read(value) for name, (option, value) in values.items() if value not in (None, [])}
        )
    except pydantic.ValidationError as error:
        raise UsageError(_fault(error, options)) from error


def _set_in_defaults(model: type[pydantic.BaseModel]) -> dict[str, Any]:
    """Return the values that the defaults of inner settings set."""
    return {
        name: _set_in_defaults(type(field.default)) | field.default.model_dump(exclude_unset=True)
        for name, field in model.model_fields.items()
        if isinstance(field.default, pydantic.BaseModel)
    }


def _setting(described: Described) -> Setting:
    """Return the option of a field."""
    names, shown = list(described.names), described.shown
    if described.kind is bool and described.default is True and len(names) == 1:
        names.append(names[0].replace("--", "--no-", 1))
    typed, read, metavar = _typed(described.kind, names[0])
    declared = typer.Option(
        "/".join(names),
        *(name[1:] for name in names if len(name) == len("--k")),
        help=described.field.description,
        metavar=shown.metavar or metavar,
        rich_help_panel=shown.panel,
        show_default=shown.default or default_text(described.default, names) or False,
        **bounds_of(described),
    )
    name = names[0].removeprefix("--").replace("-", "_")
    annotation = Annotated[typed | None, declared]  # type: ignore[valid-type]
    parameter = inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, default=None, annotation=annotation)
    return Setting(described.path, names[0], read, parameter)


def bounds_of(described: Described) -> dict[str, Any]:
    """Return minimum and maximum of a number, for Typer, where both belong to the range."""
    return {
        ours: getattr(part, theirs)
        for part in described.field.metadata
        for ours, theirs in (("min", "ge"), ("max", "le"))
        if described.kind in (int, float) and getattr(part, theirs, None) is not None
    }


def _typed(kind: Any, option: str) -> tuple[Any, Callable[[Any], Any], str | None]:
    """Return the type of an option for Typer, its reader, and the metavar of its values."""
    if typing.get_origin(kind) is Literal:
        return kind, _same, choices(kind)
    if typing.get_origin(kind) is dict or is_settings(kind):
        return list[str], functools.partial(read_pairs, option=option), "NAME=VALUE"
    if typing.get_origin(kind) is tuple:
        if typing.get_args(kind)[0] is str:
            return list[str], functools.partial(read_texts, option=option), "TEXT"
        return str, functools.partial(read_numbers, option=option), "N,N"
    return (str if kind is datetime.date else kind), _same, _METAVARS[kind]


def _same(value: Any) -> Any:
    return value


def default_text(value: Any, names: Sequence[str]) -> str | None:
    """Return a default for the help; None for none, for an empty list and for a flag that is off."""
    if isinstance(value, bool):
        return names[not value].strip("-") if len(names) > 1 else None
    if isinstance(value, pydantic.BaseModel):
        return ", ".join(f"{name}={inner}" for name, inner in value)
    if isinstance(value, tuple):
        return ",".join(map(str, value)) or None
    return None if value is None or value == {} else str(value)


def _fault(error: pydantic.ValidationError, options: Sequence[Setting]) -> str:
    """Return the first fault of the settings, under the name of its option."""
    first = error.errors(include_url=False)[0]
    fault = _DATE if first["type"] in _NO_DATE else plain_fault(first["msg"])
    place = tuple(map(str, first["loc"]))
    for option in options:
        if place[: len(option.path)] == option.path:
            inner = "".join(f"{part}=" for part in place[len(option.path) :] if not part.isdigit())
            value = "" if isinstance(first["input"], dict | tuple | list) else f" {inner}{first['input']}"
            return f"{option.option}{value}: {fault}"
    return fault
