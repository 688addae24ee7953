"""Answers that are intents: every question of such an answer means the same, but for wrong answers.

MEMBERS of whole answers, Witnesses -> intents -> Intents: which answers are, and which of their questions belong
"""

from __future__ import annotations

from typing import Final, Literal, NamedTuple

import numpy as np
import pyarrow as pa

from pipelines.linkage.chance import without_fallbacks
from pipelines.linkage.intent_answers import RELIABLE, choose_intents, contradicted_share
from pipelines.linkage.standings import SUPPORTING
from pipelines.linkage.witnesses import Witnesses
from pipelines.questions.token_frequencies import TokenWeights
from schemas.ragged import sizes_of_runs, starts_of_runs

Policy = Literal["auto", "intent", "fact"]

RELIABLE_BY_VECTORS: Final = 0.13
AGREEING_BY_VECTORS: Final = 0.5
"""The same for neighbours that are near by an encoder's vectors, and minimum share of the log's questions whose nearest
question has the same answer. Vectors contradict fewer questions: of written help desks whose wordings are alike at most
.10, of those with varied wordings .17 or more, where a third of the right questions would be lost. In the first the
nearest question agrees for .48 to .78 of the questions, in the second for at most .37."""

STRICTNESS: Final = 2.5
MAX_REQUIRED: Final = 0.3
"""Factor of the share of the log's questions that neighbours contradict, and maximum, of the support that a question of
an intent must have: the more answers of a log are wrong, the more likely is one that neighbours contradict."""

STRICTNESS_OF_BOTH: Final = 3.0
"""The same factor where neighbours by vectors and by words are at hand, for the means of both supports and shares: of
help desks with 2 to 10 % wrong answers this leaves half as many wrong ones as neighbours by vectors alone."""

SURE: Final = 0.98
UNCERTAIN: Final = 0.9
"""Probability that two questions of an intent are paraphrases where neighbours are reliable, and where they are not;
the first was measured on a help desk's log with one wrong answer in twenty, the second allows as many."""


STRAY: Final = 0.5
"""Probability that a question which neighbours contradict means the same as another of its intent: undecided. Of a help
desk's log with one wrong answer in twenty about half of the strays were wrong."""


class Intents(NamedTuple):
    """Answers that are intents, and their questions.

    Attributes:
        of_intent: (R,) bool, whether the row's answer is an intent.
        belongs: (R,) bool, whether the row also belongs to it; no stray.
        probability: probability that two questions that belong to an intent are paraphrases.
    """

    of_intent: np.ndarray
    belongs: np.ndarray
    probability: float

    def take(self, rows: np.ndarray) -> Intents:
        """Return some of the rows."""
        return self._replace(of_intent=self.of_intent[rows], belongs=self.belongs[rows])


def intents(members: pa.Table, weights: TokenWeights, witnesses: Witnesses, policy: Policy) -> Intents:
    """Return the rows that belong to an intent.

    Args:
        members: (R,) MEMBERS ordered by answer and question, all rows of each answer present.
        weights: weights of the words of the log.
        witnesses: neighbours of the rows.
        policy: ``intent`` for all answers, ``fact`` for none, ``auto`` by the kind of the answer's text and the
            evidence of its questions.
    """
    if policy == "fact" or not len(members):
        nothing = np.zeros(len(members), bool)
        return Intents(nothing, nothing, UNCERTAIN)
    starts = starts_of_runs(members["answer_id"].to_numpy())
    sizes = sizes_of_runs(starts, len(members))
    all_of_them = policy == "intent"
    chosen = np.ones(len(starts), bool) if all_of_them else choose_intents(members, weights, witnesses, starts)
    of_intent = np.repeat(chosen, sizes)
    contradicted = contradicted_share(witnesses.log, weights)
    reliable = contradicted <= RELIABLE
    if witnesses.by_vectors:
        reliable = contradicted <= RELIABLE_BY_VECTORS and witnesses.log.share >= AGREEING_BY_VECTORS
    supported = _is_supported(witnesses, weights)
    if witnesses.by_vectors:  # other answers fill the nearest questions of an answer that has too few to do so
        supported |= np.repeat(sizes <= SUPPORTING, sizes)
    belongs = of_intent & supported if reliable else of_intent
    return Intents(of_intent, belongs, SURE if reliable else UNCERTAIN)


def _is_supported(witnesses: Witnesses, weights: TokenWeights) -> np.ndarray:
    """Return (R,) bool, whether neighbours support the row's answer as far as a question of an intent needs it."""
    support, contradicted, strictness = witnesses.support, contradicted_share(witnesses.log, weights), STRICTNESS
    if witnesses.words is not None:
        support = (support + witnesses.words.support) / 2
        contradicted = (contradicted + contradicted_share(witnesses.words.log, weights)) / 2
        strictness = STRICTNESS_OF_BOTH
    fallback_share = without_fallbacks(witnesses.log, weights.questions).fallback_share  # of the nearest questions too
    supported: np.ndarray = support >= min(strictness * contradicted, MAX_REQUIRED) * (1 - fallback_share)
    return supported
