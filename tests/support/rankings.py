"""Rankings of made-up hits."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from model.index.ranking import Ranking


def ranking(*ids: Sequence[int]) -> Ranking:
    """Return the ranking of these ids, a row for each query, which -1 pads; the row of a question is its id."""
    table = np.array(ids)
    return Ranking(table, np.where(table < 0, -np.inf, -table / 10).astype(np.float32), np.where(table < 0, -1, table))
