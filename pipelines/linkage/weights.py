"""Learned weights as JSON, with what they were learned from.

learned/*.json -> load_model -> LinkModel -> save_model -> JSON
"""

from __future__ import annotations

import importlib.resources
import json
from collections.abc import Sequence
from typing import Any, Literal

import numpy as np

from pipelines.linkage.cosine import COSINES
from pipelines.linkage.features import NAMES
from pipelines.linkage.link_model import LinkModel
from pipelines.linkage.probability import Logistic, boosted
from schemas.errors import QprError

Kind = Literal["boosted", "logistic"]


def load_model(kind: Kind = "boosted", *, cosine: bool = False) -> LinkModel:
    """Return the model that ships with the package, or the one that has the encoder's cosine for a feature too."""
    folder = importlib.resources.files("pipelines.linkage") / "learned"
    name = f"{kind}-cosine.json" if cosine else f"{kind}.json"
    return model_of(json.loads((folder / name).read_text("utf-8")), source=name)


def model_of(saved: dict[str, Any], *, source: str) -> LinkModel:
    """Return the model a JSON object describes.

    Args:
        saved: what `pipelines.linkage.learn.learn` returns.
        source: where it came from, for messages.

    Raises:
        QprError: it was learned from other features than these.
    """
    cosine = bool(saved["cosine"])
    if tuple(saved["features"]) != feature_names(cosine=cosine):
        raise QprError(f"{source}: learned from other features than this version computes; learn the weights again")
    if saved["kind"] == "logistic":
        pairs: Any = Logistic(np.array(saved["knots"]), np.array(saved["weights"]), saved["bias"])
    else:
        pairs = boosted(saved["trees"], len(saved["features"]), saved["bias"])
    return LinkModel(pairs, saved["threshold"], cosine, saved.get("least_of_two", 0.0))


def feature_names(*, cosine: bool) -> Sequence[str]:
    """Return the names of a pair's features in order."""
    return (*NAMES, *COSINES) if cosine else NAMES
