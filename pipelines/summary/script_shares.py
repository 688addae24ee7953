"""Share of the questions of each script that are in a cluster.

counters -> script_shares -> ScriptShare -> warnings
"""

from __future__ import annotations

import statistics
from collections.abc import Mapping, Sequence
from typing import Any, Final, NamedTuple

from pipelines.questions.scripts import NO_LETTER, PREFIX
from schemas.quantities import counted

FEWEST_QUESTIONS: Final = 20
"""Minimum number of questions of a script whose share is compared."""

LOW: Final = 0.5
"""Share of the median over scripts below which a script causes a warning."""


class ScriptShare(NamedTuple):
    """The distinct questions of a script, and those of them that are in a cluster."""

    script: str
    questions: int
    kept: int

    @property
    def share(self) -> float:
        """Return the kept share."""
        return self.kept / self.questions if self.questions else 0.0


def script_shares(counters: Mapping[str, int]) -> list[ScriptShare]:
    """Return the scripts of a run, the most frequent first."""
    scripts = {name.removeprefix(PREFIX).rpartition("_")[0] for name in counters if name.startswith(PREFIX)}
    shares = []
    for script in scripts:
        kept, rejected = (counters.get(f"{PREFIX}{script}_{outcome}", 0) for outcome in ("kept", "rejected"))
        shares.append(ScriptShare(script, kept + rejected, kept))
    return sorted(shares, key=lambda share: (-share.questions, share.script))


def warnings(shares: Sequence[ScriptShare]) -> list[str]:
    """Return one sentence for each script of which far fewer questions are kept than of the median script.

    Questions without a letter, such as ``2 + 2``, have no script and are not compared.
    """
    large = [share for share in shares if share.questions >= FEWEST_QUESTIONS and share.script != NO_LETTER]
    if not large:
        return []
    median = statistics.median(share.share for share in large)
    return [_warning(share, median) for share in large if share.share < LOW * median]


def as_json(shares: Sequence[ScriptShare]) -> list[dict[str, Any]]:
    """Return the scripts for a program, with their shares."""
    return [{**share._asdict(), "share": round(share.share, 4)} for share in shares]


def _warning(share: ScriptShare, median: float) -> str:
    kept = f"{100 * share.share:.1f} % of {counted(share.questions, 'question')} in the script {share.script}"
    advice = "Read the table rejected, or compare meanings with --refine-with and a multilingual model"
    return f"{kept} are in a cluster, the median over scripts is {100 * median:.1f} %. {advice}"
