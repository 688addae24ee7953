"""Balance of a run's counters: input rows, questions, splits.

counters -> row_balance -> RowBalance
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

from pipelines.questions import answer_texts, row_filters, scripts
from pipelines.summary import agreement, incoherent_intents
from pipelines.summary.script_shares import ScriptShare, script_shares
from schemas.tables import ROW_STAGES, SPLITS

_REJECTED = "rejected_"
_SORTED = (
    _REJECTED,
    row_filters.IGNORED,
    answer_texts.PREFIX,
    scripts.PREFIX,
    agreement.PREFIX,
    incoherent_intents.PREFIX,
)
_IN_SPLIT = ("clusters", "members", "pairs")
_STAGES = (*ROW_STAGES, "ambiguity", "splits", "review", "linkage", "size", "coherence", "leakage")


OTHER_COUNTS = {
    "groups": "paraphrase groups found",
    "groups_incoherent": "of these, rejected as incoherent",
    "groups_of_one": "of these, with one question",
    "groups_over_max_cluster_size": "of these, larger than --max-cluster-size",
    "html_entities_answer": "rows with HTML entities in the answer",
    "html_entities_question": "rows with HTML entities in the question",
    "html_tags_question": "rows with HTML tags in the question",
    "json_answer": "rows with JSON as the answer",
    "json_question": "rows with JSON as the question",
    "members_judged": "questions compared with others of their answer",
    "questions_with_several_answers_by_html": "of these, with answers that differ in HTML alone",
}
"""Descriptions of counters whose names are those of no table."""


class Rejects(NamedTuple):
    """Number of rows or questions that a stage rejected for a reason, and their share of all."""

    stage: str
    reason: str
    number: int
    share: float


class Balance(NamedTuple):
    """Rows or questions by outcome: all, kept, and rejected in the order of the stages, frequent reasons first."""

    whole: int
    kept: int
    rejects: list[Rejects]


class Split(NamedTuple):
    """The clusters of a split, their questions and their pairs."""

    split: str
    clusters: int
    questions: int
    pairs: int


class RowBalance(NamedTuple):
    """All counters of a run, each in one place.

    Attributes:
        rows: of the input.
        questions: those of every answer; a question with two answers counts for both.
        splits: in their order, and their sum, called all.
        scripts: distinct questions by script, frequent scripts first.
        others: the counters that stand in none of these.
    """

    rows: Balance
    questions: Balance
    splits: list[Split]
    scripts: list[ScriptShare]
    others: dict[str, int]


def row_balance(counters: Mapping[str, int]) -> RowBalance:
    """Sort the counters of a manifest; a missing one is 0."""
    splits = [Split(split, *(counters.get(f"{name}_{split}", 0) for name in _IN_SPLIT)) for split in SPLITS]
    whole = Split("all", *(sum(numbers) for numbers in zip(*(split[1:] for split in splits), strict=True)))
    rows = _balance(counters, counters.get("rows_read", 0), counters.get("rows_kept", 0), of_rows=True)
    questions = _balance(counters, counters.get("members", 0), whole.questions, of_rows=False)
    balanced = {"rows_read", "rows_kept", "rows_rejected", "members", "members_rejected"}
    balanced |= {f"{name}_{split}" for name in _IN_SPLIT for split in SPLITS}
    others = {name: n for name, n in counters.items() if name not in balanced and not name.startswith(_SORTED)}
    return RowBalance(rows, questions, [*splits, whole], script_shares(counters), others)


def _balance(counters: Mapping[str, int], whole: int, kept: int, *, of_rows: bool) -> Balance:
    rejects = []
    for name, number in counters.items():
        stage, _, reason = name.removeprefix(_REJECTED).partition("_")
        if name.startswith(_REJECTED) and (stage in ROW_STAGES) == of_rows:
            rejects.append(Rejects(stage, reason, number, number / whole if whole else 0.0))
    return Balance(whole, kept, sorted(rejects, key=_by_stage))


def _by_stage(line: Rejects) -> tuple[int, str, int, str]:
    place = _STAGES.index(line.stage) if line.stage in _STAGES else len(_STAGES)
    return place, line.stage, -line.number, line.reason
