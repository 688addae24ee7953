"""Gate of a night: reasons not to publish it.

comparison, counters, splits -> reason_to_refuse -> one line, or None
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from jobs.nightly.gate.evaluation import Interval
from jobs.nightly.gate.settings import GateSettings
from pipelines.summary.script_shares import FEWEST_QUESTIONS, script_shares
from schemas.quantities import counted


def reason_to_refuse(
    settings: GateSettings,
    *,
    difference: Interval | None,
    before: Mapping[str, int] | None,
    after: Mapping[str, int],
    moved: int,
) -> str | None:
    """Return why a night is not published, or None.

    Args:
        settings: the limits.
        difference: of the MRR on the frozen test set; None without a version before or without a common query.
        before: counters of the dataset of the version before; None for the first.
        after: counters of the new one.
        moved: number of questions of train that were held out in an earlier version.
    """
    if moved:
        return f"in train, though held out by an earlier version: {counted(moved, 'question')}"
    if difference and difference.low < -settings.max_regression:
        return (
            f"MRR on the frozen test set changed by {difference.mean:+.4f} (95 % interval {difference.low:+.4f} to "
            f"{difference.high:+.4f}), which may be below -{settings.max_regression:g} of --max-regression"
        )
    if before is None:
        return None
    falls = _kept_shares(before)
    for name, share in _kept_shares(after).items():
        if name in falls and falls[name] - share > settings.max_kept_fall:
            return (
                f"share of questions {name} in a cluster fell from {falls[name]:.1%} to {share:.1%}, more than "
                f"--max-kept-fall {settings.max_kept_fall:g} allows"
            )
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


def _kept_shares(counters: Mapping[str, int]) -> dict[str, float]:
    of_scripts = {
        f"in the script {shares.script}": shares.share
        for shares in script_shares(counters)
        if shares.questions >= FEWEST_QUESTIONS
    }
    return {"of all scripts": kept_share(counters)} | of_scripts
