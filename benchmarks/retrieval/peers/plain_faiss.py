"""FAISS alone: what the indexes of other programs are searched by.

index, probes, neighbours -> prepared -> the index with its settings
"""

from __future__ import annotations

from typing import Any

import faiss

from model.index.refinement import candidates


def prepared(index: Any, probes: int | None, k: int) -> Any:
    """Return an index that is searched like ours.

    Args:
        index: any index of FAISS.
        probes: lists to search, or points of a graph to keep in view; None: as many as it is set to.
        k: neighbours of each query, by which the candidates of an index with exact vectors are chosen.
    """
    library: Any = faiss  # its stubs lack this
    listed = library.try_extract_index_ivf(index)
    if listed is not None and probes:
        listed.nprobe = probes
    searched = faiss.downcast_index(getattr(index, "base_index", index))
    graph = getattr(faiss.downcast_index(getattr(searched, "index", searched)), "hnsw", None)  # ids may be mapped
    if graph is not None and probes:
        graph.efSearch = probes
    if hasattr(index, "k_factor"):
        index.k_factor = candidates(k) / k
    return index
