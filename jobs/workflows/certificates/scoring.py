"""Scores of judged requests: the probabilities that an index gives to its answers.

requests, searcher -> score -> Scored
"""

from __future__ import annotations

import collections
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Final, NamedTuple

import numpy as np

from model.certificates.requests import Request
from model.confidence.fitting import LEAST_GROUPS, LEAST_QUERIES
from model.search.results import Answer
from schemas.errors import FilterError, QprError
from schemas.quantities import counted

if TYPE_CHECKING:
    from model.search.searcher import Searcher

BATCH: Final = 256
"""Requests that are answered together; it bounds the memory of their hits."""

ROUNDED: Final = 1e-3
"""Difference of two probabilities of which one was rounded by a spreadsheet."""


class Scored(NamedTuple):
    """Requests with the probability that the index gives to its answer.

    Attributes:
        requests: those that are not in the index word for word.
        scores: (n,) probability; -1 where nothing is ever answered: no hit, one without an answer, or a guard fired.
        exact: number of requests that are in the index word for word.
    """

    requests: list[Request]
    scores: np.ndarray
    exact: int


def score(file: str, requests: list[Request], searcher: Searcher) -> Scored:
    """Return the requests with their probabilities; a verdict on another answer than the present one is dropped.

    Raises:
        QprError: the index has no confidence model, a request has a value that is not in the index, or verdicts are
            about another version.
    """
    kept, scores, exact, outdated = list[Request](), list[float](), 0, list[Request]()
    for request, answer in _answers(file, requests, searcher):
        if answer.reason == "exact":
            exact += 1
            continue
        probability = _probability(answer)
        scores.append(probability)
        given = None if answer.hit is None else answer.hit.judged_id.strip()  # as a requests file is read
        judged = request.answer_id is None or request.answer_id == given
        kept.append(request if judged else request._replace(verdict=None))
        differs = request.probability is not None and abs(request.probability - probability) > ROUNDED
        if request.answer_id is None and differs and not _is_barred(answer):
            outdated.append(request)
    if outdated:
        first, noun = outdated[0], counted(len(outdated), "request")
        raise QprError(
            f"{file}: {noun}, the first in row {first.row}, with another probability than this index gives, so that "
            "the verdicts may be on other answers. Add the column answer_id of `qpr answer --json`: verdicts on "
            "unchanged answers are kept"
        )
    return Scored(kept, np.array(scores, float), exact)


def _answers(file: str, requests: Sequence[Request], searcher: Searcher) -> Iterator[tuple[Request, Answer]]:
    """Yield each request with its answer, those with equal values together."""
    by_filters = collections.defaultdict[tuple[tuple[str, str], ...], list[Request]](list)
    for request in requests:
        by_filters[request.filters].append(request)
    for filters, of_values in by_filters.items():
        for start in range(0, len(of_values), BATCH):
            part = of_values[start : start + BATCH]
            asked = [request.question for request in part]
            try:
                answers = searcher.answer_many(asked, filters=dict(filters) or None)
            except FilterError as error:
                raise QprError(f"{file}: row {part[0].row}: {error.fault}. Correct the row, or leave it out") from error
            yield from zip(part, answers, strict=True)


def _is_barred(answer: Answer) -> bool:
    """Return whether the best hit is never given as an answer: it has none, or a guard fired."""
    return answer.hit is not None and (answer.hit.why.guard is not None or answer.reason == "no_answer")


def _probability(answer: Answer) -> float:
    """Return the score of an answer; -1 where nothing is answered."""
    if answer.hit is None or _is_barred(answer):
        return -1.0
    if answer.hit.probability is None:
        raise QprError(
            "--index: has no confidence model, so that its answers have no probability. Build it with `qpr index` from "
            "a table with several wordings of its answers, as `qpr export` writes it, or from a dataset with at least "
            f"{LEAST_GROUPS} validation clusters and {LEAST_QUERIES} questions in them"
        )
    return answer.hit.probability
