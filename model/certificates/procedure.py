"""Learn-then-Test for an answerer that may abstain.

scores and verdicts of requests -> divide -> order_thresholds -> try_thresholds -> Outcome

Source: Angelopoulos et al. 2021, https://arxiv.org/abs/2110.01052. The requests are a sample of the traffic, drawn
independently. 30 % of them order the thresholds, the others test them: the share of wrong answers among those with a
score from the threshold on is at most alpha, but for a chance of delta.
"""

from __future__ import annotations

import hashlib
import math
from collections.abc import Sequence
from typing import Final, NamedTuple

import numpy as np

from model.certificates.settings import LEAST_DELTA, Promise
from schemas.arrays import Bools, Float64s, Int64s
from schemas.statistics.binomial import lower_tail, smallest_sample, upper_bound
from schemas.statistics.fixed_sequence import number_passed

ORDER_SHARE: Final = 0.3
"""Share of the requests that order the thresholds."""

THRESHOLDS: Final = 30
"""Maximum number of thresholds."""

HOPELESS: Final = 2
"""Multiple of alpha from which on lower thresholds are left out: the order part shows more wrong answers there.

Thresholds lie the closer together; none of those left out would pass."""

SPARE: Final = 2
"""Standard errors of the number of wrong answers with which the first threshold is expected to pass."""

_STARTS: Final = 60
"""Numbers of requests of the order part, evenly spaced, that are compared as the first threshold's."""

_GROWTH: Final = 1.02
"""Factor between the sizes that `missing_requests` tries: it reports at most 2 % more than the smallest sufficient."""

_MOST_GROWTH: Final = 400
"""Number of these sizes: beyond 2,700 times the sample nobody judges more."""


class ThresholdTest(NamedTuple):
    """The test of one threshold.

    Attributes:
        threshold: minimum score of the requests that are answered.
        answered: number of these in the test part.
        wrong: number of wrong answers among them.
        p_value: of "the share of wrong answers is alpha or more".
    """

    threshold: float
    answered: int
    wrong: int
    p_value: float


class Outcome(NamedTuple):
    """Tests up to the first that failed.

    Attributes:
        tests: in their order; the last one failed unless all passed.
        passed: number of tests that passed.
        order: number of requests that ordered the thresholds.
        tested: number of requests that tested them.
    """

    tests: tuple[ThresholdTest, ...]
    passed: int
    order: int
    tested: int

    @property
    def chosen(self) -> ThresholdTest | None:
        """Return the lowest threshold that passed, None where none did and nothing may be answered."""
        return self.tests[self.passed - 1] if self.passed else None


def divide(names: Sequence[str]) -> Bools:
    """Return (n,) True for the requests that order the thresholds.

    The requests with the lowest hashes are chosen, so that nobody can try another division.

    Args:
        names: (n,) different names of the requests.
    """
    hashes = [hashlib.sha256(f"certificate:{name}".encode()).digest() for name in names]
    ranks = np.argsort(np.argsort(np.array(hashes, dtype="S32"), kind="stable"), kind="stable")
    return ranks < math.floor(ORDER_SHARE * len(names))


def certify(scores: Float64s, wrong: Bools, in_order: Bools, promise: Promise, *, lowest: float = 0.0) -> Outcome:
    """Return the tests of the thresholds.

    Args:
        scores: (n,) probability that the answer is right; negative where the request is never answered.
        wrong: (n,) the answer is wrong, also where there is none or it is undecided.
        in_order: (n,) the request orders the thresholds.
        promise: to test.
        lowest: threshold below which none is tried; requests below it need no verdict.
    """
    thresholds = order_thresholds(scores[in_order], wrong[in_order], promise, lowest=lowest)
    tests = try_thresholds(scores[~in_order], wrong[~in_order], thresholds, promise.alpha)
    passed = int(number_passed([test.p_value for test in tests], promise.delta)) if tests else 0
    return Outcome(tests[: passed + 1], passed, int(in_order.sum()), int((~in_order).sum()))


def order_thresholds(scores: Float64s, wrong: Bools, promise: Promise, *, lowest: float = 0.0) -> Float64s:
    """Return at most `THRESHOLDS` thresholds, descending; none where too few requests have a score.

    The first answers at least as many requests of the order part as show alpha without a wrong one. Of these it is the
    highest that passes by the order part's own share of wrong answers, plus a standard error; without one it is the
    most promising. A sequence that began at the highest would end there in 35 % of the simulated samples.

    Args:
        scores: (n,) of the order part.
        wrong: (n,) of the order part.
        promise: to test.
        lowest: threshold below which none is tried.
    """
    best, answered, failures = _counts_from_best(scores, wrong, lowest)
    smallest = smallest_sample(promise.alpha, promise.delta)
    if len(best) < smallest:
        return np.empty(0)
    starts = np.unique(np.linspace(smallest, len(best), _STARTS).round().astype(int))
    answers, failed = answered[starts - 1], failures[starts - 1]
    tested = np.floor(answers * (1 - ORDER_SHARE) / ORDER_SHARE)
    expected = tested * (failed + 0.5) / (answers + 1)  # as if half of another were wrong: 0 of 10 is no 0
    likely = lower_tail(np.ceil(expected + SPARE * np.sqrt(expected)), tested, promise.alpha)
    start = starts[(likely <= promise.delta).argmax() if likely.min() <= promise.delta else likely.argmin()]
    hopeful = np.flatnonzero(failures <= HOPELESS * promise.alpha * answered)
    last = max(start, hopeful[-1] + 1 if len(hopeful) else 0)
    places = np.unique(np.linspace(start, last, THRESHOLDS).round().astype(int)) - 1
    return np.unique(best[places])[::-1]


def _counts_from_best(scores: Float64s, wrong: Bools, lowest: float) -> tuple[Float64s, Int64s, Int64s]:
    """Return (m,) scores from ``lowest`` on, descending, and the numbers of answers and of wrong ones from each on.

    Equal scores have equal numbers: counted one after the other, they would make the result depend on the order of the
    rows, and who sorts a file would have another try.
    """
    best = np.sort(scores[scores >= lowest])[::-1]
    answered = np.searchsorted(-best, -best, side="right")
    return best, answered, np.searchsorted(np.sort(-scores[wrong]), -best, side="right")


def try_thresholds(scores: Float64s, wrong: Bools, thresholds: Float64s, alpha: float) -> tuple[ThresholdTest, ...]:
    """Return the test of each threshold on the test part, in their order."""
    ascending = np.sort(scores)
    answered = len(scores) - np.searchsorted(ascending, thresholds)
    of_wrong = np.sort(scores[wrong])
    failures = len(of_wrong) - np.searchsorted(of_wrong, thresholds)
    p_values = lower_tail(failures, answered, alpha)
    return tuple(
        ThresholdTest(float(threshold), int(n), int(k), float(p))
        for threshold, n, k, p in zip(thresholds, answered, failures, p_values, strict=True)
    )


def missing_requests(scores: Float64s, wrong: Bools, promise: Promise, *, lowest: float = 0.0) -> int | None:
    """Return the number of further requests with which some threshold passes if they turn out like those so far.

    They may turn out worse by a standard error.

    Args:
        scores: (n,) of all requests.
        wrong: (n,) of all requests.
        promise: to test.
        lowest: threshold below which none is tried.

    Returns:
        At least 1; None where the best answers are wrong as often as alpha, or no request has a score that is tried.
    """
    best, number, failures = _counts_from_best(scores, wrong, lowest)
    if not len(best):
        return None
    smallest = smallest_sample(promise.alpha, promise.delta)
    if ORDER_SHARE * len(best) < smallest:
        answerable = len(best) / len(scores)
        return max(math.ceil(smallest / ORDER_SHARE / answerable) - len(scores), 1)
    rate = (failures + 0.5) / (number + 1)  # as if half of another were wrong: 0 of 10 is no 0
    possible = (rate < promise.alpha) & (number >= smallest)  # the best of few are good by chance
    number, rate = number[possible], rate[possible]
    for step in range(_MOST_GROWTH):
        grown = np.floor(number * _GROWTH**step)
        tested = np.floor((1 - ORDER_SHARE) * grown)
        failures = np.ceil(rate * tested + np.sqrt(rate * tested))
        enough = grown * ORDER_SHARE >= smallest
        if (enough & (lower_tail(failures, tested, promise.alpha) <= promise.delta)).any():
            return max(math.ceil(len(scores) * _GROWTH**step) - len(scores), 1)
    return None


def further_try(promise: Promise) -> Promise:
    """Return the promise of a try with more requests after one that showed nothing: half of its chance to be broken.

    Several tries at the same chance break a promise more often; of halves the sum stays below twice the first one.
    """
    return promise.model_copy(update={"delta": max(promise.delta / 2, LEAST_DELTA)})


def bound_of(test: ThresholdTest, delta: float) -> float:
    """Return the Clopper-Pearson upper bound of the share of wrong answers at a threshold."""
    return upper_bound(test.wrong, test.answered, delta)
