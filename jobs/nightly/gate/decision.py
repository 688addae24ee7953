"""Decision of the gate: the first reason not to publish a night.

limits, evidence -> reason_to_refuse -> one line with the figure, its limit and the next step, or None
"""

from __future__ import annotations

import shlex
from collections.abc import Callable, Mapping
from typing import Final

import numpy as np

from jobs.nightly.gate.advice import passing_limit, step_after_drift, step_after_lost_questions, step_after_regression
from jobs.nightly.gate.answer_distance import FEWEST_NEW
from jobs.nightly.gate.answer_mix import Mix
from jobs.nightly.gate.canaries import shown
from jobs.nightly.gate.evidence import Evidence
from jobs.nightly.gate.settings import GateSettings
from model.evaluation.intervals import Interval
from pipelines.summary.script_shares import FEWEST_QUESTIONS, ScriptShare, script_shares
from schemas.quantities import counted, rounded_percent

_AGAIN: Final = "run the night again"

_RELATIVE_FALL: Final = 5
"""The relative fall of the kept share that is allowed, divided by the limit of its fall: by default half of the share.
In a log of facts with 6 % of its questions in clusters no fall reaches 10 percentage points."""


def reason_to_refuse(settings: GateSettings, evidence: Evidence) -> str | None:
    """Return why a night is not published, or None."""
    for check in _CHECKS:
        if reason := check(settings, evidence):
            return reason
    return None


def kept_share(counters: Mapping[str, int]) -> float:
    """Return the share of the distinct questions of a dataset that are in a cluster."""
    return counters.get("questions_in_clusters", 0) / max(counters.get("questions", 0), 1)


def questions_moved(splits: Mapping[str, np.ndarray], earlier: Mapping[str, np.ndarray]) -> int:
    """Return how many questions are in train by one and were held out by the other.

    Args:
        splits: ids of questions by split, of all versions with the new one.
        earlier: of the versions before.
    """
    held_out = np.union1d(earlier["validation"], earlier["test"])
    return len(np.intersect1d(splits["train"], held_out))


def _leaked(_: GateSettings, evidence: Evidence) -> str | None:
    if not evidence.moved:
        return None
    return (
        f"in train, though held out by an earlier version: {counted(evidence.moved, 'question')}, where 0 are allowed. "
        "Report this as a defect; no limit lets it pass"
    )


def _missed(settings: GateSettings, evidence: Evidence) -> str | None:
    missed = evidence.missed
    if missed is None:
        return None
    instead = "has no hit" if missed.found is None else f"has the first hit {shown(missed.found)}"
    return (
        f"{missed.missed:,} of {counted(missed.all, 'canary')} not found within rank {settings.canary_rank} "
        f"of --canary-rank; the first, in row {missed.canary.row}, {shown(missed.canary.question)}, {instead} in "
        f"place of {missed.canary.expected}. Look for it in the drops, or correct --canaries, and {_AGAIN}"
    )


def _regressed(settings: GateSettings, evidence: Evidence) -> str | None:
    difference = evidence.difference
    if difference is None or difference.low >= -settings.max_regression:
        return None
    return (
        f"MRR on the frozen test set, among questions of both versions, changed by {_shown(difference)}, which may be "
        f"below -{settings.max_regression:g} of --max-regression. "
        f"{_steps(evidence, step_after_regression(evidence, settings.max_regression), -difference.low)}"
    )


def _displaced(settings: GateSettings, evidence: Evidence) -> str | None:
    difference = evidence.displaced
    if difference is None or difference.mean >= -settings.max_regression or difference.high >= 0:
        return None
    step = "Look in the new drops for questions that repeat earlier ones with another answer"
    return (
        f"new questions of other clusters changed MRR on the frozen test set by {_shown(difference)}, more than "
        f"--max-regression {settings.max_regression:g} allows. "
        f"{_steps(evidence, step, -difference.mean)}"
    )


def _steps(evidence: Evidence, step: str, figure: float) -> str:
    """Return the advice to a night whose rows differ from those before: first to read all days with its options.

    Args:
        evidence: on the night.
        step: the next one, but for a higher limit.
        figure: the number that is beyond the limit.
    """
    if evidence.reread:
        again = f"`{evidence.reread}` with those of this night reads them again"
        step = f"Days were ingested with other options; {again}: do that first. {step}"
    higher = f", or raise the limit to {passing_limit(figure)}" if figure <= 1 else ""  # an interval can reach below -1
    return f"{step}{higher} and {_AGAIN}"


def _shown(difference: Interval) -> str:
    return f"{difference.mean:+.4f} (95 % interval {difference.low:+.4f} to {difference.high:+.4f})"


def _lost(settings: GateSettings, evidence: Evidence) -> str | None:
    if evidence.before is None:
        return None
    before, after = _kept_shares(evidence.before), _kept_shares(evidence.after)
    losses = {name: _loss(before[name], share) for name, share in after.items() if name in before}
    for name, loss in losses.items():
        if loss > settings.max_kept_fall:
            steps = _steps(evidence, step_after_lost_questions(evidence), max(losses.values()))
            was, now, limit = before[name].share, after[name].share, settings.max_kept_fall
            relative = f", which is at most {rounded_percent(_RELATIVE_FALL * limit)} of the share before"
            return (
                f"share of questions {name} in a cluster fell from {rounded_percent(was)} to {rounded_percent(now)}, "
                f"more than --max-kept-fall {limit:g} allows{'' if was - now > limit else relative}. {steps}"
            )
    return None


def _loss(before: ScriptShare, after: ScriptShare) -> float:
    """Return the smallest limit by which a fall of the kept share passes."""
    fall = before.share - after.share
    if before.kept < FEWEST_QUESTIONS:
        return fall
    return max(fall, fall / before.share / _RELATIVE_FALL)


def _drifted(settings: GateSettings, evidence: Evidence) -> str | None:
    mix = evidence.mix
    if mix is None or mix.excess <= settings.max_drift:
        return None
    steps = f"{_moved(mix)}. {_steps(evidence, step_after_drift(mix), mix.excess)}"
    if mix.excess > mix.distance - mix.usual:
        return (
            f"{rounded_percent(mix.new)} of the rows of {mix.date} have a new answer, where up to "
            f"{rounded_percent(max(mix.usual_new, FEWEST_NEW))} are usual; the distance of both shares is "
            f"{mix.distance_of_new:.3f}, more than --max-drift {settings.max_drift:g} allows. {steps}"
        )
    return (
        f"answers of {mix.date} are {mix.distance:.3f} away from those of the days before, where up to "
        f"{mix.usual:.3f} is usual; --max-drift {settings.max_drift:g} allows {mix.usual + settings.max_drift:.3f}. "
        f"{rounded_percent(mix.new)} of the rows have a new answer, and {steps}"
    )


def _moved(mix: Mix) -> str:
    """Return the change of the answer whose share changed most: of its share, or of its id."""
    if mix.is_renamed:
        share = rounded_percent(max(mix.share_before, mix.share))
        return f"{shown(mix.moved)}, with a share of {share}, has another answer id than before"
    return f"{shown(mix.moved)} went from {rounded_percent(mix.share_before)} to {rounded_percent(mix.share)}"


def _unreviewed(settings: GateSettings, evidence: Evidence) -> str | None:
    review = evidence.review
    if review is None:
        return None
    judge = f"Judge clusters with `qpr review --dataset {shlex.quote(evidence.judge)}`, report them and {_AGAIN}"
    if not evidence.is_reviewed:
        return (
            f"--require-review is about dataset {review.digest[:12]}, which is not that of this night or of a version "
            f"of the {counted(settings.review_days, 'day')} of --review-days. {judge}"
        )
    if review.right.bound < settings.min_right:
        return (
            f"{review.right.right:,} of {counted(review.right.judged, 'judged cluster')} are right, which shows "
            f"{rounded_percent(review.right.bound, 2)}, less than --min-right {settings.min_right:g}. {judge}"
        )
    return None


def _uncertified(_: GateSettings, evidence: Evidence) -> str | None:
    if evidence.uncertified is None:
        return None
    return f"no certificate, though --require-certificate: {evidence.uncertified}"


def _kept_shares(counters: Mapping[str, int]) -> dict[str, ScriptShare]:
    questions, kept = counters.get("questions", 0), counters.get("questions_in_clusters", 0)
    of_scripts = {
        f"in the script {shares.script}": shares
        for shares in script_shares(counters)
        if shares.questions >= FEWEST_QUESTIONS
    }
    return {"of all scripts": ScriptShare("", questions, kept)} | of_scripts


_CHECKS: Final[tuple[Callable[[GateSettings, Evidence], str | None], ...]] = (
    _leaked,
    _missed,
    _regressed,
    _displaced,
    _lost,
    _drifted,
    _unreviewed,
    _uncertified,
)
"""In this order: faults of the build first, then faults of the drops, then missing verdicts."""
