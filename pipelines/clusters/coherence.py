"""Coherence of the questions of a cluster.

MEMBERS ordered by cluster, starts of clusters -> coherence -> one score a cluster
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from pipelines.questions.token_frequencies import TokenWeights
from schemas.ragged import sizes_of_runs


class Coherence(NamedTuple):
    """Scores of C clusters, each (C,) float64.

    With T_i the tokens of question i, S their union, W the sum of token weights and r = sum of W(T_i) / W(S):

    Attributes:
        paper: r / n with all weights 1, in (0, 1] (Bonadiman et al. 2019, section 4.1.1, eq. 5 and 6).
        adjusted: (r - 1) / (n - 1), 0 when no token is shared and 1 when all sets are equal, whatever n; the paper's
            score gives two questions without a common token 1/2. A cluster of one scores 1.
        idf: the adjusted score with inverse document frequencies as weights.
    """

    paper: np.ndarray
    adjusted: np.ndarray
    idf: np.ndarray

    def named(self, name: str) -> np.ndarray:
        """Return the score that the option ``--coherence`` names."""
        return {"paper": self.paper, "adjusted": self.adjusted, "idf": self.idf}[name]


def coherence(token_lists: pa.Array | pa.ChunkedArray, starts: np.ndarray, weights: TokenWeights) -> Coherence:
    """Score every cluster.

    Args:
        token_lists: hashes of each question's distinct tokens, at least one; the questions of a cluster side by side.
        starts: (C,) row at which each cluster starts, ascending, the first 0.
        weights: of the tokens.
    """
    rows = token_lists.combine_chunks() if isinstance(token_lists, pa.ChunkedArray) else token_lists
    sizes = sizes_of_runs(starts, len(rows))
    lengths = pc.list_value_length(rows).to_numpy(zero_copy_only=False).astype(np.int64)
    cluster_of_token = np.repeat(np.repeat(np.arange(len(starts)), sizes), lengths)
    coded = pc.list_flatten(rows).dictionary_encode()
    codes = coded.indices.to_numpy()
    weight_of_code = weights.of(coded.dictionary.to_numpy())
    distinct = pc.unique(pa.array(cluster_of_token * max(len(coded.dictionary), 1) + codes)).to_numpy()
    union_cluster, union_code = np.divmod(distinct, max(len(coded.dictionary), 1))
    clusters = len(starts)

    def ratio(weight: np.ndarray | None) -> np.ndarray:
        total = np.bincount(cluster_of_token, None if weight is None else weight[codes], clusters)
        union = np.bincount(union_cluster, None if weight is None else weight[union_code], clusters)
        return total / union

    plain = ratio(None)
    others = np.maximum(sizes - 1, 1)
    return Coherence(
        paper=plain / sizes,
        adjusted=np.where(sizes > 1, (plain - 1) / others, 1.0),
        idf=np.where(sizes > 1, (ratio(weight_of_code) - 1) / others, 1.0),
    )
