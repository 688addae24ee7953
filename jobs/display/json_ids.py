"""Ids in JSON: 64-bit integers as strings, since JavaScript and jq 1.6 round numbers beyond 2**53.

row -> with_text_ids -> row for JSON
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any


def with_text_ids(row: Mapping[str, Any]) -> dict[str, Any]:
    """Return a row whose integers called ``…_id`` are strings; None stays None."""
    return {
        name: str(value) if name.endswith("_id") and isinstance(value, int) else value for name, value in row.items()
    }
