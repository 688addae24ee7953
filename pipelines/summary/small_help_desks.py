"""Small logs that may be those of a help desk, though no answer has enough questions to show that it is an intent.

counters, configuration -> warnings
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from pipelines.questions.token_frequencies import LARGE_LOG
from pipelines.summary.answer_worth import LOW_AGREEMENT, PREFIX, agreement_of
from schemas.quantities import counted

_SEVERAL: Final = 5
"""Minimum mean number of questions of an answer in a log that may be a help desk's; logs of facts have 1 to 2."""


def warnings(counters: Mapping[str, int], configuration: Mapping[str, Any]) -> list[str]:
    """Return a sentence with the option that keeps the questions of each answer together, none for other logs."""
    if not _may_be_a_help_desk(counters, configuration):
        return []
    numbers = f"{counted(counters['answers'], 'answer')} with {counted(counters['questions'], 'question')}"
    return [
        f"none of {numbers} was taken for an intent, as few questions of an answer are little evidence. If each is "
        "one intent, as at a help desk, keep its questions together by --answers intent"
    ]


def _may_be_a_help_desk(counters: Mapping[str, int], configuration: Mapping[str, Any]) -> bool:
    """Return whether a small log has no intent, though its answers have several questions, which often agree."""
    linking = configuration.get("assembly", {}).get("linking", {})
    undecided = linking.get("answers", "auto") == "auto" and not counters.get(f"{PREFIX}intents")
    few = counters.get("questions", 0) < LARGE_LOG
    several = counters.get("questions", 0) >= _SEVERAL * counters.get("answers", 1)
    agreeing = (agreement_of(counters) or 0.0) >= LOW_AGREEMENT
    return undecided and few and several and agreeing and counters.get("answers", 0) > 1
