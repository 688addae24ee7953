"""Reasons not to publish a run, with the option to change.

counters -> fault_of -> sentences, or None
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final

from pipelines.questions.row_filters import MAX_ANSWER_CHARACTERS, MAX_QUESTION_CHARACTERS
from pipelines.summary.incoherent_intents import PREFIX
from pipelines.summary.reject_examples import RejectExamples
from pipelines.summary.value_notes import ENCODING_HINT, idle_filter, markup_warnings, varied_answer_warnings
from schemas.quantities import counted
from schemas.tables import ROW_STAGES, SPLITS

ASKED_FOR: Final = (
    "validate_ignored_answer",
    "validate_low_confidence",
    "validate_other_locale",
    "privacy_too_few_users",
    "privacy_too_many_of_user",
    "privacy_too_many_of_user_and_answer",
)
"""Reasons of rows that the user chose to reject: no sign of a wrong file, so `--max-reject-ratio` ignores them."""

SHOWN: Final = 5
_SHOWN_CHARACTERS: Final = 120
"""Maximum number of examples of rejects in an error, and of characters of each."""

_ADVICE: Final = {
    "size_single_question": "An answer needs two questions, and texts are compared whole: write the answers without "
    "names, numbers, signatures and quoted messages, give more logs, or an answer id (--column answer_id=NAME). "
    "A FAQ with one question of each answer needs no clusters: make an index of it with `qpr index`",
    "size_over_max_cluster_size": "Raise --max-cluster-size",
    "linkage_below_precision": "Lower --precision, or give more logs",
    "linkage_no_paraphrase": "Lower --min-probability, or use --linkage none",
    "coherence_incoherent": "Lower --min-coherence, or choose another --coherence",
    "ambiguity": "Lower --min-answer-share or --min-answer-events",
    "leakage": "Use --near-duplicate 0, or another --split-salt",
    "review": "Give more logs, or leave out --verdicts",
    "splits": "Give more logs",
    "read_invalid_utf8": ENCODING_HINT,
    "validate_too_long": f"A question may have {MAX_QUESTION_CHARACTERS:,} characters and an answer "
    f"{MAX_ANSWER_CHARACTERS:,}: shorten them, or raise --max-reject-ratio to run without them",
    "validate_ignored_answer": "Leave out --ignore-answer",
    "validate_low_confidence": "Lower --min-confidence",
    "validate_other_locale": "Leave out --locale, or give a locale of the rows: en also selects the rows of en-GB",
    "privacy_too_few_users": "Lower --min-users, or give more logs",
    "privacy_too_many_of_user": "Raise --max-events-of-user",
    "privacy_too_many_of_user_and_answer": "Raise --max-answer-events-of-user",
}
_UNSPLIT: Final = (
    "Without linkage an answer is one cluster, and coherence falls with its number of questions: leave out "
    "--linkage none or --coherence paper, or lower --min-coherence"
)
"""Advice of `coherence_incoherent` for a run that splits no answer."""

_OTHERWISE: Final = "Correct the rows, or raise --max-reject-ratio to run without them"


def fault_of(counters: Mapping[str, int], urls: Sequence[str], max_reject_ratio: float) -> str | None:
    """Return why a run is not published and the option to change, or None if it is published.

    Args:
        counters: of the run.
        urls: of the input files.
        max_reject_ratio: maximum share of rejected rows; rows rejected for a reason in `ASKED_FOR` do not count.
    """
    if fault := fault_of_rows(counters, urls, max_reject_ratio):
        return fault
    if idle := idle_filter(counters):
        return idle
    if counters.get("positive_edges") == 0:
        of = f"none of {counted(counters['rows_kept'], 'usable row')}"
        return (
            f"no positive pair: {of} marks two different questions with is_duplicate 1. Check the labels of the input"
        )
    if not any(counters.get(f"clusters_{split}") for split in SPLITS):
        of = f"{counted(counters.get('members', 0), 'question')} in {counted(counters.get('groups', 0), 'group')}"
        reasons = _reasons(counters)
        of_questions = {name: n for name, n in reasons.items() if name.split("_")[0] not in ROW_STAGES}
        steps = [_advice(reasons, "Correct the rows")]  # the run is without them already
        if of_questions:
            steps = [*dict.fromkeys([_advice(of_questions), _advice(reasons)])]
        if f"{PREFIX}answers" in counters:
            steps = [_UNSPLIT if step == _ADVICE["coherence_incoherent"] else step for step in steps]
        if notes := markup_warnings(counters) + varied_answer_warnings(counters):  # lower limits keep one of the texts
            steps = [f"{sentence[0].upper()}{sentence[1:]}" for sentence in notes]
        return f"no cluster was left of {of}. {_most_frequent(reasons)}. {'. '.join(steps)}"
    return None


def fault_of_rows(counters: Mapping[str, int], urls: Sequence[str], max_reject_ratio: float) -> str | None:
    """Return why the rows of a run are not used: there is none, or too many are rejected; None if they are.

    Args:
        counters: of the run.
        urls: of the input files.
        max_reject_ratio: maximum share of rejected rows; rows rejected for a reason in `ASKED_FOR` do not count.
    """
    read, rejected = counters.get("rows_read", 0), counters["rows_rejected"]
    selected = selected_rows(counters)
    if not read:
        return f"{', '.join(urls)}: there is no row. Check that it is the right file"
    unusable_rows = rejected - (read - selected)
    if unusable_rows > max_reject_ratio * selected:
        allowed = f"more than --max-reject-ratio {max_reject_ratio} allows"
        of_rows = {name: n for name, n in _reasons(counters).items() if name.split("_")[0] in ROW_STAGES}
        unusable = {name: n for name, n in of_rows.items() if name not in ASKED_FOR}
        share = f"{unusable_rows:,} of {counted(selected, 'row')} rejected, {allowed}"
        step = ENCODING_HINT if counters.get("rejected_read_invalid_utf8") else _advice(unusable)
        return f"{share}. {_most_frequent(unusable)}. {step}"
    return None


def selected_rows(counters: Mapping[str, int]) -> int:
    """Return the number of rows read without those of a reason in `ASKED_FOR`."""
    return counters.get("rows_read", 0) - sum(counters.get(f"rejected_{reason}", 0) for reason in ASKED_FOR)


def shown_rejects(examples: Sequence[RejectExamples], fault: str) -> list[str]:
    """Return `SHOWN` lines with examples of rejects, those of the most frequent reason that the fault names first."""
    examples = sorted(examples, key=lambda example: f" {example.stage}_{example.reason} (" not in fault)
    lines = [
        f"{example.stage}, {example.reason.replace('_', ' ')}: {' '.join(text.split())[:_SHOWN_CHARACTERS]}"
        for example in examples
        for text in example.texts
    ]
    return lines[:SHOWN]


def _reasons(counters: Mapping[str, int]) -> dict[str, int]:
    """Return the number of rejects of each ``stage_reason``, the most frequent first."""
    reasons = {name.removeprefix("rejected_"): n for name, n in counters.items() if name.startswith("rejected_")}
    return dict(sorted(reasons.items(), key=lambda item: (-item[1], item[0])))


def _most_frequent(reasons: Mapping[str, int]) -> str:
    return "Most were " + ", ".join(f"{name} ({n:,})" for name, n in list(reasons.items())[:3])


def _advice(reasons: Mapping[str, int], otherwise: str = _OTHERWISE) -> str:
    """Return the advice for the most frequent reason, ``otherwise`` for one without an advice of its own."""
    name = next(iter(reasons), "")
    return _ADVICE.get(name) or _ADVICE.get(name.split("_")[0]) or otherwise
