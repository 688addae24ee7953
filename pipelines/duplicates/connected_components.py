"""Connected components: what a chain of pairs holds together.

edges -> components -> the component of every node
"""

from __future__ import annotations

from typing import Final, NamedTuple

import numpy as np
import numpy.typing as npt
import pyarrow as pa

Ids = npt.NDArray[np.int64]

COMPONENTS: Final = pa.schema([("node", pa.int64()), ("component", pa.int64())])
"""A node and the smallest node of its component, which may be the node itself."""

SMALL_GRAPH: Final = 16
"""Up to so many edges networkx is the quicker one; it wants a Python object a node."""


class Forest(NamedTuple):
    """Trees of depth one: the rows of `COMPONENTS`, ascending by node. As edges they connect what they came from."""

    node: Ids
    component: Ids


NO_TREES: Final = Forest(np.zeros(0, np.int64), np.zeros(0, np.int64))


def components(edges: pa.Table) -> pa.Table:
    """Return the component of every node that has an edge.

    Args:
        edges: int64 ``id_1`` and ``id_2``, in any direction; repeated edges and edges to oneself are allowed.

    Returns:
        `COMPONENTS`, ascending by node.
    """
    return as_table(connect(edges["id_1"].to_numpy(), edges["id_2"].to_numpy()))


def as_table(forest: Forest) -> pa.Table:
    """Return a forest as `COMPONENTS`."""
    return pa.table([pa.array(column) for column in forest], schema=COMPONENTS)


def connect(one: Ids, two: Ids) -> Forest:
    """Return the component of every node of the edges between ``one[i]`` and ``two[i]``, whatever their number.

    Args:
        one: (E,) nodes.
        two: (E,) nodes.
    """
    return (_connect_few if len(one) <= SMALL_GRAPH else _connect_many)(one, two)


def _connect_few(one: Ids, two: Ids) -> Forest:
    import networkx as nx  # takes a quarter of a second, which large graphs need not spend

    graph: nx.Graph[int] = nx.Graph()
    graph.add_edges_from(zip(one.tolist(), two.tolist(), strict=True))
    rows = sorted((node, min(members)) for members in nx.connected_components(graph) for node in members)
    return Forest(*np.array(rows, np.int64).reshape(-1, 2).T)


def _connect_many(one: Ids, two: Ids) -> Forest:
    """Hook every root to the smallest root beside it, flatten the trees, go on with the edges between trees.

    Two rounds at least halve the roots that are not done: a root with a smaller neighbour is hooked, and one without
    is hooked to by a neighbour, or else that neighbour has brought it a smaller root for the next round. So there are
    at most 2 log2 of the nodes.
    """
    nodes, rows = np.unique(np.concatenate([one, two]), return_inverse=True)
    rows = rows.astype(np.int32 if len(nodes) < 2**31 else np.int64)
    left, right = rows[: len(one)], rows[len(one) :]
    parent = np.arange(len(nodes), dtype=rows.dtype)
    while len(left):
        left, right = parent[left], parent[right]
        apart = left != right
        left, right = left[apart], right[apart]
        np.minimum.at(parent, np.maximum(left, right), np.minimum(left, right))
        parent = _flatten(parent)
    return Forest(nodes, nodes[parent])


def _flatten(parent: np.ndarray) -> np.ndarray:
    """Return the root of every node, following ``parent`` until it leads no further."""
    while not np.array_equal(grandparent := parent[parent], parent):
        parent = grandparent
    return parent
