"""Learned weights of pair models.

learned/*.txt (LightGBM), *.json, *.parquet -> load_model, load_facts_model -> LinkModel
JSON of a calibration -> model_of -> LinkModel
"""

from __future__ import annotations

import dataclasses
import functools
import importlib.resources
import json
from collections.abc import Sequence
from typing import Annotated, Any, Final, Literal, Self

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pydantic

from pipelines.linkage.comparison.agreement_features import AGREEMENT, AGREEMENT_OF_WORDS
from pipelines.linkage.comparison.cosine_features import COSINES
from pipelines.linkage.comparison.pair_features import NAMES
from pipelines.linkage.comparison.word_alignment import ALIGNED
from pipelines.linkage.comparison.word_differences import DifferenceWeights
from pipelines.linkage.scoring.learned_scorers import Boosted, BoostedWithDifferences, Logistic, boosted
from pipelines.linkage.scoring.lightgbm_text import trees_of
from pipelines.linkage.scoring.pair_model import LinkModel
from pipelines.linkage.settings import EncoderKind
from schemas.artifacts.manifest import first_fault
from schemas.errors import QprError

Kind = Literal["boosted", "logistic"]

WORDS: Final = "boosted-words.json"
"""File of the trees that compare words alone."""

DIFFERENCES: Final = pa.schema([pa.field("hash", pa.uint64(), False), pa.field("weight", pa.float32(), False)])
"""Columns of the weights of words by which questions differ, one row a `word_differences.Differences.key`."""

_Numbers = list[pydantic.FiniteFloat]


class _Saved(pydantic.BaseModel, frozen=True):
    """Fields of weights of both kinds; the description of the data they were fitted to is ignored."""

    cosine: bool
    features: tuple[str, ...]
    threshold: float = pydantic.Field(gt=0, le=1)
    least_of_two: float = pydantic.Field(default=0.0, ge=0, le=1)

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
    bias: pydantic.FiniteFloat

    @pydantic.model_validator(mode="after")
    def _fits(self) -> Self:
        lengths = {len(knots) for knots in self.knots}
        if len(self.knots) != len(self.features) or len(lengths) != 1:
            raise ValueError("knots: expected the same number of knots for each feature")
        if len(self.weights) != len(self.features) * (lengths.pop() + 1):
            raise ValueError("weights: expected one for each feature and one for each knot")
        return self


class BoostedWeights(_Saved, frozen=True):
    """Gradient-boosted trees as the text of a LightGBM model."""

    kind: Literal["boosted"]
    trees: str


class DifferencesFile(pydantic.BaseModel, frozen=True):
    """`DifferenceWeights` in a Parquet file with the columns `DIFFERENCES`."""

    file: str
    bias: pydantic.FiniteFloat
    scale: float = pydantic.Field(gt=0, allow_inf_nan=False)


class TreesFile(pydantic.BaseModel, frozen=True):
    """Files and thresholds of a LightGBM model."""

    kind: Literal["lightgbm"]
    file: str
    threshold: float = pydantic.Field(gt=0, le=1)
    least_of_two: float = pydantic.Field(default=0.0, ge=0, le=1)
    precision: float | None = pydantic.Field(default=None, gt=0, le=1)
    threshold_of_small: float | None = pydantic.Field(default=None, gt=0, le=1)
    differences: DifferencesFile | None = None


_SAVED: pydantic.TypeAdapter[LogisticWeights | BoostedWeights] = pydantic.TypeAdapter(
    Annotated[LogisticWeights | BoostedWeights, pydantic.Field(discriminator="kind")]
)


@functools.cache
def load_model(kind: Kind = "boosted", encoder: EncoderKind | None = None) -> LinkModel:
    """Return the shipped model of a kind.

    Args:
        kind: how it computes probabilities.
        encoder: the kind of encoder whose vectors are compared too; None: words alone are.

    Raises:
        QprError: there are no weights of this kind for an encoder.
    """
    if encoder and kind != "boosted":
        raise QprError(f"--linkage {kind} has no weights for an encoder. Link with boosted, or use qpr calibrate")
    return _read(kind, encoder)


@functools.cache
def load_facts_model(encoder: EncoderKind | None = None) -> LinkModel:
    """Return the shipped trees for logs of facts, in which the same answer seldom means the same question.

    Args:
        encoder: the kind of encoder whose vectors are compared too; None: words alone are.
    """
    return _read("facts", encoder)


def _read(learned: str, encoder: EncoderKind | None) -> LinkModel:
    """Return the model of files in the folder of learned weights."""
    folder = importlib.resources.files("pipelines.linkage.scoring") / "learned"
    name = f"{learned}-{encoder}.json" if encoder else f"{learned}.json"
    saved = json.loads((folder / name).read_text("utf-8"))
    if saved["kind"] != "lightgbm":
        return model_of(saved, source=name)
    described = TreesFile.model_validate(saved)
    model = model_of_trees((folder / described.file).read_text("utf-8"), described)
    if described.differences is not None:
        stored = pq.read_table(pa.BufferReader((folder / described.differences.file).read_bytes()), schema=DIFFERENCES)
        model = with_differences(model, stored, described.differences)
    words = TreesFile.model_validate_json((folder / WORDS).read_text("utf-8"))
    return dataclasses.replace(model, words=model_of_trees((folder / words.file).read_text("utf-8"), words))


def model_of_trees(text: str, described: TreesFile) -> LinkModel:
    """Return the model of a LightGBM text; it may leave out features of each kind.

    Raises:
        QprError: the text cannot be read, or its model is for other features.
    """
    read = trees_of(text, source=described.file)
    agreement, words_too, cosine, alignment = (
        not set(names).isdisjoint(read.features) for names in (AGREEMENT, AGREEMENT_OF_WORDS, COSINES, ALIGNED)
    )
    computed = tree_features(cosine=cosine, words_too=words_too, alignment=alignment) if agreement else NAMES
    if not set(read.features) <= set(computed):
        raise QprError(f"{described.file}: learned from other features than this version computes. Learn it again")
    column = [computed.index(name) for name in read.features]
    trees = [tree | {"feature": [column[feature] for feature in tree["feature"]]} for tree in read.trees]
    return LinkModel(
        boosted(trees, len(computed)),
        described.threshold,
        cosine,
        least_of_two=described.least_of_two,
        agreement=agreement,
        words_too=words_too,
        alignment=alignment,
        precision=described.precision,
        threshold_of_small=described.threshold_of_small,
    )


def with_differences(model: LinkModel, stored: pa.Table, described: DifferencesFile) -> LinkModel:
    """Return a model of trees that also weighs the words by which questions differ.

    Args:
        model: of boosted trees.
        stored: DIFFERENCES ordered by hash.
        described: addend to the log odds of each pair, and factor of those of the trees.

    Raises:
        TypeError: the model is another one.
    """
    if not isinstance(model.pairs, Boosted):
        raise TypeError("weights of differences are learned after boosted trees")
    key, weight = (stored[name].to_numpy() for name in DIFFERENCES.names)
    weights = DifferenceWeights(key, weight, described.bias)
    pairs = BoostedWithDifferences(model.pairs, described.scale)
    return dataclasses.replace(model, pairs=pairs, differences=weights)


def model_of(saved: dict[str, Any], *, source: str) -> LinkModel:
    """Return the model of a JSON object.

    Args:
        saved: weights, as `pipelines.calibration.fit_scorer.learn` returns them.
        source: name of their file or origin, for error messages.

    Raises:
        QprError: the weights are invalid or for other features than this version computes.
    """
    try:
        checked = _SAVED.validate_python(saved)
    except pydantic.ValidationError as error:
        raise QprError(f"{source}: {first_fault(error)}. Learn the weights again") from error
    if isinstance(checked, LogisticWeights):
        pairs: Any = Logistic(np.array(checked.knots), np.array(checked.weights), checked.bias)
    else:
        read = trees_of(checked.trees, source=f"{source}: trees")
        if read.features != checked.features:
            raise QprError(f"{source}: trees: of other features than the weights. Learn the weights again")
        pairs = boosted(read.trees, len(read.features))
    return LinkModel(pairs, checked.threshold, checked.cosine, checked.least_of_two)


def tree_features(*, cosine: bool = False, words_too: bool = False, alignment: bool = False) -> tuple[str, ...]:
    """Return the names of the features of trees that compare neighbours, in order.

    Args:
        cosine: neighbours are found by an encoder's vectors, and its cosines are compared.
        words_too: neighbours by words are compared beside those.
        alignment: different words are compared by the encoder, too.
    """
    of_words = AGREEMENT_OF_WORDS if words_too else ()
    return (*NAMES, *AGREEMENT, *of_words, *(COSINES if cosine else ()), *(ALIGNED if alignment else ()))


def feature_names(*, cosine: bool) -> Sequence[str]:
    """Return the names of the features of weights without neighbours, in order."""
    return (*NAMES, *COSINES) if cosine else NAMES
