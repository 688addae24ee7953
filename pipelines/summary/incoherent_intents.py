"""Answers that look like intents and that a gate of coherence rejected.

counters, configuration -> incoherent_intents -> IncoherentIntents -> warnings
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final, NamedTuple

from schemas.quantities import counted

PREFIX: Final = "incoherent_intents_"
"""Beginning of the counters that `pipelines.clusters.incoherent_intents` makes."""


class IncoherentIntents(NamedTuple):
    """Rejected answers that look like intents by their text and the words of their questions.

    Attributes:
        answers: number of these.
        questions: number of their questions.
        by_paper: whether the paper's coherence rejected them.
    """

    answers: int
    questions: int
    by_paper: bool


def incoherent_intents(counters: Mapping[str, int], configuration: Mapping[str, Any]) -> IncoherentIntents | None:
    """Return the rejected intents of a run, None if there is none.

    Args:
        counters: as in the manifest.
        configuration: as in the manifest.
    """
    answers = counters.get(f"{PREFIX}answers", 0)
    by_paper = configuration.get("assembly", {}).get("gate", {}).get("coherence") == "paper"
    return IncoherentIntents(answers, counters.get(f"{PREFIX}questions", 0), by_paper) if answers else None


def warnings(rejected: IncoherentIntents | None) -> list[str]:
    """Return a sentence about the rejected intents with the option to change, none without one."""
    if rejected is None:
        return []
    gate = "the paper's gate" if rejected.by_paper else "the gate"
    subject = (
        f"{counted(rejected.answers, 'answer')} that look like intents, with {counted(rejected.questions, 'question')}"
    )
    option = "--coherence paper" if rejected.by_paper else "--linkage none"
    step = f"Leave out {option}: the default keeps what the nearest questions support, whatever its coherence"
    return [f"{gate} rejected {subject}: coherence falls with the number of questions. {step}"]


def as_json(rejected: IncoherentIntents | None) -> dict[str, Any] | None:
    """Return the rejected intents for a program."""
    return None if rejected is None else rejected._asdict()
