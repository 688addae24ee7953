"""Clusters by the agreement of neighbours, without any learning: the peer of every linkage.

texts, answers -> agreement_clusters -> cluster of each row

For questions i and j of one answer, A(i, j) is the share of questions with that answer among all questions of the log
that are at least as near to i as j is. i and j are linked if (A(i, j) + A(j, i)) / 2 reaches a threshold; clusters are
the connected components. Similarity is the cosine of TF-IDF vectors of character n-grams,
or of an encoder's vectors.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import scipy.sparse as sp
from scipy.sparse.csgraph import connected_components
from sklearn.feature_extraction.text import TfidfVectorizer

BLOCK = 256
"""Questions compared with all others at a time: 256 rows of 87,000 similarities are 180 MB."""


def agreement_clusters(
    texts: list[str],
    answers: np.ndarray,
    *,
    threshold: float,
    vectors: np.ndarray | None = None,
    linked_rows: np.ndarray | None = None,
    least_similarity: float = -math.inf,
) -> np.ndarray:
    """Return the cluster of each row.

    Args:
        texts: (R,) folded questions, distinct.
        answers: (R,) number of the answer of each row.
        threshold: minimum agreement of a link, from 0 to 1.
        vectors: (R, D) vectors of length 1, by which questions are compared; None: by their characters.
        linked_rows: (R,) bool, rows of whole answers to link; None: all.
        least_similarity: of a link.
    """
    matrix: Any = vectors
    if vectors is None:
        counted = TfidfVectorizer(analyzer="char_wb", ngram_range=(2, 5), min_df=2, sublinear_tf=True, dtype=np.float32)
        matrix = counted.fit_transform(texts).tocsr()
    sizes = np.bincount(answers)
    rows = np.flatnonzero((sizes[answers] > 1) & (True if linked_rows is None else linked_rows))
    rows = rows[np.argsort(answers[rows], kind="stable")]
    left, right, share = [], [], []
    transposed = matrix.T.tocsr() if sp.issparse(matrix) else matrix.T
    for start in range(0, len(rows), BLOCK):
        block = rows[start : start + BLOCK]
        product = matrix[block] @ transposed
        similarity = np.asarray(product.todense()) if sp.issparse(product) else product
        for place, row in enumerate(block):
            mates = _mates(answers, rows, row)
            of_row = similarity[place]
            order = np.sort(of_row)  # similarities that differ by rounding count as equal
            nearer = len(order) - np.searchsorted(order, of_row[mates] - 1e-6, "left")
            among = np.sort(of_row[mates])
            same = len(among) - np.searchsorted(among, of_row[mates] - 1e-6, "left")
            left.append(np.full(len(mates) - 1, row))
            others = mates != row
            right.append(mates[others])
            agreement = np.where(of_row[mates] >= least_similarity, (same - 1) / np.maximum(nearer - 1, 1), 0)
            share.append(agreement[others])
    return _components(*map(np.concatenate, (left, right, share)), rows=len(texts), threshold=threshold)


def _mates(answers: np.ndarray, rows: np.ndarray, row: int) -> np.ndarray:
    start, end = np.searchsorted(answers[rows], [answers[row], answers[row] + 1])
    mates: np.ndarray = rows[start:end]
    return mates


def _components(left: np.ndarray, right: np.ndarray, share: np.ndarray, *, rows: int, threshold: float) -> np.ndarray:
    agreement = sp.csr_matrix((share, (left, right)), (rows, rows))
    both = (agreement + agreement.T).tocoo()
    linked = both.data / 2 >= threshold
    graph = sp.csr_matrix((np.ones(linked.sum()), (both.row[linked], both.col[linked])), (rows, rows))
    labels: np.ndarray = connected_components(graph, directed=False)[1]
    return labels
