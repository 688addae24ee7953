"""Answers that are intents: every question of such an answer means the same, but for wrong answers.

MEMBERS of whole answers, Witnesses -> intents -> Intents: which answers are, and which of their questions belong
"""

from __future__ import annotations

from typing import Final, Literal, NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from pipelines.linkage.chance import least_agreement, without_fallbacks
from pipelines.linkage.standings import MANY, SUPPORTING, LogAgreement
from pipelines.linkage.witnesses import Witnesses
from pipelines.questions.answer_kinds import KINDS, kinds_of
from pipelines.questions.token_frequencies import TokenWeights
from pipelines.summary.fallbacks import are_unlike
from schemas.ragged import sizes_of_runs, starts_of_runs

Policy = Literal["auto", "intent", "fact"]

BY_TEXT: Final = ("sentence", "label")
"""Kinds of answers that are written for one intent: help articles, and names such as ``card_arrival``."""

BY_EVIDENCE: Final = ("entity", "id")
"""Kinds of answers that are intents only by the evidence of their questions."""

MIN_QUESTIONS: Final = MANY
FEW: Final = 2
"""Minimum number of questions of an intent by evidence; maximum number that is no evidence in a small log."""

MIN_AGREEMENT: Final = 0.4
MIN_LOG_AGREEMENT: Final = 0.6
"""Minimum share of the questions of such an answer, and of the log, whose nearest question has the same answer."""

MIN_OF_MANY: Final = 0.5
"""Minimum share of a large log's questions whose answer has many: all of a help desk's have, .16 of a simulated log's,
whose answers of many questions are fallbacks ("No answer found") and facts such as "English"."""

MAX_RARE: Final = 0.1
RARE: Final = 0.0002
"""Maximum number of words a question that at most this share of the log's questions have, and at least two.

People ask about intents in everybody's words, and about facts with the names of things: Quora's questions have .6 to .8
such words each, generated ones about facts .7, simulated ones .2, those to a help desk .04. Words of one question alone
are not counted for the log."""

MAX_NAMES: Final = 0.25
"""Maximum share of an answer's questions with such a word: of Quora's clusters under answers about one topic .36 have
one, of generated questions about facts all, of a help desk's .09."""

MIN_RARE_OF_FACTS: Final = 0.3
MAX_AGREEMENT_OF_FACTS: Final = 0.35
"""Minimum number of such words a question, and maximum agreement, of a log of facts."""

FALLBACK: Final = 0.5
MIN_TELLING: Final = 0.5
"""Minimum agreement of an answer of few questions in a small log as a share of the log's, and minimum of the log's from
which on it is required. A fallback answer ("Sorry, I cannot help") is a sentence too, but the nearest questions have
other answers. Where that is so for most questions of the log, few questions of an answer are no evidence."""

LARGE_LOG: Final = 5_000
"""Minimum number of questions of a log in which a word's rarity is evidence."""

RELIABLE: Final = 0.2
"""Maximum share of a log's questions that neighbours contradict; with more, neighbours are no evidence of a wrong
answer, as in a small log, where most wordings of an intent share no word."""

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
    if policy == "intent":
        chosen = np.ones(len(starts), bool)
    else:
        chosen = _by_text_and_evidence(members, weights, witnesses, starts)
    of_intent = np.repeat(chosen, sizes)
    contradicted = witnesses.log.contradicted_share
    reliable = contradicted <= RELIABLE
    if witnesses.by_vectors:
        reliable = contradicted <= RELIABLE_BY_VECTORS and witnesses.log.share >= AGREEING_BY_VECTORS
    supported = _is_supported(witnesses)
    if witnesses.by_vectors:  # other answers fill the nearest questions of an answer that has too few to do so
        supported |= np.repeat(sizes <= SUPPORTING, sizes)
    belongs = of_intent & supported if reliable else of_intent
    return Intents(of_intent, belongs, SURE if reliable else UNCERTAIN)


def _is_supported(witnesses: Witnesses) -> np.ndarray:
    """Return (R,) bool, whether neighbours support the row's answer as far as a question of an intent needs it."""
    support, contradicted, strictness = witnesses.support, witnesses.log.contradicted_share, STRICTNESS
    if witnesses.words is not None:
        support = (support + witnesses.words.support) / 2
        contradicted = (contradicted + witnesses.words.log.contradicted_share) / 2
        strictness = STRICTNESS_OF_BOTH
    supported: np.ndarray = support >= min(strictness * contradicted, MAX_REQUIRED)
    return supported


def _by_text_and_evidence(
    members: pa.Table, weights: TokenWeights, witnesses: Witnesses, starts: np.ndarray
) -> np.ndarray:
    """Return for each answer whether it is an intent: in a small log by its text, in a large one by its questions."""
    sizes = sizes_of_runs(starts, len(members))
    share = witnesses.log.share
    rare_words = _rare_words_a_question(weights)
    if rare_words is not None and (
        share < MIN_LOG_AGREEMENT or rare_words > MAX_RARE or witnesses.log.of_many_share < MIN_OF_MANY
    ):
        return np.zeros(len(starts), bool)
    by_text, by_evidence = _by_kind(members, starts)
    agreement = np.add.reduceat(witnesses.agreeing.astype(float), starts) / sizes
    prior = without_fallbacks(witnesses.log, weights.questions)
    of_many = least_agreement(sizes, weights.questions, prior, MIN_AGREEMENT)
    if rare_words is None:
        few = np.where(share >= MIN_TELLING, FALLBACK * share, 0.0)
        least = np.where(sizes >= MIN_QUESTIONS, of_many, np.where(sizes > FEW, few, 0.0))
        chosen = by_text & (agreement >= least)
    else:
        names = np.add.reduceat(_has_rare_word(members, weights).astype(float), starts) / sizes
        candidates = by_text | (by_evidence & (sizes >= MIN_QUESTIONS))
        chosen = candidates & (agreement >= of_many) & (names <= MAX_NAMES)
    chosen &= ~np.isin(members["answer_id"].to_numpy()[starts], prior.fallbacks)
    chosen[chosen] = ~are_unlike(members["token_ids"], starts[chosen], sizes[chosen], weights)
    return chosen


def resemble_intents(members: pa.Table, weights: TokenWeights, *, max_rare: float = MAX_RARE) -> np.ndarray:
    """Return for each answer whether its text and the words of its questions are those of an intent.

    Neighbours are no part of it: this is for runs that look for none.

    Args:
        members: (R,) MEMBERS ordered by answer, all rows of each answer present.
        weights: weights of the words of the log.
        max_rare: maximum number of rare words a question of a large log.
    """
    starts = starts_of_runs(members["answer_id"].to_numpy())
    sizes = sizes_of_runs(starts, len(members))
    by_text, by_evidence = _by_kind(members, starts)
    rare_words = _rare_words_a_question(weights)
    if rare_words is None:
        small: np.ndarray = by_text & (sizes > FEW)
        return small
    if rare_words > max_rare:
        return np.zeros(len(starts), bool)
    names = np.add.reduceat(_has_rare_word(members, weights).astype(float), starts) / sizes
    large: np.ndarray = (by_text | by_evidence) & (sizes >= MIN_QUESTIONS) & (names <= MAX_NAMES)
    return large


def is_about_facts(weights: TokenWeights, log: LogAgreement) -> bool:
    """Return whether near questions of a large log mostly have other answers, and many of its words are names."""
    rare = _rare_words_a_question(weights)
    return rare is not None and rare >= MIN_RARE_OF_FACTS and log.share <= MAX_AGREEMENT_OF_FACTS


def _by_kind(members: pa.Table, starts: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return for each answer whether its text is of a kind in `BY_TEXT`, and whether of one in `BY_EVIDENCE`."""
    kinds = kinds_of(members["answer"].take(pa.array(starts)))
    by_text, by_evidence = (np.isin(kinds, [KINDS.index(kind) for kind in names]) for names in (BY_TEXT, BY_EVIDENCE))
    return by_text, by_evidence


def _rare_words_a_question(weights: TokenWeights) -> float | None:
    """Return the number of words a question that few others have, None of a log that is too small."""
    if weights.questions < LARGE_LOG:
        return None
    rare = weights.frequencies <= max(2.0, RARE * weights.questions)
    return float(weights.frequencies[rare].sum() / weights.questions)


def _has_rare_word(members: pa.Table, weights: TokenWeights) -> np.ndarray:
    """Return for each row whether one of its words is as rare as that, or in no other question."""
    tokens = members["token_ids"].combine_chunks()
    frequency = weights.frequency(pc.list_flatten(tokens).to_numpy(zero_copy_only=False))
    lowest = np.full(len(members), np.inf)
    np.minimum.at(lowest, pc.list_parent_indices(tokens).to_numpy(), frequency)
    rare: np.ndarray = lowest <= max(2.0, RARE * weights.questions)
    return rare
