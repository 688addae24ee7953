"""Layout number of a warehouse: written once, checked by every command, migrated by `qpr nightly`.

warehouse -> read_layout -> number, or None; write_layout, migrate -> warehouse.json

Layout 1 has no leases of readers; code of that layout would remove a version that a reader has open. Its other files
are those of layout 2, so that a new number is the whole migration.
"""

from __future__ import annotations

import json
from typing import Final

import pydantic

from schemas.artifacts import conditional_writes, storage
from schemas.artifacts.paths import WAREHOUSE_FILE
from schemas.errors import QprError
from schemas.versions.version import LAYOUT

OLDEST: Final = 1
"""Oldest layout that can be read and migrated."""

_CONTENT: Final = json.dumps({"layout": LAYOUT}).encode()


class _Layout(pydantic.BaseModel):
    """Content of `WAREHOUSE_FILE`."""

    layout: int = pydantic.Field(ge=0)


def read_layout(warehouse: str) -> int | None:
    """Return the layout of a warehouse; None for a folder without the file.

    Raises:
        QprError: the file is damaged, or the layout is newer than this code or too old for it.
    """
    url = storage.join(warehouse, WAREHOUSE_FILE)
    content = storage.read_if_there(url)
    if content is None:
        return None
    try:
        layout = _Layout.model_validate_json(content).layout
    except pydantic.ValidationError as error:
        raise QprError(f"{url}: damaged. Restore it: {_CONTENT.decode()}") from error
    if layout > LAYOUT:
        raise QprError(f"{url}: layout {layout}, this code reads up to {LAYOUT}. Upgrade question-paraphrase-retrieval")
    if layout < OLDEST:
        raise QprError(
            f"{url}: layout {layout} is older than {OLDEST} and cannot be migrated. Move the drops (events/) into a "
            "new warehouse and run `qpr nightly --warehouse NEW --from DATE --to DATE` there"
        )
    return layout


def write_layout(warehouse: str) -> None:
    """Write the layout of a new warehouse; another writer may have been first.

    Raises:
        QprError: it cannot be written, or another writer wrote one that this code cannot use.
    """
    try:
        conditional_writes.create(storage.join(warehouse, WAREHOUSE_FILE), _CONTENT)
    except conditional_writes.ConflictError:
        read_layout(warehouse)


def migrate(warehouse: str, layout: int) -> None:
    """Write the new number in place of an older one that was read; another writer may have been first.

    Raises:
        QprError: it cannot be written.
    """
    url = storage.join(warehouse, WAREHOUSE_FILE)
    content = storage.read_bytes(url)
    if _Layout.model_validate_json(content).layout != layout:
        return
    try:
        conditional_writes.replace(url, _CONTENT, expected=content)
    except conditional_writes.ConflictError:
        read_layout(warehouse)
