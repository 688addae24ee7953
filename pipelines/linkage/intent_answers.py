"""Choice of the answers that are intents, by their texts and by the evidence of their questions.

MEMBERS of whole answers, TokenWeights, Witnesses -> choose_intents -> whether each answer is an intent
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Final, NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from pipelines.linkage.chance import is_about_facts, least_agreement, without_fallbacks
from pipelines.linkage.standings import MANY, places_reached
from pipelines.linkage.witnesses import Witnesses
from pipelines.questions.answer_kinds import BY_EVIDENCE, BY_TEXT, KINDS, kinds_of
from pipelines.questions.stock_answers import is_acknowledgement, is_apology
from pipelines.questions.token_frequencies import TokenWeights
from pipelines.summary.fallbacks import are_unlike
from schemas.ragged import runs_of, sizes_of_runs
from schemas.statistics.binomial import lower_tail
from schemas.text_arrays import with_used_texts

MIN_QUESTIONS: Final = MANY
FEW: Final = 2
"""Minimum number of questions of an intent by evidence; maximum number that is no evidence in a small log."""

MIN_AGREEMENT: Final = 0.4
MIN_LOG_AGREEMENT: Final = 0.6
"""Minimum share of the questions of such an answer whose nearest question has the same answer, and of those of all
answers of many questions; where these agree less, each answer of a large log must reach the second, and a small one has
no intents by evidence. Fallbacks are not counted."""

MIN_AGREEMENT_OF_REQUESTS: Final = 0.3
"""Minimum agreement of such an answer in a large log of requests alone: the more questions have typing errors, the
fewer have a nearest one with the same answer."""

MAX_RARE: Final = 0.1
"""Maximum number of rare words a question of a large log.

People ask about intents in everybody's words, and about facts with the names of things: Quora's questions have .6 to .8
such words each, generated ones about facts .7, simulated ones .2, those to a help desk .04. Words of one question alone
are not counted for the log."""

MIN_REACH: Final = 0.2
"""Minimum reach of an intent: mean similarity of the nth nearest question with its answer, as a share of that of the
nearest one (`standings.REACHED`).

The questions of a fallback are wordings of many facts, a few near each other and the others far. In simulated logs
fallbacks have at most .18, facts of many entities ("English") .24, but for the largest logs, written intents more."""

MAX_NAMES: Final = 0.25
"""Maximum share of an answer's questions with a rare word: of Quora's clusters under answers about one topic .36 have
one, of generated questions about facts all, of a help desk's .09."""

MAX_NAMES_OF_REQUESTS: Final = 0.45
"""The same in a log of requests alone: of intents with many typing errors .5 have one, of a help desk's with 5,000
questions .37, of fallbacks to whatever else people ask .41 to .8."""

MAX_NAMES_OF_SMALL: Final = 0.65
"""The same in a small log, where a word of one or two questions is no rarity: of a written intent at most .6 of the
questions have one, of generated facts .85 or more."""

MIN_TELLING: Final = 0.5
"""Minimum agreement of a small log from which on that of few questions of an answer is evidence of a fallback."""

MIN_SURROUNDED: Final = 0.3
"""Minimum share of the questions of answers with many whose nth nearest question with the same answer is no farther
than the nth with others (`standings.REACHED`), for names to be intents.

"English" is the answer to the same question about many countries, as "French" is about others: of written facts .06 to
.24 are surrounded, of requests to help desks .38 to .54, of those to assistants and technical support .55 and more."""

UNLIKELY: Final = 0.05
"""Minimum probability of at most as many agreeing ones among the few questions of an intent, each of which agrees as
often as those of the log. An apology ("Sorry, I did not understand") needs `MIN_AGREEMENT` instead."""


class _Answers(NamedTuple):
    """What decides about answers.

    Attributes:
        sizes: (A,) numbers of questions.
        by_text: (A,) bool, whether the text is of a kind in `BY_TEXT`.
        by_evidence: (A,) bool, whether it is of a kind in `BY_EVIDENCE`.
        agreement: (A,) share of the questions whose nearest question has the same answer.
        names: (A,) share of the questions with a rare word.
        reach: (A,) similarity of a far question with the answer, as a share of that of the nearest; see `MIN_REACH`.
    """

    sizes: np.ndarray
    by_text: np.ndarray
    by_evidence: np.ndarray
    agreement: np.ndarray
    names: np.ndarray
    reach: np.ndarray


def choose_intents(members: pa.Table, weights: TokenWeights, witnesses: Witnesses, starts: np.ndarray) -> np.ndarray:
    """Return for each answer whether it is an intent: in a small log by its text, in a large one by its questions.

    Args:
        members: (R,) MEMBERS ordered by answer, all rows of each answer present.
        weights: weights of the words of the log.
        witnesses: neighbours of the rows.
        starts: (A,) first row of each answer.
    """
    prior = without_fallbacks(witnesses.log, weights.questions)
    rare_words = weights.rare_words_a_question
    if rare_words is not None and not prior.may_have_intents:
        return np.zeros(len(starts), bool)
    answers = _answers(members, weights, witnesses, starts)
    if prior.surrounded_share < MIN_SURROUNDED or is_about_facts(weights, witnesses.log):
        answers = answers._replace(by_evidence=np.zeros(len(starts), bool))
    mostly = prior.share_of_many >= MIN_LOG_AGREEMENT * (1 - prior.fallback_share)
    requests = rare_words is not None and prior.is_of_requests(rare_words)
    if requests:
        required = MIN_AGREEMENT_OF_REQUESTS
    else:
        required = MIN_AGREEMENT if mostly or rare_words is None else MIN_LOG_AGREEMENT
    of_many = answers.agreement >= least_agreement(answers.sizes, weights.questions, prior, required)
    if rare_words is None:
        evident = mostly and prior.may_have_intents
        chosen = _of_small_log(
            answers, of_many, witnesses.log.share, _whose_text(is_apology, members, starts), evident=evident
        )
    else:
        near = witnesses.log.share >= MIN_LOG_AGREEMENT * (1 - prior.fallback_share)
        few_too = (near or requests) and rare_words <= MAX_RARE
        chosen = _of_large_log(answers, of_many, few_too=few_too, requests=requests)
    chosen &= ~np.isin(members["answer_id"].to_numpy()[starts], prior.fallbacks)
    confirms, apologizes = (_whose_text(test, members, starts[chosen]) for test in (is_acknowledgement, is_apology))
    sizes = answers.sizes[chosen]  # requests to an assistant share words, whatever they ask for
    chosen[chosen] = ~((confirms & (sizes > FEW)) | (apologizes & (sizes >= MIN_QUESTIONS)))
    chosen[chosen] = ~are_unlike(members["token_ids"], starts[chosen], answers.sizes[chosen], weights)
    return chosen


def _answers(members: pa.Table, weights: TokenWeights, witnesses: Witnesses, starts: np.ndarray) -> _Answers:
    sizes = sizes_of_runs(starts, len(members))
    farthest = witnesses.same[np.arange(len(members)), np.repeat(places_reached(sizes), sizes)]
    nearest, *shares = (
        np.add.reduceat(values.astype(float), starts) / sizes
        for values in (witnesses.same[:, 0], farthest, witnesses.agreeing, _has_rare_word(members, weights))
    )
    reach = shares[0] / np.maximum(nearest, 1e-12)
    return _Answers(sizes, *_by_kind(members, starts), shares[1], shares[2], reach)


def _of_small_log(
    answers: _Answers, of_many: np.ndarray, share: float, apologies: np.ndarray, *, evident: bool
) -> np.ndarray:
    """Return the intents among the answers of a small log.

    Args:
        answers: all answers.
        of_many: (A,) bool, whether the questions agree as far as many have to.
        share: agreement of the log.
        apologies: (A,) bool, whether the text states that nothing was understood or found.
        evident: whether most questions have answers with many of them, so that these are decided by evidence too.
    """
    many = answers.sizes >= MIN_QUESTIONS
    agreeing = np.rint(answers.agreement * answers.sizes)
    likely = (share < MIN_TELLING) | (lower_tail(agreeing, answers.sizes, share) >= UNLIKELY)
    of_few = (answers.sizes <= FEW) | np.where(apologies, answers.agreement >= MIN_AGREEMENT, likely)
    by_text = answers.by_text & np.where(many, of_many, of_few)
    by_questions = answers.by_evidence & many & of_many & (answers.names <= MAX_NAMES_OF_SMALL)
    chosen: np.ndarray = by_text | (by_questions & evident)
    return chosen


def _of_large_log(answers: _Answers, of_many: np.ndarray, *, few_too: bool, requests: bool) -> np.ndarray:
    """Return the intents among the answers of a large log.

    Args:
        answers: all answers.
        of_many: (A,) bool, whether the questions agree as far as many have to.
        few_too: whether the whole log is that of a help desk, so that answers of few questions are decided by text.
        requests: whether the log is of requests alone.
    """
    many = answers.sizes >= MIN_QUESTIONS
    by_questions = many & of_many & (answers.by_text | answers.by_evidence) & (answers.reach >= MIN_REACH)
    by_text = ~many & answers.by_text & (answers.agreement >= MIN_AGREEMENT) & few_too
    common = answers.names <= (MAX_NAMES_OF_REQUESTS if requests else MAX_NAMES)
    chosen: np.ndarray = (by_questions | by_text) & common
    return chosen


def resemble_intents(members: pa.Table, weights: TokenWeights, *, max_rare: float = MAX_RARE) -> np.ndarray:
    """Return for each answer whether its text and the words of its questions are those of an intent.

    Neighbours are no part of it: this is for runs that look for none.

    Args:
        members: (R,) MEMBERS ordered by answer, all rows of each answer present.
        weights: weights of the words of the log.
        max_rare: maximum number of rare words a question of a large log.
    """
    starts, sizes = runs_of(members["answer_id"].to_numpy())
    by_text, by_evidence = _by_kind(members, starts)
    rare_words = weights.rare_words_a_question
    if rare_words is None:
        small: np.ndarray = by_text & (sizes > FEW) & ~_whose_text(is_apology, members, starts)
        return small
    if rare_words > max_rare:
        return np.zeros(len(starts), bool)
    names = np.add.reduceat(_has_rare_word(members, weights).astype(float), starts) / sizes
    large: np.ndarray = (by_text | by_evidence) & (sizes >= MIN_QUESTIONS) & (names <= MAX_NAMES)
    return large


def _by_kind(members: pa.Table, starts: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return for each answer whether its text is of a kind in `BY_TEXT`, and whether of one in `BY_EVIDENCE`."""
    kinds = kinds_of(members["answer"].take(pa.array(starts)))
    by_text, by_evidence = (np.isin(kinds, [KINDS.index(kind) for kind in names]) for names in (BY_TEXT, BY_EVIDENCE))
    return by_text, by_evidence


def _whose_text(test: Callable[[str], bool], members: pa.Table, starts: np.ndarray) -> np.ndarray:
    """Return for each answer whether a test of its text holds."""
    texts = with_used_texts(members["answer"].take(pa.array(starts)))
    holds = pa.array([test(text) for text in texts.dictionary.to_pylist()], pa.bool_())
    return np.asarray(pc.fill_null(holds.take(texts.indices), False))


def _has_rare_word(members: pa.Table, weights: TokenWeights) -> np.ndarray:
    """Return for each row whether one of its words is as rare as that, or in no other question."""
    tokens = members["token_ids"].combine_chunks()
    frequency = weights.frequency(pc.list_flatten(tokens).to_numpy(zero_copy_only=False))
    lowest = np.full(len(members), np.inf)
    np.minimum.at(lowest, pc.list_parent_indices(tokens).to_numpy(), frequency)
    rare: np.ndarray = lowest <= weights.most_rare
    return rare
