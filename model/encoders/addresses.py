"""Addresses of models in the settings of an artefact, which may come from anywhere.

address of an option -> absolute_address -> address in an index or a reranker -> checked_address -> address to load
"""

from __future__ import annotations

import os
import re

from model.encoders.registry import kind_of_address
from schemas.errors import QprError

_SCHEME = re.compile(r"[A-Za-z][A-Za-z0-9+.-]+:|.*::", re.DOTALL)
"""URLs that fsspec does not open as a local path; ``::`` chains file systems."""


def absolute_address(address: str) -> str:
    """Return the address under which a model is found from any working folder."""
    kind = kind_of_address(address)
    plain = address.removeprefix(kind.prefix) if kind else address
    return address if _SCHEME.match(plain) else address.removesuffix(plain) + os.path.abspath(plain)


def checked_address(address: str, *, of: str) -> str:
    """Return an address that the settings of the artefact at ``of`` hold, if it may be followed.

    It may name a local folder, ``st:`` and a local folder, or a folder on the store the artefact itself was read from.

    Raises:
        QprError: it names another store.
    """
    kind = kind_of_address(address)
    plain = address.removeprefix(kind.prefix) if kind else address
    if not plain.strip() or not plain.isprintable():
        raise QprError(f"{of}: its settings hold {address[:60]!a} as an address. Make it again")
    if _SCHEME.match(plain) and (address != plain or "::" in plain or _store(plain) != _store(of)):
        raise QprError(f"{of}: its settings lead to another store, {address!a}. Copy that here and make it again")
    return address


def _store(url: str) -> str:
    """Return scheme and host or bucket of a URL, "" of a local path."""
    scheme, separator, rest = url.partition("://")
    return f"{scheme}://{rest.partition('/')[0]}" if separator else ""
