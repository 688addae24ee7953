"""Figures of a whole log that decide what its answers are: agreement beyond chance, requests alone, facts.

LogAgreement -> without_fallbacks -> Prior: answers that agree by chance alone, and the log without these
numbers of questions of answers, Prior -> least_agreement -> the agreement that each must have
LogAgreement, TokenWeights -> is_about_facts -> whether the log is one of facts

The more questions an answer has, the more often it is that of a nearest question by chance.
"""

from __future__ import annotations

from typing import Final, NamedTuple

import numpy as np

from pipelines.linkage.standings import NO_SUPPORTS, LogAgreement, Supports, contradicted_share, total_of
from pipelines.questions.token_frequencies import LARGE_LOG, TokenWeights
from pipelines.summary.fallbacks import FEWEST_QUESTIONS, MIN_SHARE, NEARLY_ALL

BY_CHANCE: Final = 0.1
"""Maximum agreement beyond chance, as a share of the possible, of a frequent answer that looks like a fallback; of an
answer that 6 to 90 % of the rows of written help desks got at random it was -.04 to .03."""

BEYOND_CHANCE: Final = 0.25
"""Minimum of the same of an intent; three intents alone, in whose wordings words repeat, had .3 to .9."""

MIN_OF_MANY: Final = 0.5
"""Minimum share of a large log's questions, without fallbacks, whose answer has many: all of a help desk's have, .16 to
.21 of a simulated log's, whose answers of many questions are facts and fallbacks such as "No answer found"."""

MIN_OF_MANY_OF_REQUESTS: Final = 0.9
MAX_RARE_OF_REQUESTS: Final = 0.2
"""Minimum of the same share, and maximum number of rare words a question, of a large log of requests alone; help desks
have at most .15 such words, Quora's questions under answers about one topic .6."""

RELIABLE: Final = 0.17
"""Maximum share of a log's questions that neighbours contradict; with more, neighbours are no evidence of a wrong
answer, as in a small log, where most wordings of an intent share no word."""

MIN_RARE_OF_FACTS: Final = 0.3
MAX_AGREEMENT_OF_FACTS: Final = 0.35
"""Minimum number of rare words a question, and maximum agreement, of a log of facts."""

FEWEST_OF_FACTS: Final = 60
MAX_AGREEMENT_OF_FEW_FACTS: Final = 0.5
"""Minimum number of questions of a log of facts, and maximum agreement in a small one, of whose questions neighbours
must contradict more than `RELIABLE` too: .28 to .52 in samples of 1,000 facts and more, .0 to .13 in other logs."""

MIN_RARE_OF_FEW_FACTS: Final = 0.7
MAX_AGREEMENT_OF_NAMES: Final = 0.77
"""Minimum number of such words a question from which on a small log is one of facts by its words, and maximum agreement
then: samples of 60 to 1,000 facts agree in .1 to .75, Quora's clusters, some under a shared answer, in .82 to .87.
Where most questions have an answer of many, no agreement is too high: help desks have .01 to .25 such words then."""


class Prior(NamedTuple):
    """Figures of a log without the answers that agree by chance alone.

    Attributes:
        fallbacks: ids of these answers.
        fallback_share: share of the log's questions with one of them.
        of_many_share: share of the other questions whose answer has many.
        share_of_many: share of those whose nearest question has the same answer.
        supports: number of those by their support.
        surrounded_share: share of those whose nth nearest question with their answer is no farther than the nth
            with another.
    """

    fallbacks: tuple[int, ...]
    fallback_share: float
    of_many_share: float
    share_of_many: float
    supports: Supports
    surrounded_share: float

    @property
    def may_have_intents(self) -> bool:
        """Return whether most questions have an answer of many, and neighbours contradict few of these."""
        return self.of_many_share >= MIN_OF_MANY and contradicted_share(self.supports) <= RELIABLE

    def is_of_requests(self, rare_words: float) -> bool:
        """Return whether nearly all questions of a large log have an answer of many, with few rare words a question."""
        return self.of_many_share >= MIN_OF_MANY_OF_REQUESTS and rare_words <= MAX_RARE_OF_REQUESTS


def without_fallbacks(log: LogAgreement, questions: int) -> Prior:
    """Return the figures of a log of this number of ``questions`` without the answers that agree by chance alone."""
    frequent = [a for a in log.frequent if a.questions >= max(FEWEST_QUESTIONS, MIN_SHARE * questions)]
    fallbacks = [a for a in frequent if a.agreeing / a.questions <= least_by_chance(a.questions / questions)]
    counts = [(0, 0, 0), *((a.questions, a.agreeing, a.surrounded) for a in fallbacks)]
    fallback_questions, agreeing, surrounded = total_of(counts)
    of_fallbacks = total_of([NO_SUPPORTS, *(a.supports for a in fallbacks)])
    of_many = log.of_many - fallback_questions
    return Prior(
        tuple(a.answer_id for a in fallbacks),
        min(fallback_questions / max(questions, 1), 1.0),
        of_many / max(log.questions - fallback_questions, 1),
        (log.agreeing_of_many - agreeing) / max(of_many, 1),
        tuple(np.subtract(log.supports_of_many, of_fallbacks).tolist()),
        (log.surrounded_of_many - surrounded) / max(of_many, 1),
    )


def supports_of(log: LogAgreement, weights: TokenWeights) -> tuple[Supports, float]:
    """Return the questions by support and their agreement; in a large log with intents only those of their answers."""
    prior = without_fallbacks(log, weights.questions)
    of_many = weights.questions >= LARGE_LOG and prior.of_many_share >= MIN_OF_MANY
    return (prior.supports, prior.share_of_many) if of_many else (log.supports, log.share)


def is_about_facts(weights: TokenWeights, log: LogAgreement) -> bool:
    """Return whether many words of a log are names, and near questions mostly have other answers.

    In a small log with very many names they may have the same one more often, see `MAX_AGREEMENT_OF_NAMES`.
    """
    if weights.questions < FEWEST_OF_FACTS or weights.rare_words < MIN_RARE_OF_FACTS:
        return False
    if weights.questions >= LARGE_LOG:
        return log.share <= MAX_AGREEMENT_OF_FACTS
    if weights.rare_words >= MIN_RARE_OF_FEW_FACTS:
        return log.share <= MAX_AGREEMENT_OF_NAMES or log.of_many_share >= MIN_OF_MANY
    return log.share <= MAX_AGREEMENT_OF_FEW_FACTS and contradicted_share(log.supports) > RELIABLE


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
