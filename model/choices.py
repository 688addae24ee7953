"""Values that settings of several packages choose among.

Torch-free, so that command-line options can name them.
"""

from __future__ import annotations

from typing import Literal

Distance = Literal["squared_euclidean", "euclidean", "symmetric_kl"]
Precision = Literal["float32", "bfloat16"]
Mode = Literal["exact", "dense", "bm25", "fusion", "probability", "rerank"]
"""Ways to search an index; all begin with the question whose key equals that of the query."""

WITHOUT_VECTORS: frozenset[Mode] = frozenset({"exact", "bm25"})
"""Ways that compare no vectors, so that the number of probes changes no hit."""

ExportFormat = Literal["parquet", "qdrant"]
"""Formats that `qpr export` writes."""

IndexMode = Literal["dense", "bm25", "fusion", "probability"]
"""Those that an index can have as its default."""
