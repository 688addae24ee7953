"""Learned weights as JSON, with what they were learned from.

learned/*.json -> load_model -> LinkModel -> save_model -> JSON
"""

from __future__ import annotations

import importlib.resources
import json
from collections.abc import Sequence
from typing import Annotated, Any, Literal, Self

import numpy as np
import pydantic

from pipelines.linkage.comparison.cosine_features import COSINES
from pipelines.linkage.comparison.pair_features import NAMES
from pipelines.linkage.scoring.learned_scorers import MOST_LEAVES, Logistic, boosted
from pipelines.linkage.scoring.pair_model import LinkModel
from schemas.artifacts.manifest import first_fault
from schemas.errors import QprError

Kind = Literal["boosted", "logistic"]

_Numbers = list[pydantic.FiniteFloat]


class _Tree(pydantic.BaseModel, frozen=True):
    """A tree as lists over its nodes, the root first; a leaf's ``left`` is -1."""

    feature: list[int]
    threshold: _Numbers
    left: list[int]
    right: list[int]
    value: _Numbers

    @pydantic.model_validator(mode="after")
    def _is_a_tree(self) -> Self:
        """Check that every node but the root is the child of one node before it, so that walking ends."""
        nodes = len(self.left)
        if {len(part) for part in (self.feature, self.threshold, self.right, self.value)} != {nodes} or not nodes:
            raise ValueError("the lists of a tree differ in length, or are empty")
        inner = [node for node in range(nodes) if self.left[node] >= 0]
        children = [child for node in inner for child in (self.left[node], self.right[node])]
        if any(not node < child for node in inner for child in (self.left[node], self.right[node])):
            raise ValueError("a node of a tree comes after its child")
        if sorted(children) != list(range(1, nodes)):
            raise ValueError("a node of a tree is no child, or the child of two")
        if nodes - len(inner) > MOST_LEAVES:
            raise ValueError(f"a tree has {nodes - len(inner):,} leaves; at most {MOST_LEAVES} are possible")
        return self


class _Saved(pydantic.BaseModel, frozen=True):
    """What weights of both kinds say of themselves; what they were learned from is ignored."""

    cosine: bool
    features: tuple[str, ...]
    threshold: float = pydantic.Field(gt=0, le=1)
    least_of_two: float = pydantic.Field(default=0.0, ge=0, le=1)
    bias: pydantic.FiniteFloat

    @pydantic.field_validator("features")
    @classmethod
    def _are_computed(cls, features: tuple[str, ...], info: pydantic.ValidationInfo) -> tuple[str, ...]:
        if "cosine" in info.data and features != tuple(feature_names(cosine=info.data["cosine"])):
            raise ValueError("learned from other features than this version computes")
        return features


class LogisticWeights(_Saved, frozen=True):
    """A logistic regression, see `pipelines.linkage.scoring.learned_scorers.Logistic`."""

    kind: Literal["logistic"]
    knots: list[_Numbers]
    weights: _Numbers

    @pydantic.model_validator(mode="after")
    def _fits(self) -> Self:
        lengths = {len(knots) for knots in self.knots}
        if len(self.knots) != len(self.features) or len(lengths) != 1:
            raise ValueError("knots: not equally many of each feature")
        if len(self.weights) != len(self.features) * (lengths.pop() + 1):
            raise ValueError("weights: not one of each feature and each of its knots")
        return self


class BoostedWeights(_Saved, frozen=True):
    """Gradient-boosted trees, see `pipelines.linkage.scoring.learned_scorers.boosted`."""

    kind: Literal["boosted"]
    trees: list[_Tree]

    @pydantic.model_validator(mode="after")
    def _fits(self) -> Self:
        if not self.trees:
            raise ValueError("trees: there is none")
        if any(not 0 <= feature < len(self.features) for tree in self.trees for feature in tree.feature):
            raise ValueError("trees: one asks for a feature that there is not")
        return self


_SAVED: pydantic.TypeAdapter[LogisticWeights | BoostedWeights] = pydantic.TypeAdapter(
    Annotated[LogisticWeights | BoostedWeights, pydantic.Field(discriminator="kind")]
)


def load_model(kind: Kind = "boosted", *, cosine: bool = False) -> LinkModel:
    """Return the model that ships with the package, or the one that has the encoder's cosine for a feature too."""
    folder = importlib.resources.files("pipelines.linkage.scoring") / "learned"
    name = f"{kind}-cosine.json" if cosine else f"{kind}.json"
    return model_of(json.loads((folder / name).read_text("utf-8")), source=name)


def model_of(saved: dict[str, Any], *, source: str) -> LinkModel:
    """Return the model a JSON object describes.

    Args:
        saved: what `pipelines.calibration.fit_scorer.learn` returns.
        source: where it came from, for messages.

    Raises:
        QprError: it was learned from other features than these, or is damaged.
    """
    try:
        checked = _SAVED.validate_python(saved)
    except pydantic.ValidationError as error:
        raise QprError(f"{source}: {first_fault(error)}. Learn the weights again") from error
    if isinstance(checked, LogisticWeights):
        pairs: Any = Logistic(np.array(checked.knots), np.array(checked.weights), checked.bias)
    else:
        trees = [tree.model_dump() for tree in checked.trees]
        pairs = boosted(trees, len(checked.features), checked.bias)
    return LinkModel(pairs, checked.threshold, checked.cosine, checked.least_of_two)


def feature_names(*, cosine: bool) -> Sequence[str]:
    """Return the names of a pair's features in order."""
    return (*NAMES, *COSINES) if cosine else NAMES
