"""Worth of single answers and of kinds of answers, with intervals.

counters -> worth_of_kinds -> KindWorth; counters, JudgedAnswer of all shards -> worth_of_answers -> AnswerEstimate

The worth of an answer is the share of the pairs of its questions that mean the same. The linkage estimates it from the
probability of each pair, which neighbours with other answers have lowered or raised. The interval of an answer is that
of a beta distribution: the prior is fitted to the answers of its kind and size in the log, and the linkage's estimate
counts as some observations of pairs. Reports print the linkage's estimate itself: the mean of that distribution is no
nearer to the truth, and its order is not that of the linkage's estimates.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from typing import Any, Final, NamedTuple

from pipelines.questions.answer_kinds import KINDS
from pipelines.writing.reported import JudgedAnswer

PREFIX: Final = "worth_of_"
"""Beginning of the counters of a kind and size; it begins like the counters of `pipelines.summary.answer_worth`."""

SIZES: Final = (2, 5, 20)
"""Largest numbers of questions of the size classes but the last."""

MANY: Final = 10
SHOWN: Final = 5
"""Minimum number of questions of the answers that are listed, and number of answers at each end."""

DEPENDENCE: Final = 0.1
"""Correlation of the errors of the linkage between pairs of an answer, and between answers of a kind: n of them count
as n / (1 + .1 (n - 1)) observations, at most ten. Intervals of 95 % then contain the truth for .98 of the answers of a
simulated log, and for all of a help desk's; with .05 for .98 and .88."""

MAX_PRIOR: Final = 5.0
FEWEST: Final = 5
"""Maximum number of observations that a prior counts for, and minimum number of answers from which it is fitted. With
fewer it counts for one."""

TAIL: Final = 0.025
"""Probability beyond each end of an interval of 95 %."""

_MILLION: Final = 1e6


class Estimate(NamedTuple):
    """Estimated share and its interval of 95 %."""

    value: float
    low: float
    high: float


class KindWorth(NamedTuple):
    """Answers of a kind of text, and the mean of their worth."""

    kind: str
    answers: int
    worth: Estimate


class AnswerEstimate(NamedTuple):
    """An answer of many questions, and its worth."""

    answer: str
    kind: str
    questions: int
    worth: Estimate


def size_class(questions: int) -> int:
    """Return the class of an answer's number of questions, from 0."""
    return sum(questions > largest for largest in SIZES)


def counter(kind: str, size: int, name: str) -> str:
    """Return the name of a counter of the answers of a kind and size class: answers, expected or squares."""
    return f"{PREFIX}{kind}_{size}_{name}"


def worth_of_kinds(counters: Mapping[str, int]) -> list[KindWorth]:
    """Return the kinds of the answers with several questions, the most frequent first."""
    worths = []
    for kind in KINDS:
        answers, expected = (
            sum(counters.get(counter(kind, size, name), 0) for size in range(len(SIZES) + 1))
            for name in ("answers", "expected")
        )
        if answers:
            mean = expected / _MILLION / answers
            worths.append(KindWorth(kind, answers, _posterior(mean, answers, 0.5, 1.0)._replace(value=mean)))
    return sorted(worths, key=lambda kind: (-kind.answers, kind.kind))


def worth_of_answers(
    judged: Iterable[JudgedAnswer], counters: Mapping[str, int]
) -> tuple[list[AnswerEstimate], list[AnswerEstimate]]:
    """Return the answers of many questions with the lowest and those with the highest worth, the extreme ones first.

    Args:
        judged: candidates of all shards.
        counters: of the run, for the priors.
    """
    every = sorted(set(judged), key=ascending)
    lowest = every[: min(SHOWN, (len(every) + 1) // 2)]
    highest = sorted(every[len(lowest) :], key=descending)[:SHOWN]
    low, high = ([_estimated(answer, counters) for answer in end] for end in (lowest, highest))
    return low, high


def ascending(answer: JudgedAnswer) -> tuple[float, int, str]:
    """Return the key of an order by worth, the lowest first; of equal ones the larger first."""
    return answer.share, -answer.questions, answer.answer


def descending(answer: JudgedAnswer) -> tuple[float, int, str]:
    """Return the key of an order by worth, the highest first; of equal ones the larger first."""
    return -answer.share, -answer.questions, answer.answer


def posterior(share: float, questions: int, kind: str, counters: Mapping[str, int]) -> Estimate:
    """Return the worth of an answer.

    Args:
        share: of its pairs that are paraphrases, by the linkage.
        questions: their number, at least two.
        kind: of its text.
        counters: of the run, for the prior.
    """
    size = size_class(questions)
    answers, expected, squares = (
        counters.get(counter(kind, size, name), 0) for name in ("answers", "expected", "squares")
    )
    mean = (expected / _MILLION + 0.5) / (answers + 1)
    weight = 1.0
    if answers >= FEWEST:
        variance = squares / _MILLION / answers - (expected / _MILLION / answers) ** 2
        weight = min(max(mean * (1 - mean) / max(variance, 1e-9) - 1, 0.5), MAX_PRIOR)
    return _posterior(share, questions - 1, mean, weight)


def as_json(kinds: Iterable[KindWorth], ends: tuple[list[AnswerEstimate], list[AnswerEstimate]]) -> dict[str, Any]:
    """Return the estimates for a program."""
    lowest, highest = ([_plain(answer) for answer in end] for end in ends)
    return {"kinds": [_plain(kind) for kind in kinds], "lowest": lowest, "highest": highest}


def _plain(line: KindWorth | AnswerEstimate) -> dict[str, Any]:
    worth = {name: round(value, 4) for name, value in line.worth._asdict().items()}
    return {**{name: value for name, value in line._asdict().items() if name != "worth"}, **worth}


def _estimated(answer: JudgedAnswer, counters: Mapping[str, int]) -> AnswerEstimate:
    share, (_, low, high) = answer.share, posterior(answer.share, answer.questions, answer.kind, counters)
    worth = Estimate(share, min(low, share), max(high, share))  # of a small answer the prior can exclude its own share
    return AnswerEstimate(answer.answer, answer.kind, answer.questions, worth)


def _posterior(share: float, number: int, prior_mean: float, prior_weight: float) -> Estimate:
    """Return mean and interval after ``number`` dependent observations with a mean of ``share``.

    An end of the interval is 0 or 1 where all observations may be alike: the true share is one of finitely many pairs.
    """
    from scipy.special import betaincinv, betaln  # a terminal without estimates does without it

    counted = number / (1 + DEPENDENCE * (number - 1))
    right = prior_mean * prior_weight + share * counted
    wrong = (1 - prior_mean) * prior_weight + (1 - share) * counted
    low, high = (float(betaincinv(right, wrong, end)) for end in (TAIL, 1 - TAIL))
    none, every = (
        math.exp(betaln(*ends) - betaln(right, wrong)) for ends in ((right, wrong + counted), (right + counted, wrong))
    )
    return Estimate(right / (right + wrong), 0.0 if none > TAIL else low, 1.0 if every > TAIL else high)
