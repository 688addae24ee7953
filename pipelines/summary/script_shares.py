"""Share of the questions of each script that are in a cluster.

counters -> script_shares -> ScriptShare -> warnings
"""

from __future__ import annotations

import statistics
from collections.abc import Mapping, Sequence
from typing import Any, Final, NamedTuple

from pipelines.questions.scripts import NO_LETTER, OTHER, PREFIX
from schemas.quantities import counted, rounded_percent

FEWEST_QUESTIONS: Final = 20
"""Minimum number of questions of a script whose share is compared."""

LOW: Final = 0.5
"""Share of the median over scripts below which a script causes a warning."""


UNCUT: Final = 0.5
"""Minimum share of a script's questions of one long word from which on the script is taken to have no spaces."""


class ScriptShare(NamedTuple):
    """The distinct questions of a script, those of them in a cluster, and those of one long word."""

    script: str
    questions: int
    kept: int
    uncut: int = 0

    @property
    def share(self) -> float:
        """Return the kept share."""
        return self.kept / self.questions if self.questions else 0.0


def script_shares(counters: Mapping[str, int]) -> list[ScriptShare]:
    """Return the scripts of a run, the most frequent first."""
    scripts = {name.removeprefix(PREFIX).rpartition("_")[0] for name in counters if name.startswith(PREFIX)}
    shares = []
    for script in scripts:
        kept, rejected, uncut = (
            counters.get(f"{PREFIX}{script}_{outcome}", 0) for outcome in ("kept", "rejected", "uncut")
        )
        shares.append(ScriptShare(script, kept + rejected, kept, uncut))
    return sorted(shares, key=lambda share: (-share.questions, share.script))


def warnings(shares: Sequence[ScriptShare]) -> list[str]:
    """Return a sentence for each script that is not cut into words, or of which few questions are kept.

    Few are far fewer than of the median script. Questions without a letter, such as ``2 + 2``, have no script and are
    not compared.
    """
    large = [share for share in shares if share.questions >= FEWEST_QUESTIONS and share.script != NO_LETTER]
    if not large:
        return []
    median = statistics.median(share.share for share in large)
    low = [share for share in large if share.share < LOW * median and not _is_uncut(share)]
    return [_of_uncut(share) for share in large if _is_uncut(share)] + [_warning(share, median) for share in low]


def _of_uncut(share: ScriptShare) -> str:
    finding = f"{share.uncut:,} of {counted(share.questions, 'question')} in {_named(share)} are one word each"
    step = "Separate words by spaces, or compare meanings with --refine-with and a model of the language"
    return f"{finding}: this script is not cut into words, so wordings cannot be compared. {step}"


def _named(share: ScriptShare) -> str:
    return "a script that qpr does not recognize" if share.script == OTHER else f"the script {share.script}"


def _is_uncut(share: ScriptShare) -> bool:
    return share.uncut >= UNCUT * share.questions


def as_json(shares: Sequence[ScriptShare]) -> list[dict[str, Any]]:
    """Return the scripts for a program, with their shares."""
    return [
        {"script": share.script, "questions": share.questions, "kept": share.kept, "share": round(share.share, 4)}
        for share in shares
    ]


def _warning(share: ScriptShare, median: float) -> str:
    kept = f"{rounded_percent(share.share)} of {counted(share.questions, 'question')} in {_named(share)}"
    advice = "Read the table rejected, or compare meanings with --refine-with and a multilingual model"
    return f"{kept} are in a cluster, the median over scripts is {rounded_percent(median)}. {advice}"
