"""Worth of an answer in a log: how often the same answer means the same question.

counters, configuration, inputs -> answer_worth -> AnswerWorth; warnings
"""

from __future__ import annotations

import hashlib
import math
from collections.abc import Iterable, Mapping
from typing import Any, Final, Literal, NamedTuple

from pipelines.summary.agreement import PREFIX, is_near_chance, percent_number
from schemas.artifacts.manifest import Source
from schemas.quantities import counted

_MILLION: Final = 1e6
_NORMAL: Final = 1.96  # standard errors on each side of an interval of 95 %
_MOST: Final = 0.5
"""Estimated share of right pairs below which a run warns."""

Origin = Literal["linkage", "verdicts", "verdicts on other logs", "statement", "chance", "none"]
"""Origin of the estimates: the linkage, which is calibrated for each log; verdicts; none, since --answers intent states
what the linkage would estimate, answers are as by chance, or the linkage is not calibrated for a log."""


class AnswerWorth(NamedTuple):
    """Estimates by the match probabilities of the linkage or by verdicts.

    Attributes:
        answers: number of answers with several questions.
        intents: number of these that are intents, by `pipelines.linkage.intents`.
        strays: number of questions that were rejected from intents.
        paraphrases: estimated share of the pairs of one answer that are paraphrases; None: not estimated.
        precision: estimated share of the kept pairs that are paraphrases; None: not estimated, or no pair is kept.
        low: low end of its interval of 95 %.
        high: its high end.
        threshold: minimum mean probability of a cluster; None: all answers are intents, which have none.
        origin: of the estimates.
        verdicts: number of verdicts of an estimate by these.
        method: name of the linkage.
        wrong_answers: estimated share of the questions with a wrong answer; None: no intents, or not estimated.
    """

    answers: int
    intents: int
    strays: int
    paraphrases: float | None = None
    precision: float | None = None
    low: float | None = None
    high: float | None = None
    threshold: float | None = None
    origin: Origin = "linkage"
    verdicts: int = 0
    method: str = "boosted"
    wrong_answers: float | None = None

    @property
    def is_by_linkage(self) -> bool:
        """Return whether the linkage estimates, so that its probabilities of single answers are estimates too."""
        return self.origin == "linkage"

    @property
    def sentence(self) -> str:
        """Return the estimates, or why there are none, and the threshold."""
        estimates = _SENTENCES[self.origin](self)
        if self.threshold is None:
            return estimates
        subject = "Clusters of other answers than intents need" if self.intents else "Clusters need"
        stated = " before its correction by the verdicts" if self.verdicts else ""
        return f"{estimates} {subject} a mean probability of at least {self.threshold:.3g}{stated}."


def answer_worth(
    counters: Mapping[str, int], configuration: Mapping[str, Any], inputs: Iterable[Source] = ()
) -> AnswerWorth | None:
    """Return the estimates of a run, None if its answers were not split or none has several questions.

    Args:
        counters: as in the manifest.
        configuration: as in the manifest.
        inputs: the files that were read.
    """
    sums = {name.removeprefix(PREFIX): number for name, number in counters.items() if name.startswith(PREFIX)}
    if not sums.get("pairs"):
        return None
    assembly = configuration.get("assembly", {})
    used = _recalibration(configuration)
    origin = _origin(counters, configuration, inputs)
    threshold = None
    if "threshold" in sums and sums["intents"] < sums["answers"]:
        threshold = max(sums["threshold"] / _MILLION, used.get("min_stated", 0.0))
    method = assembly.get("linking", {}).get("method", "boosted")
    wrong = sums["wrong_answers"] / _MILLION if sums["intents"] and "wrong_answers" in sums else None
    counts = (sums["answers"], sums["intents"], sums["strays"])
    plain = AnswerWorth(*counts, threshold=threshold, origin=origin, method=method, wrong_answers=wrong)
    if plain.is_by_linkage:
        return _by_linkage(plain, sums)
    if origin in ("verdicts", "verdicts on other logs"):
        precision, low, high = used["estimates"]["precision"]
        shared = used["estimates"]["prior"][0]
        return plain._replace(
            paraphrases=shared, precision=precision, low=low, high=high, verdicts=used.get("verdicts", 0)
        )
    return plain


def warnings(configuration: Mapping[str, Any], inputs: Iterable[Source]) -> list[str]:
    """Return a sentence about estimates of other logs, none for a run without such estimates."""
    if not is_judged_elsewhere(configuration, inputs):
        return []
    precision = _recalibration(configuration).get("precision")
    promise = f"the precision of {precision:g} holds" if precision else "its probabilities hold"
    judged = "other files, columns or a dataset of another release"
    return [f"the verdicts of --calibration are about {judged}: {promise} as far as these logs are like them"]


def doubts(worth: AnswerWorth | None) -> list[str]:
    """Return a sentence if the linkage estimates that most of the kept pairs are wrong, none otherwise."""
    if worth is None or not worth.is_by_linkage or worth.precision is None or worth.precision >= _MOST:
        return []
    higher = "" if worth.threshold is None else f", and raise --min-probability above {worth.threshold:.3g}"
    return [
        f"kept pairs are right in an estimated {_interval(worth)}, so most of them can be wrong. "
        f"Read clusters with qpr sample{higher}"
    ]


def is_judged_elsewhere(configuration: Mapping[str, Any], inputs: Iterable[Source]) -> bool:
    """Return whether a run used verdicts on a dataset of other files or columns than it read, or of another release."""
    judged = _recalibration(configuration).get("judged")
    return bool(judged) and judged != digest_of_files(source.digest for source in inputs if source.digest)


def promise_of_verdicts(configuration: Mapping[str, Any], inputs: Iterable[Source]) -> str:
    """Return the number of verdicts and the precision that they promise, as sentences."""
    used = _recalibration(configuration)
    elsewhere = is_judged_elsewhere(configuration, inputs)
    judged = f"{counted(used.get('verdicts', 0), 'verdict')}{' on other logs' if elsewhere else ''}"
    note = f"Estimated by {judged}, with 95 % intervals."
    if used.get("precision"):
        promise = f"pairs have a precision of at least {used['precision']:g} with 95 % confidence."
        note += f" If this log is like the judged ones, kept {promise}" if elsewhere else f" Kept {promise}"
    return note


def digest_of_files(digests: Iterable[str]) -> str:
    """Return one digest of the digests of files, in any order."""
    return hashlib.sha256("\n".join(sorted(digests)).encode()).hexdigest()


def as_json(worth: AnswerWorth | None) -> dict[str, Any] | None:
    """Return the estimates for a program."""
    if worth is None:
        return None
    return {name: round(value, 4) if isinstance(value, float) else value for name, value in worth._asdict().items()}


def _recalibration(configuration: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return the settings by which verdicts corrected the run; empty where none did."""
    return configuration.get("assembly", {}).get("recalibration") or {}


def _origin(counters: Mapping[str, int], configuration: Mapping[str, Any], inputs: Iterable[Source]) -> Origin:
    assembly = configuration.get("assembly", {})
    linking = assembly.get("linking", {})
    if _recalibration(configuration).get("estimates"):
        return "verdicts on other logs" if is_judged_elsewhere(configuration, inputs) else "verdicts"
    if linking.get("answers") == "intent":
        return "statement"
    calibrated = linking.get("method", "boosted") == "boosted" and not linking.get("weights")
    if not calibrated:
        return "none"
    return "chance" if is_near_chance(counters) else "linkage"


def _by_linkage(plain: AnswerWorth, sums: Mapping[str, int]) -> AnswerWorth:
    """Return the estimates by the sums of match probabilities."""
    share = min(sums["pairs_expected"] / _MILLION / sums["pairs"], 1.0)
    kept = sums["pairs_kept"]
    if not kept:
        return plain._replace(paraphrases=share)
    precision = sums["pairs_kept_expected"] / _MILLION / kept
    spread = _NORMAL * math.sqrt(max(sums["pairs_kept_variance"], 0) / _MILLION) / kept
    low, high = max(precision - spread, 0.0), min(precision + spread, 1.0)
    return plain._replace(paraphrases=share, precision=precision, low=low, high=high)


def _of_linkage(worth: AnswerWorth) -> str:
    kept = "no pair was kept" if worth.precision is None else f"kept pairs are right in an estimated {_interval(worth)}"
    return f"The {_shared(worth)} of this log; {kept}."


def _of_verdicts(worth: AnswerWorth) -> str:
    by = f"By {counted(worth.verdicts, 'verdict')}"
    return f"{by} the {_shared(worth)} of this log; kept pairs are right in an estimated {_interval(worth)}."


def _of_other_logs(worth: AnswerWorth) -> str:
    by = f"By {counted(worth.verdicts, 'verdict')} on other logs"
    estimates = f"{by} the {_shared(worth)} there; kept pairs are right there in an estimated {_interval(worth)}."
    return f"{estimates} This log was not judged."


def _of_statement(_: AnswerWorth) -> str:
    stated = "You stated that the same answer means the same question (--answers intent)"
    return f"{stated}; the share of kept pairs that are right is not estimated."


def _of_chance(_: AnswerWorth) -> str:
    return (
        "The share of kept pairs that are right is not estimated: nearest questions of this log have the same answer "
        "hardly more often than by chance. Verdicts measure it: qpr sample --for-calibration 150, then qpr calibrate."
    )


def _of_nothing(worth: AnswerWorth) -> str:
    return (
        f"The share of kept pairs that are right is not estimated: probabilities of --linkage {worth.method} are not "
        "calibrated for this log. Verdicts measure it: qpr sample --for-calibration 150, then qpr calibrate."
    )


_SENTENCES: Final = {
    "linkage": _of_linkage,
    "verdicts": _of_verdicts,
    "verdicts on other logs": _of_other_logs,
    "statement": _of_statement,
    "chance": _of_chance,
    "none": _of_nothing,
}


def _shared(worth: AnswerWorth) -> str:
    assert worth.paraphrases is not None  # linkage and verdicts, whose sentences have it, estimate it
    is_tiny = 0 < worth.paraphrases < 0.001
    share = "less than 0.1" if is_tiny else f"about {percent_number(worth.paraphrases)}"
    return f"same answer means the same question in {share} % of the pairs"


def _interval(worth: AnswerWorth) -> str:
    assert worth.precision is not None  # of those that are estimated each has an interval
    assert worth.low is not None
    assert worth.high is not None
    return f"{percent_number(worth.precision)} % ({percent_number(worth.low)} to {percent_number(worth.high)})"
