"""Computed time of one query by each way of searching.

queries, index, BM25 -> mode_ms -> milliseconds by mode; no clock decides, so that the same questions give the same mode
"""

from __future__ import annotations

from typing import Final

import numpy as np
import pyarrow as pa

from model.choices import IndexMode
from model.index.index import Index
from model.index.lexical import Lexical
from model.index.sizing.search_cost import median_compared, search_ms

REST_MS: Final = 1.0
"""Time to encode a question, read the texts of 20 hits and judge them, in a core of an AMD EPYC
(`benchmarks/retrieval/query.py`)."""

JUDGE_MS: Final = 0.2
"""Additional time of a search that puts a hit of the most supported cluster first."""

LEXICAL_MS: Final = 0.2
ENTRY_NANOSECONDS: Final = 10
"""Time of BM25 for a query, and for each entry of a list that is read or looked up: fitted to 600 queries of Quora's
536,489 questions, a quarter of which with the fewest entries take .36 ms and a quarter with the most 1.17."""


def mode_ms(index: Index, lexical: Lexical, texts: pa.Array) -> dict[IndexMode, float]:
    """Return the median computed CPU milliseconds of a query by each way of searching.

    BM25 alone searches the vectors too: a probability compares a hit with the nearest questions.

    Args:
        index: to search.
        lexical: its BM25.
        texts: queries, at least one.
    """
    dense = REST_MS + vectors_ms(index, texts)
    with_words = dense + LEXICAL_MS + ENTRY_NANOSECONDS * float(np.median(lexical.entries(texts.to_pylist()))) / 1e6
    return {"dense": dense, "bm25": with_words, "fusion": with_words, "probability": with_words + JUDGE_MS}


def vectors_ms(index: Index, texts: pa.Array) -> float:
    """Return the computed CPU milliseconds of a search by vectors for the median query."""
    coded = sum(len(codes.shard) for codes in index.codes)
    exact = sum(len(shard) for shard in index.shards if not shard.lists) - coded
    compared = median_compared(index, index.encoder.encode(texts), index.probes) if index.most_probes else 0
    return search_ms(index, compared, exact=exact)
