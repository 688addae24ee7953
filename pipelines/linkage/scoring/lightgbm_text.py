"""Trees in the text format of LightGBM models.

text of a model (`Booster.model_to_string`, Ke et al. 2017) -> trees_of -> trees as lists, names of the features
"""

from __future__ import annotations

import math
from typing import Any, Final, NamedTuple

import numpy as np

from pipelines.linkage.scoring.tree_tables import MOST_LEAVES
from schemas.errors import QprError

NUMERICAL: Final = "2"
"""Decision type of a comparison of numbers without missing values; a number at most the split goes left."""


class Trees(NamedTuple):
    """Binary classifier of a LightGBM model.

    Attributes:
        features: names of the features.
        trees: of each tree the lists ``feature``, ``threshold``, ``left``, ``right`` and ``value``, the root first; a
            leaf's ``left`` is -1. Thresholds are the largest float32 at most the split.
    """

    features: tuple[str, ...]
    trees: list[dict[str, list[Any]]]


def trees_of(text: str, *, source: str) -> Trees:
    """Return the trees of a model.

    Args:
        text: of the file.
        source: name of the file, for error messages.

    Raises:
        QprError: the text is not that of a binary classifier with numerical splits and at most `MOST_LEAVES` leaves.
    """
    header, *blocks = text.split("\nTree=")
    fields = _fields(header)
    is_binary = header.startswith("tree\n") and fields.get("objective", "").startswith("binary sigmoid:1")
    if not is_binary or not blocks:
        raise QprError(f"{source}: no LightGBM model of two classes. Write it again with objective=binary")
    try:
        features = tuple(fields["feature_names"].split())
        return Trees(features, [_tree(_fields(block), len(features)) for block in blocks])
    except (KeyError, ValueError) as error:
        raise QprError(f"{source}: a tree cannot be read ({error}). Write the model again") from error


def _fields(block: str) -> dict[str, str]:
    return dict(line.split("=", 1) for line in block.split("\n\n", 1)[0].splitlines() if "=" in line)


def _tree(fields: dict[str, str], features: int) -> dict[str, list[Any]]:
    values = [float(value) for value in fields["leaf_value"].split()]
    inner = int(fields["num_leaves"]) - 1
    if inner >= MOST_LEAVES:
        raise ValueError(f"{inner + 1:,} leaves, at most {MOST_LEAVES} are possible")
    if inner == 0 and len(values) == 1 and math.isfinite(values[0]):
        return {"feature": [0], "threshold": [0.0], "left": [-1], "right": [-1], "value": values}
    if set(fields["decision_type"].split()) != {NUMERICAL} or not all(map(math.isfinite, values)):
        raise ValueError("a split is not numerical, or a leaf is not finite")
    split = [int(feature) for feature in fields["split_feature"].split()]
    left, right = (
        [child if child >= 0 else inner + ~child for child in map(int, fields[side].split())]
        for side in ("left_child", "right_child")
    )
    lengths = {len(split), len(left), len(right), len(values) - 1, inner}
    if len(lengths) > 1 or not all(0 <= feature < features for feature in split):
        raise ValueError("lists of other lengths than the tree, or a feature that does not exist")
    if sorted(left + right) != list(range(1, 2 * inner + 1)) or any(
        child <= node for side in (left, right) for node, child in enumerate(side)
    ):
        raise ValueError("a node is not the child of exactly one earlier node")
    exact = np.array([float(value) for value in fields["threshold"].split()])
    if len(exact) != inner or not np.abs(exact).max() < np.finfo(np.float32).max:
        raise ValueError("a threshold is missing or not finite")
    points = exact.astype(np.float32)
    points = np.where(points > exact, np.nextafter(points, np.float32(-np.inf)), points)
    leaves = [-1] * (inner + 1)
    return {
        "feature": split + [0] * (inner + 1),
        "threshold": points.astype(float).tolist() + [0.0] * (inner + 1),
        "left": left + leaves,
        "right": right + leaves,
        "value": [0.0] * inner + values,
    }
