"""Reranker: a small network that orders the hits of a query by their words and by further encoders.

Index, texts, Ranking -> Reranker.reordered -> Ranking
"""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pydantic

from model.encoders.interface import Encoder
from model.reranking.features import COMPARED, PAIR, behind, compare, standings
from model.reranking.term_statistics import WordCounts, worded
from schemas.arrays import Float32s, Int64s
from schemas.text_arrays import key_all
from schemas.words import VERSION

if TYPE_CHECKING:
    from model.index.index import Index
    from model.index.ranking import Ranking

QUERIES = 128
"""Queries whose candidates are compared together."""

Weights = dict[str, npt.NDArray[Any]]


class OtherEncoder(pydantic.BaseModel, frozen=True, extra="forbid"):
    """An encoder that judges candidates beside the index's own: its URL and digest."""

    url: str
    digest: str


class RerankerSettings(pydantic.BaseModel, frozen=True, extra="forbid"):
    """The configuration in a reranker's manifest.

    Attributes:
        version: of the features, so that weights are never applied to other ones.
        model_digest: the encoder of the index it was learned with.
        depth: number of hits that are reordered.
        encoders: that judge them too.
        hidden: units of the network.
        questions: number of questions of the index, for inverse document frequencies.
        mean_length: words of a question there.
        tokenizer: version of the words (`schemas.words`); settings without it have version 1.
    """

    version: Literal[1] = 1
    model_digest: str
    depth: int = pydantic.Field(ge=2, le=1_000)
    encoders: tuple[OtherEncoder, ...] = ()
    hidden: int = pydantic.Field(ge=1)
    questions: int = pydantic.Field(ge=0)
    mean_length: float = pydantic.Field(ge=1, le=10_000, allow_inf_nan=False)
    tokenizer: Literal[1, 2] = VERSION


def feature_count(encoders: int) -> int:
    """Return the number of features of a candidate for this number of encoders, the index's own included."""
    return 3 * encoders + len(PAIR) + len(COMPARED)


def weight_shapes(settings: RerankerSettings) -> dict[str, tuple[int, ...]]:
    """Return the name and shape of every weight of a reranker."""
    features, hidden = feature_count(1 + len(settings.encoders)), settings.hidden
    shapes: dict[str, tuple[int, ...]] = {"mean": (features,), "deviation": (features,)}
    return {**shapes, "hidden.weight": (hidden, features), "hidden.bias": (hidden,), "out.weight": (hidden,)}


LARGEST = 4.0
"""Maximum of a feature in standard deviations from its mean."""


@dataclasses.dataclass(frozen=True)
class Reranker:
    """A trained reranker.

    Attributes:
        url: where it is.
        settings: what it was learned with.
        counts: of the words of the index.
        weights: of `weight_shapes`, float32.
        encoders: those of the settings.
    """

    url: str
    settings: RerankerSettings
    counts: WordCounts
    weights: Weights
    encoders: tuple[Encoder, ...]

    @property
    def depth(self) -> int:
        """Number of hits that are reordered."""
        return self.settings.depth

    def reordered(self, index: Index, texts: pa.Array, hits: Ranking, k: int) -> Ranking:
        """Return the first k hits of each text after reordering the first `depth` of them.

        Scores become the network's, whose differences are log odds of being the paraphrase; hits further down follow in
        their order. Equal scores keep theirs.
        """
        depth = min(self.depth, hits.ids.shape[1])
        scores = np.full((len(texts), depth), -np.inf, np.float32)
        for start in range(0, len(texts), QUERIES):
            part = slice(start, start + QUERIES)
            rows = hits.rows[part, :depth]
            table = self.features(index, texts.slice(start, QUERIES), rows, hits.scores[part, :depth])
            scores[part] = np.where(rows >= 0, logits(self.weights, table), -np.inf)
        order = np.argsort(-scores, axis=1, kind="stable")
        rest = np.broadcast_to(np.arange(depth, hits.ids.shape[1]), (len(texts), hits.ids.shape[1] - depth))
        places = np.hstack([order, rest])[:, :k]
        ids, rows = (np.take_along_axis(part, places, axis=1) for part in (hits.ids, hits.rows))
        lowest = np.where(np.isfinite(scores), scores, np.inf).min(axis=1, initial=np.inf, keepdims=True)
        with np.errstate(invalid="ignore"):  # a query that finds nothing has no score at all
            fall = hits.scores[:, depth:] - hits.scores[:, depth - 1 : depth]
        below = np.where(np.isfinite(fall), lowest + np.minimum(fall, 0), -np.inf)
        both = np.hstack([scores, below.astype(np.float32)])
        return dataclasses.replace(hits, ids=ids, rows=rows, scores=np.take_along_axis(both, places, axis=1))

    def features(self, index: Index, texts: pa.Array, rows: Int64s, scores: Float32s) -> Float32s:
        """Return the features of the candidates of queries, (n, k, features).

        Args:
            index: holds the candidates.
            texts: (n,) the queries in their original wording.
            rows: (n, k) of the index, -1 where there is none.
            scores: (n, k) as of `model.index.ranking.Ranking`.
        """
        distinct_rows, place = np.unique(rows[rows >= 0], return_inverse=True)
        candidate = np.full(rows.shape, -1, np.int64)
        candidate[rows >= 0] = place + len(texts)
        compared = pa.concat_arrays([texts, index.questions(distinct_rows)["text"].combine_chunks()])
        return self._compared(compared, index.encoder, candidate, scores)

    def _compared(self, compared: pa.Array, encoder: Encoder, candidate: Int64s, scores: Float32s) -> Float32s:
        """Return the features; ``candidate`` (n, k) are places in ``compared``, whose first n texts are the queries.

        Where a place is -1 there is no candidate; what stands there does not depend on the other queries, nor do other
        candidates depend on it.
        """
        n, k = candidate.shape
        present = candidate >= 0
        candidate = np.where(present, candidate, np.arange(n)[:, None])
        query = np.repeat(np.arange(n), k)
        words, table = worded(key_all(compared), self.counts, encoder)
        pairs = compare(words[query], words[candidate.ravel()], table, mean_length=self.counts.mean_length)
        nearness = [np.where(np.isfinite(scores), 1 + scores / 2, -1).astype(np.float32)]
        for other_encoder in self.encoders:
            vectors = other_encoder.encode(compared)
            nearness.append(np.einsum("nd,nkd->nk", vectors[:n], vectors[candidate]))
        pairs = pairs.reshape(n, k, -1)
        columns = [part for near in nearness for part in (near[:, :, None], standings(near, present))]
        return np.concatenate([*columns, pairs, behind(pairs, present)], axis=2)


def logits(weights: Weights, table: Float32s) -> Float32s:
    """Return the score of every candidate, (n, k) of features (n, k, F): one hidden layer of tanh."""
    inputs = np.clip((table - weights["mean"]) / weights["deviation"], -LARGEST, LARGEST)
    hidden = np.tanh(inputs @ weights["hidden.weight"].T + weights["hidden.bias"])
    return np.asarray(hidden @ weights["out.weight"], np.float32)


def other_encoders(urls: Sequence[str]) -> tuple[OtherEncoder, ...]:
    """Return the record of the encoders at these URLs that a reranker stores.

    Raises:
        QprError: there is none.
    """
    from model.encoders.addresses import absolute_address
    from model.encoders.loading import digest_of

    return tuple(OtherEncoder(url=absolute_address(url), digest=digest_of(url)) for url in urls)
