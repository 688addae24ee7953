"""Sentences with places for names, filled a million at a time.

templates, template and names of each row -> render -> string array
"""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Sequence

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

_SLOT = re.compile(r"\{([abv])\}")
SLOTS = {"a": 1, "b": 2, "v": 3}
"""The rows of a slot matrix: row 0 is the empty string, then the first and second entity and the value."""


@dataclasses.dataclass(frozen=True)
class Templates:
    """Compiled templates: ``literals[k]`` precedes place k of each, ``slots[t, k]`` is its row of `SLOTS`."""

    literals: tuple[pa.Array, ...]
    slots: np.ndarray

    @classmethod
    def compile(cls, texts: Sequence[str]) -> Templates:
        """Compile texts such as ``"how far is {a} from {b}?"``."""
        pieces = [_SLOT.split(text) for text in texts]  # literal, slot, literal, slot, literal
        places = max((len(p) // 2 for p in pieces), default=0)
        padded = [p + [""] * (2 * places + 1 - len(p)) for p in pieces]
        literals = tuple(pa.array([p[2 * k] for p in padded], pa.string()) for k in range(places + 1))
        slots = np.array([[SLOTS.get(p[2 * k + 1], 0) for k in range(places)] for p in padded], np.int64)
        return cls(literals, slots.reshape(len(texts), places))


def render(templates: Templates, which: np.ndarray, *, names: pa.Array, filling: np.ndarray) -> pa.Array:
    """Return one sentence a row.

    Args:
        templates: the compiled templates.
        which: (n,) the template of each row.
        names: string pool that ``filling`` points into; entry 0 is empty.
        filling: (4, n) pool index of each slot of each row, see `SLOTS`; row 0 is all 0.
    """
    rows = np.arange(len(which))
    chosen = pa.array(which)
    parts = [templates.literals[0].take(chosen)]
    for place, literal in enumerate(templates.literals[1:]):
        parts.append(names.take(pa.array(filling[templates.slots[which, place], rows])))
        parts.append(literal.take(chosen))
    return pc.binary_join_element_wise(*parts, "")
