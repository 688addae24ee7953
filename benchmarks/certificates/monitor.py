"""Alarms of the monitor over many nights, each with a certificate of its own.

Run: python -m benchmarks.certificates.monitor

Each night AUDITS answers are judged, and each is wrong with the share of the row. "Each night alone" begins without
evidence with every certificate, and one night with an alarm is an alarm; "all nights as one" multiplies the evidence of
all nights; "from any night on" is that of `qpr serve`. "Days" is the median number of nights from the first one with
the share of the row to the alarm, of the runs that have an alarm. Good nights before it have a quarter of the promised
share; alarms in them are false.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Annotated, Final

import numpy as np
import typer

from benchmarks.cli import AsJson, Report, Seed, run
from schemas.arrays import Bools, Float64s
from schemas.statistics.e_processes import ALARM, excess_evidence
from schemas.statistics.later_excess import later_excess_evidence

Evidence = Callable[[Bools, float], Float64s]

GOOD: Final = 0.25
"""Share of wrong answers on good nights, in parts of the promised one."""


def each_night_alone(wrong: Bools, alpha: float) -> Float64s:
    """Return (nights,) the highest evidence of each night, of (nights, audits) verdicts."""
    audits = np.arange(1, wrong.shape[1] + 1)
    return np.asarray(excess_evidence(wrong.cumsum(1), audits, alpha).max(1))


def all_nights_as_one(wrong: Bools, alpha: float) -> Float64s:
    """Return the same of one process over all nights."""
    counts = wrong.ravel().cumsum().reshape(wrong.shape)
    return np.asarray(excess_evidence(counts, np.arange(1, wrong.size + 1).reshape(wrong.shape), alpha).max(1))


def from_any_night_on(wrong: Bools, alpha: float) -> Float64s:
    """Return the same of the monitor's evidence."""
    nights, audits = wrong.shape
    counts, sizes, highest = np.zeros((audits, nights)), np.zeros((audits, nights)), np.empty(nights)
    for night in range(nights):
        counts[:, night], sizes[:, night] = wrong[night].cumsum(), np.arange(1, audits + 1)
        begun = slice(night + 1)
        highest[night] = later_excess_evidence(counts[:, begun], sizes[:, begun], alpha).max()
        counts[:, night], sizes[:, night] = counts[-1, night], audits
    return highest


METHODS: Final[dict[str, Evidence]] = {
    "each night alone": each_night_alone,
    "all nights as one": all_nights_as_one,
    "from any night on": from_any_night_on,
}


def alarms(
    evidence: Evidence, *, good: int, nights: int, share: float, alpha: float, audits: int, runs: int, seed: int
) -> tuple[float, float, float]:
    """Return the shares of runs with an alarm in the good nights and after them, and the median nights to the latter.

    Args:
        evidence: method.
        good: nights before the change.
        nights: from the change on.
        share: of wrong answers from the change on.
        alpha: promised share.
        audits: of a night.
        runs: number of them.
        seed: of the verdicts.
    """
    random = np.random.default_rng(seed)
    shares = np.repeat([GOOD * alpha, share], [good, nights])[:, None]
    early, first = 0, list[int]()
    for _ in range(runs):
        raised = np.flatnonzero(evidence(random.random((good + nights, audits)) < shares, alpha) >= ALARM)
        early += bool(len(raised) and raised[0] < good)
        if len(late := raised[raised >= good]):
            first.append(int(late[0]) - good + 1)
    return early / runs, len(first) / runs, float(np.median(first)) if first else float("nan")


def monitor(
    alpha: Annotated[float, typer.Option(help="Promised share of wrong answers.")] = 0.02,
    share: Annotated[list[float] | None, typer.Option(help="Share of wrong answers; several.")] = None,
    good: Annotated[list[int] | None, typer.Option(help="Good nights before it; several.")] = None,
    nights: Annotated[int, typer.Option(help="Nights with the share.")] = 30,
    audits: Annotated[int, typer.Option(help="Judged answers of a night.")] = 20,
    runs: Annotated[int, typer.Option(help="Simulated warehouses of each row.")] = 1_000,
    seed: Seed = 0,
    as_json: AsJson = False,
) -> None:
    """Print a row for each share, number of good nights before, and method."""
    report = Report(as_json=as_json, alpha=alpha, nights=nights, audits=audits, runs=runs, seed=seed)
    for of in share or [alpha, 3 * alpha]:
        for before in good or [0]:
            for name, evidence in METHODS.items():
                found = alarms(
                    evidence, good=before, nights=nights, share=of, alpha=alpha, audits=audits, runs=runs, seed=seed
                )
                early, late, days = found
                report.row(
                    wrong=round(of, 4), good_nights=before, evidence=name, false_alarms=early, alarms=late, days=days
                )


if __name__ == "__main__":
    run(monitor)
