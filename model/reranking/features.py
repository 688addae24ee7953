"""Features of a query and a hit.

rows of words of pairs, WordTable -> compare -> (pairs, features); a query's candidates -> standings -> further ones
"""

from __future__ import annotations

from typing import Final

import numpy as np

from model.reranking.term_statistics import WordTable
from schemas.arrays import Bools, Float32s, Int32s

PAIR: Final = (
    "bm25", "bm25_of_candidate", "bm25_share", "bm25_share_of_candidate",
    "contained", "contained_of_candidate", "jaccard",
    "unmatched_largest", "unmatched_largest_of_candidate", "unmatched", "unmatched_of_candidate",
    "unlike_largest", "unlike_largest_of_candidate", "unlike", "unlike_of_candidate",
    "unlike_share", "unlike_share_of_candidate",
    "unlike_weight_largest", "unlike_weight_largest_of_candidate",
    "unlike_weight_share", "unlike_weight_share_of_candidate",
    "unmatched_count", "unmatched_count_of_candidate", "bigrams",
    "length", "length_of_candidate", "lengths_differ", "same_first", "same_last", "numbers_differ",
    "idf", "idf_of_candidate", "first_words_alike",
)  # fmt: skip
"""Columns of `compare`. A word is matched if the other question has it; how unlike it is, is 1 less the cosine to its
nearest word there (after the greedy matching of Zhang et al. 2020, section 3), times its idf or what it weighs."""

COMPARED: Final = (
    "bm25_share", "bm25_share_of_candidate", "jaccard",
    "unlike_share", "unlike_share_of_candidate", "unlike_weight_share", "unlike_weight_share_of_candidate",
)  # fmt: skip
"""Columns that are held against those of a query's other candidates too."""

_K1, _B = 1.5, 0.75
"""Saturation of repeated words and share of the length, as `model.index.lexical_files` has them."""

_PAIRS: Final = 2_048
"""Pairs compared together: 5 MB of similarities of their words."""


def compare(queries: Int32s, candidates: Int32s, words: WordTable, *, mean_length: float) -> Float32s:
    """Return (pairs, len(PAIR)) float32 of pairs of questions.

    Args:
        queries: (pairs, W) rows of the words of each pair's query; the table's last row pads.
        candidates: (pairs, W) those of the question found.
        words: the table.
        mean_length: words a question of the index.
    """
    table = np.empty((len(queries), len(PAIR)), np.float32)
    for start in range(0, len(queries), _PAIRS):
        part = slice(start, start + _PAIRS)
        columns = _compared(queries[part], candidates[part], words, mean_length)
        for place, name in enumerate(PAIR):
            table[part, place] = columns.pop(name)
    return table


def standings(values: Float32s, present: Bools) -> Float32s:
    """Return each candidate's rank by a value and how much less it has than the best, (n, k, 2).

    Args:
        values: (n, k).
        present: (n, k) False where a query has no candidate, which is compared with none; its gap is 0.
    """
    order = np.argsort(-np.where(present, values, -np.inf), axis=1, kind="stable")
    rank = np.empty_like(order)
    np.put_along_axis(rank, order, np.arange(values.shape[1])[None], axis=1)
    return np.stack([rank.astype(np.float32), _below_best(values, present)], axis=2)


def behind(table: Float32s, present: Bools) -> Float32s:
    """Return how far each candidate is behind its query's best one by the columns `COMPARED` of (n, k, len(PAIR))."""
    columns = table[:, :, [PAIR.index(name) for name in COMPARED]]
    bigger_is_better = np.array([1 if "unlike" not in name else -1 for name in COMPARED], np.float32)
    return _below_best(columns * bigger_is_better, present[:, :, None])


def _below_best(values: Float32s, present: Bools) -> Float32s:
    """Return the maximum over the candidates (axis 1) that are there minus each value, 0 for others."""
    best = np.where(present, values, -np.inf).max(axis=1, keepdims=True, initial=-np.inf)
    with np.errstate(invalid="ignore"):  # a query without a candidate has no best one
        return np.where(present, best - values, 0).astype(np.float32)


def _compared(queries: Int32s, candidates: Int32s, words: WordTable, mean_length: float) -> dict[str, np.ndarray]:
    none = len(words.idf) - 1
    equal = (queries[:, :, None] == candidates[:, None, :]) & (queries != none)[:, :, None]
    alike = _alike(queries, candidates, words, equal)
    values: dict[str, np.ndarray] = {}
    lengths = (queries != none).sum(axis=1), (candidates != none).sum(axis=1)
    for rows, axis, other, end in ((queries, 2, lengths[1], ""), (candidates, 1, lengths[0], "_of_candidate")):
        sides = _side(rows, words, times=equal.sum(axis=axis), alike=alike.max(axis=axis), other=other / mean_length)
        values |= {f"{name}{end}": value for name, value in sides.items()}
    union = values["idf"] + values["idf_of_candidate"] - values["contained_of_candidate"] * values["idf_of_candidate"]
    values["jaccard"] = values["contained"] * values["idf"] / union
    pairs = equal[:, :-1, :-1] & equal[:, 1:, 1:]
    values["bigrams"] = pairs.any(axis=2).sum(axis=1) / np.maximum(np.minimum(*lengths) - 1, 1)
    values["lengths_differ"] = np.abs(lengths[0] - lengths[1])
    pair = np.arange(len(queries))
    last = (side[pair, np.maximum(length - 1, 0)] for side, length in zip((queries, candidates), lengths, strict=True))
    values["same_first"], values["same_last"] = queries[:, 0] == candidates[:, 0], np.equal(*last)
    values["numbers_differ"] = values.pop("numbers") + values.pop("numbers_of_candidate")
    values["first_words_alike"] = alike[:, 0, 0]
    return values


def _alike(queries: Int32s, candidates: Int32s, words: WordTable, equal: Bools) -> Float32s:
    """Return the cosine of every word of one question to every word of the other, in [0, 1], 0 where there is none."""
    if words.vectors is None:
        return equal.astype(np.float32)
    cosines: Float32s = words.vectors[queries] @ words.vectors[candidates].transpose(0, 2, 1)
    return np.clip(cosines, 0, 1, out=cosines)


def _side(
    rows: Int32s, words: WordTable, *, times: np.ndarray, alike: Float32s, other: np.ndarray
) -> dict[str, np.ndarray]:
    """Return the features of one question's words compared with the other question.

    Args:
        rows: (pairs, W) of its words.
        words: the table.
        times: (pairs, W) how often the other question has each.
        alike: (pairs, W) the cosine to the nearest word of the other question.
        other: (pairs,) length of the other question by the mean.
    """
    idf, weight = words.idf[rows], words.weights[rows]
    word = rows != len(words.idf) - 1
    idf_sum, weighed = idf.sum(axis=1) + np.float32(1e-6), weight.sum(axis=1) + np.float32(1e-6)
    unmatched, unlike, unlike_weight = idf * (times == 0), idf * (1 - alike), weight * (1 - alike)
    bm25 = (idf * times * (_K1 + 1) / (times + _K1 * (1 - _B + _B * other[:, None]))).sum(axis=1)
    return {
        "bm25": bm25,
        "bm25_share": bm25 / idf_sum,
        "contained": (idf * (times > 0)).sum(axis=1) / idf_sum,
        "unmatched_largest": unmatched.max(axis=1),
        "unmatched": unmatched.sum(axis=1),
        "unlike_largest": unlike.max(axis=1),
        "unlike": unlike.sum(axis=1),
        "unlike_share": unlike.sum(axis=1) / idf_sum,
        "unlike_weight_largest": unlike_weight.max(axis=1),
        "unlike_weight_share": unlike_weight.sum(axis=1) / weighed,
        "unmatched_count": (word & (times == 0)).sum(axis=1),
        "numbers": (words.numeric[rows] & (times == 0)).sum(axis=1),
        "length": word.sum(axis=1),
        "idf": idf_sum,
    }
