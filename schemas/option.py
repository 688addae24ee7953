"""Settings that a command line can give.

pydantic settings -> described_settings -> path, option, type and default of each described field

A field is an option if it has a description; a single letter, such as ``--k``, has the short form ``-k`` too. `Option`
overrides what its type and default decide.
"""

from __future__ import annotations

import types
import typing
from collections.abc import Iterator
from typing import Any, Final, NamedTuple

import pydantic
from pydantic.fields import FieldInfo

PROBES: Final = "Lists that a search reads, or candidates that it keeps in a graph; more find more, more slowly."
"""Help of ``--probes``, which commands that build and commands that search an index have."""


class Option(NamedTuple):
    """Presentation of a described field: ``Annotated[int, Option(panel="Limits")]``.

    Attributes:
        name: of the option; None: the field's. For a flag two names, such as ``linear-decay/early-stopping``.
        metavar: short name of the value in the help; None: by type.
        panel: heading in the help; None: the title of the settings.
        default: text in place of the default, where it depends on other settings.
    """

    name: str | None = None
    metavar: str | None = None
    panel: str | None = None
    default: str | None = None


class Described(NamedTuple):
    """A field that is an option.

    Attributes:
        path: names of the fields that lead to it.
        names: of the option, and of its opposite if it is a flag with one.
        field: with description and bounds.
        kind: type of a value that is not None.
        default: value without the option.
        shown: its presentation.
    """

    path: tuple[str, ...]
    names: tuple[str, ...]
    field: FieldInfo
    kind: Any
    default: Any
    shown: Option


def described_settings(
    model: type[pydantic.BaseModel], default: Any = None, path: tuple[str, ...] = ()
) -> Iterator[Described]:
    """Yield the options of a settings class, those of inner settings first.

    Args:
        model: the class.
        default: its instance in the settings around it; a value that this instance sets is fixed and no option.
        path: names of the fields that lead to it.
    """
    for name, field in sorted(model.model_fields.items(), key=lambda item: bool(item[1].description)):
        value = field.get_default(call_default_factory=True) if default is None else getattr(default, name)
        kind, here = _without_none(field.annotation), (*path, name)
        if field.description and not (default is not None and name in default.model_fields_set):
            shown = next((part for part in field.metadata if isinstance(part, Option)), Option())
            shown = shown._replace(panel=shown.panel or model.model_config.get("title"))
            names = tuple(f"--{part}" for part in (shown.name or name.replace("_", "-")).split("/"))
            yield Described(here, names, field, kind, value, shown)
        elif not field.description and is_settings(kind):
            yield from described_settings(kind, value, here)


def is_settings(kind: Any) -> bool:
    """Return whether a type is a class of settings."""
    return isinstance(kind, type) and issubclass(kind, pydantic.BaseModel)


def _without_none(kind: Any) -> Any:
    """Return the type of a value that is not None."""
    if typing.get_origin(kind) in (typing.Union, types.UnionType):
        inner = [part for part in typing.get_args(kind) if part is not type(None)]
        return inner[0] if len(inner) == 1 else kind
    return kind
