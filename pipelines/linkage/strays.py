"""Probability that a question has a wrong answer, by the support that its nearest questions give the answer.

Witnesses, TokenWeights -> wrong_probability -> probability of each question
LogAgreement, TokenWeights -> estimated_share -> share of the log's questions

The wrong share of a log's answers is estimated from the questions whose nearest ones support another answer alone. A
wrong answer has hardly ever a support, a right one seldom none; how seldom is seen from those with a small support.
"""

from __future__ import annotations

from typing import Final

import numpy as np

from pipelines.linkage.chance import RELIABLE, supports_of
from pipelines.linkage.standings import LogAgreement, Supports, classes_of, contradicted_share
from pipelines.linkage.witnesses import Witnesses
from pipelines.questions.token_frequencies import TokenWeights
from pipelines.summary.fallbacks import NEARLY_ALL

OF_WRONG: Final = np.array([0.86, 0.02, 0.045, 0.03, 0.015, 0.007, 0.006, 0.017])
"""Share of the questions with a wrong answer by class of their support; it hardly depends on the number of rows or on
the encoder. Like the other numbers here it was measured on half of a help desk's intents."""

LEAST_WITHOUT: Final = 0.2
"""Least ratio of right questions without support to those with a small one, up to the last of `SUPPORTS`. It is .2 to
.5, and at most about as high as the share of questions whose nearest question has another answer."""

SMALLEST: Final = 0.001
"""Smallest probability of a wrong answer, and of a right one, by one kind of neighbours."""


def wrong_probability(witnesses: Witnesses, weights: TokenWeights) -> np.ndarray:
    """Return (R,) probability that the row has a wrong answer; by vectors and words together the mean log odds."""
    by_class = wrong_by_class(*supports_of(witnesses.log, weights))
    probability: np.ndarray = np.clip(by_class, SMALLEST, 1 - SMALLEST)[classes_of(witnesses.support)]
    if witnesses.words is None:
        return probability
    words = wrong_probability(witnesses.words, weights)
    odds = np.sqrt(probability / (1 - probability) * words / (1 - words))
    together: np.ndarray = odds / (1 + odds)
    return together


def estimated_share(log: LogAgreement, weights: TokenWeights) -> float | None:
    """Return the estimated share of a log's questions with a wrong answer; None where neighbours are no evidence.

    They are none where they contradict many answers, and where nearly all questions have the same one.
    """
    supports, agreement = supports_of(log, weights)
    only = any(answer.questions >= NEARLY_ALL * log.questions for answer in log.frequent)
    if only or not sum(supports) or contradicted_share(supports) > RELIABLE:
        return None
    return wrong_share(np.array(supports) / sum(supports), agreement)


def wrong_by_class(supports: Supports, agreement: float) -> np.ndarray:
    """Return the probability of a wrong answer by class of support, which falls.

    Args:
        supports: numbers of a log's questions by class.
        agreement: share of them whose nearest question has the same answer.
    """
    shares = np.array(supports) / max(sum(supports), 1)
    wrong = OF_WRONG * wrong_share(shares, agreement)
    probability = np.minimum(wrong / np.maximum(shares, 1e-12), 1)
    probability[-1] = 0
    return np.minimum.accumulate(probability)


def wrong_share(shares: np.ndarray, agreement: float) -> float:
    """Return the estimated share of wrong answers.

    Args:
        shares: of the questions by class of support.
        agreement: share of the questions whose nearest question has the same answer.
    """
    right_without = max(LEAST_WITHOUT, 1 - agreement) * shares[1:-1].sum()
    return float(max(shares[0] - right_without, 0) / OF_WRONG[0])
