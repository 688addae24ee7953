"""Groups of questions by average linkage of match probabilities.

pairs with probabilities -> agglomerate -> the group of every row
"""

from __future__ import annotations

from typing import Final

import numpy as np
from scipy import sparse
from scipy.sparse import csgraph

from schemas.ragged import pairs_in_runs, starts_of_runs

MOST: Final = 2_000
"""Maximum number of rows for average linkage, whose time is quadratic; larger components are divided first."""


def agglomerate(
    left: np.ndarray,
    right: np.ndarray,
    probability: np.ndarray,
    *,
    rows: int,
    threshold: float,
    least_of_two: float = 0.0,
) -> np.ndarray:
    """Merge the two groups with the highest mean probability between them while it is at least ``threshold``.

    Two groups can only be merged if at least one pair between them reaches the threshold. So the components of these
    pairs are independent, and a component in which all pairs reach the threshold is a group. A pair that is not among
    the given ones has probability 0.

    Args:
        left: (P,) rows.
        right: (P,) other rows; each pair once.
        probability: (P,) in [0, 1].
        rows: number of rows.
        threshold: minimum mean probability between groups that are merged, in (0, 1].
        least_of_two: minimum probability of a group of two, which depends on a single pair.

    Returns:
        (rows,) the smallest row of each row's group.
    """
    component = components(left, right, probability, rows=rows, threshold=threshold, most=MOST)
    inside = component[left] == component[right]
    left, right, probability = left[inside], right[inside], probability[inside]
    sizes = np.bincount(component, minlength=rows)
    likely = np.bincount(component[left], probability >= threshold, rows)
    complete = likely == pairs_in_runs(sizes)
    open_pairs = np.flatnonzero(~complete[component[left]])
    group = component.copy()
    order = open_pairs[np.argsort(component[left[open_pairs]], kind="stable")]
    bounds = starts_of_runs(component[left[order]])
    members_in_order = np.argsort(component, kind="stable")
    ends = np.cumsum(sizes)
    for pairs in np.split(order, bounds[1:]) if len(order) else []:
        name = component[left[pairs[0]]]
        members = members_in_order[ends[name] - sizes[name] : ends[name]]
        group[members] = members[_average_linkage(members, left[pairs], right[pairs], probability[pairs], threshold)]
    together = group[left] == group[right]
    weak = together & (np.bincount(group, minlength=rows)[group[left]] == 2) & (probability < least_of_two)
    for side in (left, right):
        group[side[weak]] = side[weak]
    return group


def components(
    left: np.ndarray, right: np.ndarray, probability: np.ndarray, *, rows: int, threshold: float, most: int
) -> np.ndarray:
    """Return the smallest row of each row's component of the pairs that reach the threshold.

    For a component of more than ``most`` rows, the threshold is raised step by step until it is divided into components
    of at most ``most`` rows or the threshold is 1.
    """
    cut = np.full(rows, threshold)
    while True:
        kept = probability >= np.maximum(cut[left], cut[right])
        graph = sparse.coo_array((np.ones(int(kept.sum()), np.int8), (left[kept], right[kept])), shape=(rows, rows))
        _, label = csgraph.connected_components(graph.tocsr(), directed=False)
        _, first = np.unique(label, return_index=True)
        component: np.ndarray = first[label]
        too_large = np.bincount(component, minlength=rows)[component] > most
        if not (too_large & (cut < 1)).any():
            return component
        cut[too_large] = np.where(cut[too_large] > 0.9999, 1.0, 1 - (1 - cut[too_large]) / 2)  # 15 steps instead of 54


def _average_linkage(
    members: np.ndarray, left: np.ndarray, right: np.ndarray, probability: np.ndarray, threshold: float
) -> np.ndarray:
    """Return for each member the index in ``members`` of the first member of its group."""
    if len(members) > MOST:
        return np.zeros(len(members), np.int64)  # only pairs of probability 1 connect these, so it is one group
    from scipy.cluster import hierarchy  # takes 0.4 CPU seconds; complete components do not need it

    size = len(members)
    row, column = np.sort(np.searchsorted(members, [left, right]), axis=0)
    distance = np.ones(size * (size - 1) // 2)
    distance[row * (2 * size - row - 1) // 2 + column - row - 1] = 1 - probability
    return _cut(hierarchy.average(distance), 1 - threshold)


def _cut(tree: np.ndarray, height: float) -> np.ndarray:
    """Return the first leaf of each leaf's group; `hierarchy.fcluster` takes longer to check most trees than to cut.

    Args:
        tree: (leaves - 1, 4) merges of `hierarchy.average`, whose heights never fall.
        height: maximum height of a merge within a group.
    """
    leaves = len(tree) + 1
    first = list(range(leaves))
    merges = tree[: np.searchsorted(tree[:, 2], height, side="right"), :2].astype(np.int64).tolist()
    for left, right in merges:
        first.append(min(first[left], first[right]))
    for number, (left, right) in reversed(list(enumerate(merges, leaves))):
        first[left] = first[right] = first[number]
    return np.array(first[:leaves])
