"""The kinds of encoders by name.

name, settings or address -> EncoderKind
"""

from __future__ import annotations

from typing import Any

from model.encoders.cnn.kind import CnnKind
from model.encoders.kind import EncoderKind, Shape
from model.encoders.subword.kind import SubwordKind
from model.encoders.subword.static_kind import StaticKind
from model.encoders.transformer.kind import TransformerKind

KINDS: dict[str, EncoderKind[Any]] = {
    kind.name: kind for kind in (SubwordKind(), StaticKind(), CnnKind(), TransformerKind())
}

PREFIXES = tuple(kind.prefix for kind in KINDS.values() if kind.prefix)
"""Beginnings of the addresses of models of other programs."""


def kind_of(shape: Shape) -> EncoderKind[Any]:
    """Return the kind of encoder with these settings."""
    return next(kind for kind in KINDS.values() if type(shape) is kind.settings)


def kind_of_address(url: str) -> EncoderKind[Any] | None:
    """Return the kind that opens a model of another program at this address; None for a model of ours."""
    return next((kind for kind in KINDS.values() if kind.prefix and url.startswith(kind.prefix)), None)
