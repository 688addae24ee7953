"""Number words of English, and units of many languages with their dimensions and sizes.

numbers.json -> tables, units
"""

from __future__ import annotations

import functools
import json
from importlib import resources
from typing import Any

from model.guards.reading import without_marks
from schemas.text import fold


@functools.cache
def tables() -> dict[str, Any]:
    """Return the tables of number words and units."""
    content = resources.files(__package__).joinpath("numbers.json").read_text(encoding="utf-8")
    rows: dict[str, Any] = json.loads(content)
    return rows


@functools.cache
def units() -> dict[str, tuple[str, float]]:
    """Return the dimension and size of each unit by its name, which also has no marks."""
    return {
        word: (kind, size)
        for kind, size, words in tables()["units"]
        for word in (*fold(words).split(), *without_marks(fold(words)).split())
    }
