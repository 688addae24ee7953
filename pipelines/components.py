"""Connected components: what a chain of pairs holds together.

edges -> components -> the component of every node
"""

from __future__ import annotations

import networkx as nx
import numpy as np
import pyarrow as pa


def components(edges: pa.Table) -> pa.Table:
    """Return the component of every node that has an edge.

    Args:
        edges: int64 ``id_1`` and ``id_2``, in any direction; repeated edges and edges to oneself are allowed.

    Returns:
        int64 ``node``, ascending, and ``component``, the smallest node of its component.
    """
    graph: nx.Graph[int] = nx.Graph()
    graph.add_edges_from(zip(edges["id_1"].to_pylist(), edges["id_2"].to_pylist(), strict=True))
    found = list(nx.connected_components(graph))
    nodes = np.fromiter((node for members in found for node in members), np.int64, graph.number_of_nodes())
    smallest = np.fromiter((min(members) for members in found), np.int64, len(found))
    component = np.repeat(smallest, [len(members) for members in found])
    order = np.argsort(nodes)
    return pa.table({"node": nodes[order], "component": component[order].astype(np.int64)})
