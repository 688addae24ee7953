"""Row types that travel between the steps that make clusters of labelled pairs.

EDGES, QIDS -> COMPONENTS -> CROSSINGS, SIZES -> SPLITS_OF and ASKED of `pipelines.intermediate`
"""

from __future__ import annotations

from typing import Final

import pyarrow as pa

EDGES: Final = pa.schema([("id_1", pa.int64()), ("id_2", pa.int64()), ("positive", pa.bool_()), ("rows", pa.int64())])
"""Two questions, the smaller id first or both equal, a label, and the number of rows with that label.

Producer: `duplicates.labelled_pairs.validate_pairs`. Consumer: `duplicates.labelled_pairs.sort_edges`.
"""

QIDS: Final = pa.schema([("qid", pa.int64()), ("text", pa.int64())])
"""Hashes of a question id in a file of pairs and of a text beside it.

Producer: `duplicates.labelled_pairs.validate_pairs`. Consumer: `graphs.from_pairs.count_qids`.
"""

COMPONENTS: Final = pa.schema([("node", pa.int64()), ("component", pa.int64())])
"""A question and the smallest question of its component, which may be itself.

Producer: `duplicates.connected_components`. Consumers: `duplicates.held_out_split`, `duplicates.conflicts`.
"""

CROSSINGS: Final = pa.schema([("node", pa.int64()), ("other", pa.int64()), ("component", pa.int64())])
"""An edge to ``other`` seen from ``node``, with the other's component if known; or (``other`` null) a node's component.

Producers: `duplicates.conflicts.from_first`, `from_other` and `from_node`. Consumer: `duplicates.conflicts.inside`.
"""

SIZES: Final = pa.schema([("cluster_id", pa.int64()), ("questions", pa.int64())])
"""A cluster of duplicates and its number of questions, at least two.

Producer: `duplicates.held_out_split.size_clusters`. Consumer: `duplicates.held_out_split.hold_out`.
"""

SPLITS_OF: Final = pa.schema([("cluster_id", pa.int64()), ("split", pa.string())])
"""A cluster of duplicates in validation or test; all others are in train.

Producer: `duplicates.held_out_split.hold_out`. Consumer: `graphs.from_pairs.place`.
"""
