"""Linkage of an answer with too many questions to compare all pairs.

Questions of one answer -> popular groups -> the remaining questions by rare stems -> Linked
"""

from __future__ import annotations

import dataclasses
from typing import Final

import numpy as np

from pipelines.engine.freed_memory import trim_freed_memory
from pipelines.linkage.comparison.blocking import candidates, with_all_pairs_of
from pipelines.linkage.comparison.compare import Questions, compare_pairs
from pipelines.linkage.comparison.tokenization import wording
from pipelines.linkage.popular_groups import COMPLETED, popular_groups
from pipelines.linkage.scoring.agglomeration import components
from pipelines.linkage.scoring.pair_model import Linked, LinkModel, expected_within, mean_within

LEARNED_FROM: Final = 200
"""Approximate maximum number of questions of the answers to which the model was fitted."""


TRIMMED_FROM: Final = 100_000
"""Number of questions of an answer from which on freed memory goes back to the system between its steps.

The steps before, and those that divide texts into parts, free several times as much as a step then needs, and in other
sizes, so that it would take more beside it."""

_FREED_BYTES: Final = 128 * 2**20
"""Bytes of freed memory from which on it goes back: to look through all blocks takes time."""


def link_large(questions: Questions, model: LinkModel) -> Linked:
    """Split one answer of more than `blocking.ALL_PAIRS` questions; time and memory are linear in their number.

    Groups of many questions are found in a sample, and similar questions are added to them. Among the remaining
    questions, pairs that share a rare stem are compared. Then all pairs within each component of probable pairs are
    compared, at most `COMPLETED` questions each, so that the mean probability of a group includes all of its pairs.

    The rows are ordered by question, which is a hash, so any run of them is a random sample.
    """
    _trim(len(questions))
    popular = popular_groups(questions, model)
    group, confidence = np.arange(len(questions)), np.zeros(len(questions))
    inside, rest = np.flatnonzero(popular.number >= 0), np.flatnonzero(popular.number < 0)
    number = popular.number[inside]
    group[inside] = inside[np.unique(number, return_index=True)[1]][number]
    confidence[inside] = popular.confidence[number]
    others = _link_rest(questions.take(rest), model)
    _trim(len(questions))
    group[rest], confidence[rest] = rest[others.group], others.confidence
    return Linked(group, confidence, expected=expected_within(group, confidence))


def _link_rest(questions: Questions, model: LinkModel) -> Linked:
    rows = len(questions)
    answers = np.zeros(rows, np.int64)
    words = wording(questions.members["text"], answers, questions.weights)
    _trim(rows)

    def probability(left: np.ndarray, right: np.ndarray) -> np.ndarray:
        _trim(rows)
        parts = compare_pairs(questions, words, left, right, answer_of_row=answers)
        probabilities = [model.pairs.probability(features, np.zeros(len(features), np.int64)) for features in parts]
        return np.concatenate([np.zeros(0), *probabilities])

    left, right = candidates(np.array([rows]), words.stems)
    likely = probability(left, right)
    connected = components(left, right, likely, rows=rows, threshold=model.threshold, most=COMPLETED)
    compared = len(left)
    left, right = with_all_pairs_of(connected, left, right)
    if len(left) > compared:
        likely = probability(left, right)
    group = strict_for(model, rows).groups(left, right, likely, rows=rows)
    return Linked(group, mean_within(group, left, right, likely))


def _trim(rows: int) -> None:
    if rows >= TRIMMED_FROM:
        trim_freed_memory(above=_FREED_BYTES)


def strict_for(model: LinkModel, questions: int) -> LinkModel:
    """Return the model with a higher threshold for an answer of more than `LEARNED_FROM` questions.

    The share of questions that are paraphrases of a given one falls with the number of questions, but more slowly than
    in inverse proportion. Therefore the odds at the threshold are multiplied with the square root of
    ``questions`` / `LEARNED_FROM`.
    """
    odds = model.threshold / max(1 - model.threshold, 1e-9) * max(questions / LEARNED_FROM, 1.0) ** 0.5
    threshold = odds / (1 + odds)
    return dataclasses.replace(model, threshold=threshold, least_of_two=max(threshold, model.least_of_two))
