"""Agreement of neighbours by chance: the more questions an answer has, the more often it is that of a nearest question.

LogAgreement -> without_fallbacks -> Prior: answers that agree by chance alone, and the log without these
numbers of questions of answers, Prior -> least_agreement -> the agreement that each must have
"""

from __future__ import annotations

from typing import Final, NamedTuple

import numpy as np

from pipelines.linkage.standings import NO_SUPPORTS, LogAgreement, Supports, total_of
from pipelines.summary.fallbacks import FEWEST_QUESTIONS, MIN_SHARE, NEARLY_ALL

BY_CHANCE: Final = 0.1
"""Maximum agreement beyond chance, as a share of the possible, of a frequent answer that looks like a fallback; of an
answer that 6 to 90 % of the rows of written help desks got at random it was -.04 to .03."""

BEYOND_CHANCE: Final = 0.25
"""Minimum of the same of an intent; three intents alone, in whose wordings words repeat, had .3 to .9."""


class Prior(NamedTuple):
    """Figures of a log without the answers that agree by chance alone.

    Attributes:
        fallbacks: ids of these answers.
        fallback_share: share of the log's questions with one of them.
        of_many_share: share of the other questions whose answer has many.
        share_of_many: share of those whose nearest question has the same answer.
        supports: number of those by their support.
    """

    fallbacks: tuple[int, ...]
    fallback_share: float
    of_many_share: float
    share_of_many: float
    supports: Supports


def without_fallbacks(log: LogAgreement, questions: int) -> Prior:
    """Return the figures of a log of this number of ``questions`` without the answers that agree by chance alone."""
    frequent = [a for a in log.frequent if a.questions >= max(FEWEST_QUESTIONS, MIN_SHARE * questions)]
    found = [a for a in frequent if a.agreeing / a.questions <= least_by_chance(a.questions / questions)]
    lost, agreeing = sum(a.questions for a in found), sum(a.agreeing for a in found)
    of_fallbacks = total_of([NO_SUPPORTS, *(a.supports for a in found)])
    of_many = log.of_many - lost
    return Prior(
        tuple(a.answer_id for a in found),
        min(lost / max(questions, 1), 1.0),
        of_many / max(log.questions - lost, 1),
        (log.agreeing_of_many - agreeing) / max(of_many, 1),
        tuple(np.subtract(log.supports_of_many, of_fallbacks).tolist()),
    )


def least_agreement(sizes: np.ndarray, questions: int, prior: Prior, required: float) -> np.ndarray:
    """Return the minimum agreement of each answer: the required one, and clearly more than by chance.

    Fallbacks take their share of the nearest questions, so less is required where there are some. An answer of nearly
    all questions has nothing to be compared with: no agreement is enough.

    Args:
        sizes: (A,) numbers of questions of the answers.
        questions: number of questions of the log.
        prior: the log without fallbacks.
        required: minimum agreement in a log without fallbacks.
    """
    share = sizes / max(questions, 1)
    others = np.maximum(1 - prior.fallback_share - share, 0)
    least: np.ndarray = np.maximum(required * (1 - prior.fallback_share), share + BEYOND_CHANCE * others)
    return np.where(share >= NEARLY_ALL, np.inf, least)


def least_by_chance(share: float) -> float:
    """Return the agreement of an answer with a share of the questions, by chance and `BY_CHANCE` of the possible."""
    return share + BY_CHANCE * (1 - share)
