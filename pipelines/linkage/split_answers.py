"""Linkage: assignment of the questions of each answer to groups of paraphrases.

MEMBERS of whole answers, TokenWeights, LinkModel, Witnesses -> link -> Linked: the group of every row
"""

from __future__ import annotations

import numpy as np
import pyarrow as pa

from pipelines.linkage.comparison.blocking import ALL_PAIRS
from pipelines.linkage.comparison.compare import compare
from pipelines.linkage.intents import STRAY, Intents
from pipelines.linkage.large_answers import link_large
from pipelines.linkage.scoring.pair_model import Linked, LinkModel, expected_within, in_millionths, mean_within
from pipelines.linkage.witnesses import Witnesses, find_witnesses
from pipelines.questions.token_frequencies import TokenWeights
from schemas.ragged import sizes_of_runs, starts_of_runs, sums_of_runs


def link(
    members: pa.Table,
    weights: TokenWeights,
    model: LinkModel,
    *,
    vectors: np.ndarray | None = None,
    witnesses: Witnesses | None = None,
    intents: Intents | None = None,
) -> Linked:
    """Split each answer's questions into groups of paraphrases.

    Args:
        members: MEMBERS ordered by cluster and question, all rows of each answer present.
        weights: weights of the log's tokens.
        model: pair model and threshold.
        vectors: (R, D) vectors of the questions, of any length; read only by a model that uses their cosine.
        witnesses: neighbours of the questions, read only if the model uses their agreement; None: the rows are the
            whole log, and all are compared.
        intents: answers all of whose questions are paraphrases but for strays; None: no answer is.
    """
    vectors = vectors if model.cosine else None
    if model.agreement and witnesses is None:
        witnesses = find_witnesses(members, weights)
    witnesses = witnesses if model.agreement else None
    group, confidence = np.arange(len(members)), np.zeros(len(members))
    answers = members["answer_id"].to_numpy()
    of_intent = np.zeros(len(members), bool) if intents is None else intents.of_intent
    if intents is not None:
        _join_intents(answers, intents, group, confidence)
    expected = expected_within(group, confidence)
    if intents is not None:
        expected += _expected_of_strays(answers, intents)
    starts = starts_of_runs(answers)
    sizes = sizes_of_runs(starts, len(members))
    fact, small = ~of_intent[starts], sizes <= ALL_PAIRS
    compared = fact & small & _have_witnesses(model, witnesses, starts)
    by_words = fact & small & ~compared
    large = [np.arange(starts[n], starts[n] + sizes[n]) for n in np.flatnonzero(fact & ~small)]
    words = model.words or model
    parts = [(np.flatnonzero(np.repeat(compared, sizes)), _link_small, model)]
    parts.append((np.flatnonzero(np.repeat(by_words, sizes)), _link_small, words))
    for rows, split, used in [*parts, *((rows, link_large, words) for rows in large)]:
        found = split(
            members if len(rows) == len(members) else members.take(pa.array(rows)),
            weights,
            used,
            vectors[rows] if vectors is not None and used.cosine else None,
            witnesses.take(rows) if witnesses is not None and used.agreement else None,
        )
        group[rows], confidence[rows] = rows[found.group], found.confidence
        expected[rows] += 0 if found.expected is None else found.expected
    return Linked(group, confidence, of_intent, expected)


def _have_witnesses(model: LinkModel, witnesses: Witnesses | None, starts: np.ndarray) -> np.ndarray:
    """Return for each answer whether a question of it has a neighbour with another answer, if the model needs one."""
    if model.words is None or witnesses is None or not len(starts):
        return np.ones(len(starts), bool)
    some: np.ndarray = np.maximum.reduceat(witnesses.other[:, 0], starts) > 0
    return some


def _join_intents(answers: np.ndarray, intents: Intents, group: np.ndarray, confidence: np.ndarray) -> None:
    """Join the rows that belong to an intent, in place; a stray stays alone."""
    rows = np.flatnonzero(intents.belongs)
    starts = starts_of_runs(answers[rows])
    sizes = sizes_of_runs(starts, len(rows))
    group[rows] = np.repeat(rows[starts], sizes)
    confidence[rows] = np.where(np.repeat(sizes, sizes) > 1, intents.probability, 0.0)


def _expected_of_strays(answers: np.ndarray, intents: Intents) -> np.ndarray:
    """Return `Linked.expected` of the pairs of an intent with a stray."""
    starts = starts_of_runs(answers)
    rows, kept = sizes_of_runs(starts, len(answers)), sums_of_runs(intents.belongs.astype(np.int64), starts)
    pairs = np.where(intents.of_intent[starts], (rows * (rows - 1) - kept * (kept - 1)) // 2, 0)
    return in_millionths(starts, np.full(len(starts), STRAY), pairs, rows=len(answers))


def _link_small(
    members: pa.Table,
    weights: TokenWeights,
    model: LinkModel,
    vectors: np.ndarray | None,
    witnesses: Witnesses | None,
) -> Linked:
    """Split answers of at most `ALL_PAIRS` questions, all pairs of which are compared."""
    group, confidence = np.arange(len(members)), np.zeros(len(members))
    expected = np.zeros(len(members), np.int64)
    for left, right, answers, found in compare(members, weights, vectors=vectors, witnesses=witnesses):
        probability = model.pairs.probability(found, answers)
        first, last = left.min(), right.max() + 1  # rows of an answer are consecutive: use only those of this part
        left, right = left - first, right - first
        expected[first:last] += in_millionths(left, probability, rows=last - first)
        part = model.groups(left, right, probability, rows=last - first)
        group[first:last] = part + first
        confidence[first:last] = mean_within(part, left, right, probability)
    return Linked(group, confidence, expected=expected)
