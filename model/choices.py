"""Values that settings choose among, and which settings each loss has.

Torch-free, so that command-line options can name them.
"""

from __future__ import annotations

from typing import Literal

Distance = Literal["squared_euclidean", "euclidean", "symmetric_kl"]
Loss = Literal["sdml", "multiple_negatives", "triplet", "online_contrastive"]
SmoothingOver = Literal["batch", "others"]
Mates = Literal["masked", "positives"]
Negatives = Literal["random", "hard"]
Precision = Literal["float32", "bfloat16"]

_PICKING = frozenset({"smoothing", "smoothing_over", "mates", "symmetric"})

LOSS_OPTIONS: dict[str, frozenset[str]] = {
    "sdml": _PICKING | {"distance"},
    "multiple_negatives": _PICKING | {"scale"},
    "triplet": frozenset({"distance", "margin", "negatives", "symmetric"}),
    "online_contrastive": frozenset({"margin"}),
}
"""The settings of the training that are each loss's own."""
