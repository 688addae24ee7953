"""Replacement of personal data in tables of texts.

column of texts -> scrub -> Scrubbed: the column with placeholders, and how many texts had each kind
"""

from __future__ import annotations

import collections
from typing import NamedTuple

import pyarrow as pa
import pyarrow.compute as pc

from pipelines.privacy.patterns import CANDIDATE, replace_personal
from schemas.text_arrays import encode


class Scrubbed(NamedTuple):
    """Texts with placeholders.

    Attributes:
        texts: in the order given, nulls too.
        found: the number of replacements by kind.
    """

    texts: pa.Array
    found: collections.Counter[str]


def scrub(texts: pa.ChunkedArray | pa.Array) -> Scrubbed:
    """Replace personal data in texts; equal texts are read once.

    Args:
        texts: strings, some may be null.
    """
    whole = texts.combine_chunks() if isinstance(texts, pa.ChunkedArray) else texts
    mask = pc.fill_null(pc.match_substring_regex(whole, CANDIDATE), False)
    coded = encode(whole.filter(mask))
    replaced = [replace_personal(text) for text in coded.dictionary.to_pylist()]
    found: collections.Counter[str] = collections.Counter()
    for row in coded.indices.to_pylist():
        found.update(replaced[row][1])
    new = pa.array([text for text, _ in replaced], pa.string()).take(coded.indices)
    return Scrubbed(pc.replace_with_mask(whole, mask, new), found)


def scrub_columns(table: pa.Table, names: tuple[str, ...]) -> tuple[pa.Table, collections.Counter[str]]:
    """Return a table with these columns scrubbed, and the number of replacements by kind."""
    found: collections.Counter[str] = collections.Counter()
    for name in names:
        scrubbed = scrub(table[name])
        found += scrubbed.found
        table = table.set_column(
            table.schema.get_field_index(name),
            table.schema.field(name),
            scrubbed.texts.cast(table.schema.field(name).type),
        )
    return table, found
