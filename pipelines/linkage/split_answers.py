"""Linkage: assignment of the questions of each answer to groups of paraphrases.

Questions of whole answers, LinkModel -> link -> Linked: the group of every row
Questions of some answers, LinkModel -> compared_pairs -> Sample: the probability of every pair
"""

from __future__ import annotations

import dataclasses

import numpy as np
import pyarrow as pa

from pipelines.linkage.comparison.blocking import ALL_PAIRS
from pipelines.linkage.comparison.compare import Questions, compare
from pipelines.linkage.intents import STRAY, Intents
from pipelines.linkage.large_answers import link_large
from pipelines.linkage.log_profile import pairs_of_answers
from pipelines.linkage.scoring.answer_sample import Sample
from pipelines.linkage.scoring.pair_model import Linked, LinkModel, expected_within, in_millionths, mean_within
from pipelines.linkage.witnesses import Witnesses, find_witnesses
from schemas.ragged import runs_of, sums_of_runs


def link(questions: Questions, model: LinkModel, intents: Intents | None = None) -> Linked:
    """Split each answer's questions into groups of paraphrases.

    Args:
        questions: of whole answers. Vectors are read only by a model that uses their cosine, and neighbours by one that
            uses their agreement; without neighbours, the rows are the whole log, and all are compared.
        model: pair model and threshold.
        intents: answers all of whose questions are paraphrases but for strays; None: no answer is.
    """
    members = questions.members
    if model.agreement and questions.witnesses is None:
        questions = dataclasses.replace(questions, witnesses=find_witnesses(members, questions.weights))
    group, confidence = np.arange(len(members)), np.zeros(len(members))
    answers = members["answer_id"].to_numpy()
    if intents is not None:
        _join_intents(answers, intents, group, confidence)
    expected = expected_within(group, confidence)
    if intents is not None:
        expected += _expected_of_strays(answers, intents)
    starts, sizes = runs_of(answers)
    of_intent = np.zeros(len(members), bool) if intents is None else intents.of_intent
    fact, compared = ~of_intent[starts], _compared_by(model, questions, intents)
    by_words = fact & (sizes <= ALL_PAIRS) & ~compared
    large = [np.arange(starts[n], starts[n] + sizes[n]) for n in np.flatnonzero(fact & (sizes > ALL_PAIRS))]
    words = model.words or model
    parts = [(np.flatnonzero(np.repeat(compared, sizes)), _link_small, model)]
    parts.append((np.flatnonzero(np.repeat(by_words, sizes)), _link_small, words))
    for rows, split, used in [*parts, *((rows, link_large, words) for rows in large)]:
        linked = split(_read_by(used, questions).take(rows), used)
        group[rows], confidence[rows] = rows[linked.group], linked.confidence
        expected[rows] += 0 if linked.expected is None else linked.expected
    return Linked(group, confidence, of_intent, expected)


def in_small_answers(members: pa.Table) -> np.ndarray:
    """Return whether all pairs of the row's answer can be compared: (R,) bool, of MEMBERS ordered by answer."""
    _, sizes = runs_of(members["answer_id"].to_numpy())
    small: np.ndarray = np.repeat(sizes <= ALL_PAIRS, sizes)
    return small


def compared_pairs(questions: Questions, model: LinkModel, intents: Intents, place: np.ndarray) -> Sample:
    """Return the pairs of the answers that a model of neighbours compares, with their probabilities.

    Args:
        questions: of whole answers, or the first `MOST_OF_ANSWER` of each.
        model: pair model.
        intents: answers whose questions are not compared.
        place: (A,) hash of each answer.
    """
    _, sizes = runs_of(questions.members["answer_id"].to_numpy())
    chosen = _compared_by(model, questions, intents)
    rows = np.flatnonzero(np.repeat(chosen, sizes))
    part = _read_by(model, questions).take(rows)
    none = np.zeros(0, np.int64)
    parts = [(none, none, none, np.zeros(0))]
    parts += [(n, left, right, model.pairs.probability(x, n)) for left, right, n, x in compare(part)]
    number, left, right, probability = map(np.concatenate, zip(*parts, strict=True))
    answer = np.flatnonzero(chosen)[number]
    first = (np.cumsum(sizes[chosen]) - sizes[chosen])[number]
    return Sample(place, pairs_of_answers(sizes), answer, left - first, right - first, probability)


def _compared_by(model: LinkModel, questions: Questions, intents: Intents | None) -> np.ndarray:
    """Return for each answer whether its pairs are compared by the model itself, not by its model of words alone."""
    starts, sizes = runs_of(questions.members["answer_id"].to_numpy())
    of_intent = np.zeros(len(starts), bool) if intents is None else intents.of_intent[starts]
    compared: np.ndarray = (sizes <= ALL_PAIRS) & ~of_intent & _have_witnesses(model, questions.witnesses, starts)
    return compared


def _read_by(model: LinkModel, questions: Questions) -> Questions:
    """Return the questions with only those vectors, neighbours, encoder and weights that the model uses."""
    vectors = questions.vectors if model.cosine else None
    witnesses = questions.witnesses if model.agreement else None
    encode = questions.encode if model.alignment else None
    return dataclasses.replace(
        questions, vectors=vectors, witnesses=witnesses, encode=encode, differences=model.differences
    )


def _have_witnesses(model: LinkModel, witnesses: Witnesses | None, starts: np.ndarray) -> np.ndarray:
    """Return for each answer whether a question of it has a neighbour with another answer, if the model needs one."""
    if model.words is None or witnesses is None or not len(starts):
        return np.ones(len(starts), bool)
    some: np.ndarray = np.logical_or.reduceat(witnesses.has_other, starts)
    return some


def _join_intents(answers: np.ndarray, intents: Intents, group: np.ndarray, confidence: np.ndarray) -> None:
    """Join the rows that belong to an intent, in place; a stray stays alone."""
    rows = np.flatnonzero(intents.belongs)
    starts, sizes = runs_of(answers[rows])
    group[rows] = np.repeat(rows[starts], sizes)
    confidence[rows] = np.where(np.repeat(sizes, sizes) > 1, intents.probability, 0.0)


def _expected_of_strays(answers: np.ndarray, intents: Intents) -> np.ndarray:
    """Return `Linked.expected` of the pairs of an intent with a stray."""
    starts, rows = runs_of(answers)
    kept = sums_of_runs(intents.belongs.astype(np.int64), starts)
    pairs = np.where(intents.of_intent[starts], (rows * (rows - 1) - kept * (kept - 1)) // 2, 0)
    return in_millionths(starts, np.full(len(starts), STRAY), pairs, rows=len(answers))


def _link_small(questions: Questions, model: LinkModel) -> Linked:
    """Split answers of at most `ALL_PAIRS` questions, all pairs of which are compared."""
    group, confidence = np.arange(len(questions)), np.zeros(len(questions))
    expected = np.zeros(len(questions), np.int64)
    for left, right, answers, features in compare(questions):
        probability = model.pairs.probability(features, answers)
        first, last = left.min(), right.max() + 1  # rows of an answer are consecutive: use only those of this part
        left, right = left - first, right - first
        expected[first:last] += in_millionths(left, probability, rows=last - first)
        part = model.groups(left, right, probability, rows=last - first)
        group[first:last] = part + first
        confidence[first:last] = mean_within(part, left, right, probability)
    return Linked(group, confidence, expected=expected)
