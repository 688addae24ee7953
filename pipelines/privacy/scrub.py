"""Replacement of personal data in tables of texts.

column of texts -> scrub -> Scrubbed: the column with placeholders, and how many texts had each kind
REJECTS -> scrub_payloads -> Scrubbed: their payloads with placeholders
"""

from __future__ import annotations

import collections
import json
from typing import Any, NamedTuple

import pyarrow as pa
import pyarrow.compute as pc

from pipelines.privacy.patterns import CANDIDATE, replace_personal
from pipelines.privacy.payloads import object_in, unescaped
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
    counts: collections.Counter[str] = collections.Counter()
    for row in coded.indices.to_pylist():
        counts.update(replaced[row][1])
    new = pa.array([text for text, _ in replaced], pa.string()).take(coded.indices)
    return Scrubbed(pc.replace_with_mask(whole, mask, new), counts)


def scrub_columns(table: pa.Table, names: tuple[str, ...]) -> tuple[pa.Table, collections.Counter[str]]:
    """Return a table with these columns scrubbed, and the number of replacements by kind."""
    counts: collections.Counter[str] = collections.Counter()
    for name in names:
        scrubbed = scrub(table[name])
        counts += scrubbed.found
        table = table.set_column(
            table.schema.get_field_index(name),
            table.schema.field(name),
            scrubbed.texts.cast(table.schema.field(name).type),
        )
    return table, counts


def scrub_payloads(rejects: pa.Table, *, hashed: frozenset[str]) -> tuple[pa.Table, collections.Counter[str]]:
    r"""Return REJECTS with the payloads of unreadable rows scrubbed, and the number of replacements by kind.

    In an object of JSON each value is scrubbed by itself, so that it stays an object, and in each text escapes are read
    first: ``jo\u0040example.org`` and ``https:\/\/user:word@host`` are personal data too. A payload without a
    replacement stays as it is if nothing is found in its characters either; else its object is written again.

    Args:
        rejects: of a file.
        hashed: names of fields that are hashes of users, of which digits may look like those of a card.
    """
    payloads = rejects["payload"].combine_chunks()
    mask = pc.match_substring_regex(payloads, rf"\\|{CANDIDATE}")
    replaced: list[str] = []
    scrubbed = [_scrub_payload(payload, hashed, replaced) for payload in payloads.filter(mask).to_pylist()]
    place = rejects.schema.get_field_index("payload")
    column = pc.replace_with_mask(payloads, mask, pa.array(scrubbed, pa.string()))
    return rejects.set_column(place, rejects.schema.field(place), column), collections.Counter(replaced)


def _scrub_payload(payload: str, hashed: frozenset[str], replaced: list[str]) -> str:
    before = len(replaced)
    row = object_in(payload)
    if row is None:
        scrubbed = str(_scrub_value(unescaped(payload), replaced))
        return scrubbed if len(replaced) > before else str(_scrub_value(payload, replaced))
    values = {name: value if name in hashed else _scrub_value(value, replaced) for name, value in row.items()}
    scrubbed = json.dumps({_scrub_value(name, replaced): value for name, value in values.items()}, ensure_ascii=False)
    return scrubbed if len(replaced) > before or replace_personal(payload)[1] else payload


def _scrub_value(value: Any, replaced: list[str]) -> Any:
    """Return a value of JSON with placeholders, and add the kind of each to ``replaced``; numbers can become texts."""
    if isinstance(value, dict):
        return {_scrub_value(name, replaced): _scrub_value(part, replaced) for name, part in value.items()}
    if isinstance(value, list):
        return [_scrub_value(part, replaced) for part in value]
    if value is None or isinstance(value, bool):
        return value
    text, kinds = replace_personal(str(value))
    replaced.extend(kinds)
    return text if kinds else value
