"""Answers that are intents: every question of such an answer means the same, but for wrong answers.

MEMBERS of whole answers, Witnesses -> intents -> Intents: which answers are, and which of their questions belong
"""

from __future__ import annotations

from typing import Final, Literal, NamedTuple

import numpy as np
import pyarrow as pa

from pipelines.linkage.chance import RELIABLE, supports_of
from pipelines.linkage.intent_answers import choose_intents
from pipelines.linkage.standings import contradicted_share
from pipelines.linkage.strays import wrong_probability
from pipelines.linkage.witnesses import Witnesses
from pipelines.questions.token_frequencies import LARGE_LOG, TokenWeights
from schemas.ragged import runs_of

Policy = Literal["auto", "intent", "fact"]

TOO_FEW: Final = 10
"""Maximum number of questions of an answer that has too few to fill the nearest ones of a question."""

LEAST_AGREEMENT: Final = 0.25
"""Minimum share of a small log's questions whose nearest one has the same answer, for neighbours to contradict any.
It is .03 to .09 in FAQs of 60 questions, most wordings of which share no word, and .5 in a help desk's log of 500
questions with one wrong answer in ten."""

LIKELY_WRONG: Final = 0.05
"""Minimum probability of a wrong answer of a question that does not belong to its intent. On half of a help desk's
intents, with a wrong answer in twenty rows, about a fiftieth of the wrong ones stays with it."""

SURE: Final = 0.98
UNCERTAIN: Final = 0.9
"""Probability that two questions of an intent are paraphrases where neighbours are reliable, and where they are not;
the first was measured on a help desk's log with one wrong answer in twenty, the second allows as many."""


STRAY: Final = 0.5
"""Probability that a question which neighbours contradict means the same as another of its intent: undecided. Of a help
desk's log with one wrong answer in twenty half to two thirds of the strays were wrong."""


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
    starts, sizes = runs_of(members["answer_id"].to_numpy())
    all_of_them = policy == "intent"
    chosen = np.ones(len(starts), bool) if all_of_them else choose_intents(members, weights, witnesses, starts)
    of_intent = np.repeat(chosen, sizes)
    if weights.questions < LARGE_LOG and witnesses.log.share < LEAST_AGREEMENT:
        return Intents(of_intent, of_intent, UNCERTAIN)
    belongs = of_intent & (wrong_probability(witnesses, weights) < LIKELY_WRONG)
    if witnesses.by_vectors:  # other answers fill the nearest questions of an answer that has too few to do so
        belongs |= of_intent & np.repeat(sizes <= TOO_FEW, sizes)
    reliable = contradicted_share(supports_of(witnesses.log, weights)[0]) <= RELIABLE
    return Intents(of_intent, belongs, SURE if reliable else UNCERTAIN)
