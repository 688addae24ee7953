"""Scores of judged requests: the probabilities that an index gives to its answers.

requests, searcher -> score -> Scored
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final, NamedTuple, Protocol

import numpy as np

from model.certificates.requests import Request
from model.certificates.version import Version
from model.search.results import Answer
from schemas.errors import QprError
from schemas.quantities import counted

BATCH: Final = 256
ROUNDED: Final = 1e-3
"""Difference of two probabilities of which one was rounded by a spreadsheet."""


class Answerer(Protocol):
    """The part of a searcher that a certification needs."""

    @property
    def version(self) -> Version | None:
        """Return all that decides its answers."""
        ...

    def answer_many(self, questions: Sequence[str]) -> list[Answer]:
        """Return the answers, with the best hit of an abstention too."""
        ...


class Scored(NamedTuple):
    """Requests with the probability that the index gives to its answer.

    Attributes:
        requests: those that are not in the index word for word.
        scores: (n,) probability; -1 where nothing is ever answered: no hit, or a guard fired.
        exact: number of requests that are in the index word for word.
    """

    requests: list[Request]
    scores: np.ndarray
    exact: int


def score(file: str, requests: list[Request], searcher: Answerer) -> Scored:
    """Return the requests with their probabilities; a verdict on another answer than the present one is dropped.

    Raises:
        QprError: the index has no confidence model, or verdicts are about another version.
    """
    kept, scores, exact, outdated = list[Request](), list[float](), 0, list[Request]()
    for start in range(0, len(requests), BATCH):
        part = requests[start : start + BATCH]
        for request, answer in zip(part, searcher.answer_many([r.question for r in part]), strict=True):
            if answer.reason == "exact":
                exact += 1
                continue
            probability = _probability(answer)
            scores.append(probability)
            judged = request.answer_id is None or request.answer_id == judged_id(answer)
            kept.append(request if judged else request._replace(verdict=None))
            differs = request.probability is not None and abs(request.probability - probability) > ROUNDED
            if request.answer_id is None and differs and not (answer.hit and answer.hit.why.guard):
                outdated.append(request)
    if outdated:
        first, noun = outdated[0], counted(len(outdated), "request")
        raise QprError(
            f"{file}: {noun}, the first in row {first.row:,}, with another probability than this index gives, so that "
            "the verdicts may be on other answers. Add the column answer_id of `qpr answer --json`: verdicts on "
            "unchanged answers are kept"
        )
    return Scored(kept, np.array(scores, float), exact)


def judged_id(answer: Answer) -> str | None:
    """Return the name of an answer in a requests file: its id, or the id of the question that it belongs to."""
    hit = answer.hit
    return None if hit is None else hit.answer_id or str(hit.question_id)


def _probability(answer: Answer) -> float:
    """Return the score of an answer; -1 where nothing is answered."""
    if answer.hit is None or answer.hit.why.guard is not None:
        return -1.0
    if answer.hit.probability is None:
        raise QprError(
            "--index: has no confidence model, so that its answers have no probability. Build it with `qpr index` from "
            "a dataset with validation clusters, or from a table with several wordings of its answers"
        )
    return answer.hit.probability
