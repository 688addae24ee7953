"""Connected components: what a chain of pairs holds together.

edges -> components -> the component of every node
"""

from __future__ import annotations

from typing import Final, NamedTuple

import networkx as nx
import numpy as np
import numpy.typing as npt
import pyarrow as pa
from scipy import sparse
from scipy.sparse import csgraph

from pipelines.intermediate import COMPONENTS
from schemas.errors import QprError

Ids = npt.NDArray[np.int64]

SMALL_GRAPH: Final = 250_000
"""Maximum number of edges for networkx: about 1.6 s and 160 MB; scipy finds the components of larger graphs."""

MAX_NODES: Final = 2**31 - 1
"""Maximum number of nodes that scipy numbers: its labels are int32."""


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
    """Return the component of every node of the edges between ``one[i]`` and ``two[i]``.

    Args:
        one: (E,) nodes.
        two: (E,) nodes.

    Raises:
        QprError: the edges have more than `MAX_NODES` nodes.
    """
    return (_connect_by_networkx if len(one) <= SMALL_GRAPH else _connect_by_scipy)(one, two)


def _connect_by_networkx(one: Ids, two: Ids) -> Forest:
    graph: nx.Graph[int] = nx.Graph()
    graph.add_edges_from(zip(one.tolist(), two.tolist(), strict=True))
    smallest: dict[int, int] = {}
    for nodes in nx.connected_components(graph):
        smallest |= dict.fromkeys(nodes, min(nodes))
    return Forest(*np.array(sorted(smallest.items()), np.int64).reshape(-1, 2).T)


def _connect_by_scipy(one: Ids, two: Ids) -> Forest:
    nodes, rows = np.unique(np.concatenate([one, two]), return_inverse=True)
    if len(nodes) > MAX_NODES:
        raise QprError(
            f"the pairs labelled as duplicates contain {len(nodes):,} questions; "
            f"the maximum is {MAX_NODES:,}: give fewer pairs"
        )
    rows = rows.astype(np.int32)  # int64 rows double the matrix
    edges = np.ones(len(one), bool)  # scipy reads the places of the values alone
    matrix = sparse.coo_array((edges, (rows[: len(one)], rows[len(one) :])), shape=(len(nodes), len(nodes)))
    _, label = csgraph.connected_components(matrix, directed=False)
    _, first = np.unique(label, return_index=True)  # nodes ascend: the first of a component is its smallest
    return Forest(nodes, nodes[first[label]])
