"""Advice to a refused night: its likely cause, what to do about that, and the limit that would let it pass.

evidence -> step_after_regression, step_after_lost_questions, step_after_drift -> step; figure -> passing_limit
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Final

from jobs.nightly.gate.answer_mix import Mix
from jobs.nightly.gate.evidence import Evidence
from schemas.quantities import counted

_NO_PARAPHRASE: Final = "rejected_linkage_no_paraphrase"

_STATE_INTENTS: Final = (
    "if all questions of an answer ask the same in this log, add --answers intent to this night and all later ones"
)

_FEW_QUERIES: Final = 200
"""Questions of a frozen test set below which its size is the likely cause: with 28 of a first day, three nights of a
help desk were refused whose lower bounds were -.05 to -.16, with 94 they were -.02."""

_OF_ROWS: Final = ("rejected_read_", "rejected_validate_", "rejected_privacy_")
"""Counters of rows that become no question; all others count questions that are in no cluster."""


def passing_limit(figure: float) -> str:
    """Return the smallest number of two significant digits that is at least a positive figure."""
    digits = 1 - math.floor(math.log10(figure))
    return f"{math.ceil(figure * 10**digits) / 10**digits:g}"


def step_after_regression(evidence: Evidence, limit: float) -> str:
    """Return the step after a fall of the MRR by encoder or index.

    A kept encoder cannot be the cause, so `--retrain never` would not help.
    """
    difference, step = evidence.difference, "Compare the drops with those before"
    if evidence.is_trained:
        step = f"{step}, keep the encoder by --retrain never"
    if difference is None or difference.mean < -limit:
        return step
    size = counted(evidence.queries, "question")
    uncertain = f"The change itself is within the limit, but the test set of {size} leaves it uncertain"
    if evidence.queries < _FEW_QUERIES:
        uncertain = f"{uncertain}. If the log has grown, give --new-test-set to the next night that passes"
    return f"{uncertain}. {step}"


def step_after_lost_questions(evidence: Evidence) -> str:
    """Return the step after a fall of the share of questions in a cluster: the reason that rejected most more of them.

    Where fewer answers are intents, or clusters need a higher probability, as in a log that now counts as one of facts,
    `--answers` can keep the questions that `linkage` rejects.
    """
    before, after = evidence.before or {}, evidence.after
    grown = {name: after[name] - before.get(name, 0) for name in _reasons(after)}
    look = f"Look at the table rejected of {evidence.judge}"
    counter = max(grown, key=grown.__getitem__, default="")
    if not counter or grown[counter] <= 0:
        return look
    stage, _, reason = counter.removeprefix("rejected_").partition("_")
    rows = f"{counted(after[counter], 'row')}, {before.get(counter, 0):,} before"
    cause = f"The reason that grew most is {reason} of stage {stage}: {rows}"
    if counter == _NO_PARAPHRASE and (fall := _intents(before, after) or _threshold(before, after)):
        return f"{cause}. {fall}: {_STATE_INTENTS}. {look}"
    return f"{cause}. {look}"


def _reasons(counters: Mapping[str, int]) -> list[str]:
    return [name for name in counters if name.startswith("rejected_") and not name.startswith(_OF_ROWS)]


def _intents(before: Mapping[str, int], after: Mapping[str, int]) -> str:
    """Return the number of intents where it fell; else nothing."""
    were, are, answers = (before.get("worth_intents", 0), after.get("worth_intents", 0), after.get("worth_answers", 0))
    return f"Of {counted(answers, 'answer')} {are:,} are intents, {were:,} before" if are < were else ""


def _threshold(before: Mapping[str, int], after: Mapping[str, int]) -> str:
    """Return the minimum mean probability of a cluster where it rose; else nothing."""
    was, now = (counters.get("worth_threshold", 0) / 1e6 for counters in (before, after))  # counters are whole
    return f"Clusters need a mean probability of {now:g}, {was:g} before" if now > was > 0 else ""


def step_after_drift(mix: Mix) -> str:
    """Return the step after a day with other answers."""
    if mix.is_renamed:
        return "Replace the drop of that day, unless its answers were given another id on purpose"
    return "Replace the drop of that day"
