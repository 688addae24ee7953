"""Worth of an answer in a log: how often the same answer means the same question.

counters -> answer_worth -> AnswerWorth
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any, Final, NamedTuple

PREFIX: Final = "worth_"
"""Beginning of the counters that `pipelines.clusters.answer_worth` makes."""

_MILLION: Final = 1e6
_NORMAL: Final = 1.96


class AnswerWorth(NamedTuple):
    """Estimates by the match probabilities of the linkage, no measurement.

    Attributes:
        answers: number of answers with several questions.
        intents: number of these that are intents, by `pipelines.linkage.intents`.
        strays: number of questions that were rejected from intents.
        paraphrases: estimated share of the pairs of one answer that are paraphrases.
        precision: estimated share of the kept pairs that are paraphrases; None without a kept pair.
        low: low end of its interval of 95 %, if the probabilities are calibrated on this log.
        high: its high end.
        threshold: minimum mean probability of a cluster, chosen for this log; None: it is the same in each log.
    """

    answers: int
    intents: int
    strays: int
    paraphrases: float
    precision: float | None
    low: float
    high: float
    threshold: float | None = None

    @property
    def sentence(self) -> str:
        """Return the estimates as one sentence."""
        worth = (
            f"The same answer means the same question in about {_percent(self.paraphrases)} % of the pairs of this log"
        )
        if self.precision is None:
            return f"{worth}; no pair was kept."
        kept = f"{_percent(self.precision)} % ({_percent(self.low)} to {_percent(self.high)})"
        found = f"{worth}; kept pairs are right in an estimated {kept}."
        if self.threshold is None:
            return found
        return f"{found} A cluster of this log needs a mean probability of at least {self.threshold:.2f}."


def answer_worth(counters: Mapping[str, int]) -> AnswerWorth | None:
    """Return the estimates of a run, None if its answers were not split or none has several questions."""
    found = {name.removeprefix(PREFIX): number for name, number in counters.items() if name.startswith(PREFIX)}
    if not found.get("pairs"):
        return None
    kept = found["pairs_kept"]
    precision = found["pairs_kept_expected"] / _MILLION / kept if kept else None
    spread = _NORMAL * math.sqrt(found["pairs_kept_variance"] / _MILLION) / kept if kept else 0.0
    low, high = max((precision or 0) - spread, 0.0), min((precision or 0) + spread, 1.0)
    share = min(found["pairs_expected"] / _MILLION / found["pairs"], 1.0)
    threshold = found["threshold"] / _MILLION if "threshold" in found else None
    return AnswerWorth(found["answers"], found["intents"], found["strays"], share, precision, low, high, threshold)


def as_json(worth: AnswerWorth | None) -> dict[str, Any] | None:
    """Return the estimates for a program."""
    if worth is None:
        return None
    return {name: round(value, 4) if isinstance(value, float) else value for name, value in worth._asdict().items()}


def _percent(share: float) -> str:
    return f"{100 * share:.1f}" if 0 < share < 0.1 else f"{100 * share:.0f}"
