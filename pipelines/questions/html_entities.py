"""HTML entities in texts of a log, such as ``&quot;``: a bot would give the answer with them.

encoded column -> rows_with_entity -> a counter
"""

from __future__ import annotations

from html.entities import name2codepoint
from typing import Final

import pyarrow as pa
import pyarrow.compute as pc

PREFIX: Final = "html_entities_"
"""Beginning of the counters of rows with an entity in the question or in the answer."""

_ENTITY: Final = f"&(?:#[0-9]{{1,7}}|#[xX][0-9a-fA-F]{{1,6}}|apos|{'|'.join(sorted(name2codepoint))});"


def rows_with_entity(texts: pa.DictionaryArray) -> int:
    """Return the number of rows with an entity that HTML 4 names, or ``&apos;``, or one of a number."""
    if not pc.any(pc.match_substring(texts.dictionary, "&")).as_py():  # Arrow builds the expression for each batch
        return 0
    found = pc.match_substring_regex(texts.dictionary, _ENTITY)
    return pc.sum(found.take(texts.indices)).as_py() if pc.any(found).as_py() else 0
