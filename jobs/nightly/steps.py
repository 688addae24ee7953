"""Steps of a night: each writes one artefact, in a folder named by the digest of what it is made from.

inputs, settings -> key_of -> folder -> finished -> the artefact that is there, or None

A step whose inputs and settings are unchanged finds its artefact and is skipped, also when the night before it was
killed. An artefact is there as soon as it has a manifest.
"""

from __future__ import annotations

from typing import Any

from schemas.artifacts import storage
from schemas.artifacts.manifest import Kind, Manifest, json_digest, manifest_if_there
from schemas.tables import SCHEMA_VERSION
from schemas.versions.version import Artefact

_DIGITS = 24
"""Hexadecimal digits of a key in the name of a folder: 96 bits, so two of 2**48 keys would be equal by chance."""


def key_of(*parts: Any) -> str:
    """Return the SHA-256 of digests, settings and whatever else decides on an artefact.

    Args:
        parts: values that JSON can hold.
    """
    return json_digest([SCHEMA_VERSION, *parts])


def place_of(folder: str, key: str) -> str:
    """Return the path of an artefact below its warehouse."""
    return f"{folder}/{key[:_DIGITS]}"


def finished(warehouse: str, path: str, kind: Kind) -> Manifest | None:
    """Return the manifest of an artefact that an earlier night made; None if there is none.

    Raises:
        QprError: it is damaged.
    """
    return manifest_if_there(storage.join(warehouse, path), kind)


def named(path: str, manifest: Manifest) -> Artefact:
    """Return the entry of an artefact in a version."""
    return Artefact(path=path, digest=manifest.digest)
