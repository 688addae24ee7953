"""The counters of a run as accounts a person can read: of input rows, of questions, of splits.

counters -> accounts -> Accounts
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

from pipelines.writing.parquet import ROW_STAGES
from schemas.tables import SPLITS

_REJECTED = "rejected_"
_IN_SPLIT = ("clusters", "members", "pairs")


class Rejects(NamedTuple):
    """How many were turned away by a stage for a reason, and which share of all that is."""

    stage: str
    reason: str
    number: int
    share: float


class Account(NamedTuple):
    """What became of ``whole``: ``kept``, or turned away; stages in the order of the work, frequent reasons first."""

    whole: int
    kept: int
    rejects: list[Rejects]


class Split(NamedTuple):
    """The clusters of a split, their questions and their pairs."""

    split: str
    clusters: int
    questions: int
    pairs: int


class Accounts(NamedTuple):
    """All counters of a run, each in one place.

    Attributes:
        rows: of the input.
        questions: those of every answer; one that got two answers counts for both.
        splits: in their order, and their sum, called all.
        others: the counters that stand in none of these.
    """

    rows: Account
    questions: Account
    splits: list[Split]
    others: dict[str, int]


_STAGES = (*ROW_STAGES, "ambiguity", "linkage", "size", "coherence", "leakage")


def accounts(counters: Mapping[str, int]) -> Accounts:
    """Sort the counters of a manifest into accounts; one that is missing is 0."""
    splits = [Split(split, *(counters.get(f"{name}_{split}", 0) for name in _IN_SPLIT)) for split in SPLITS]
    whole = Split("all", *(sum(numbers) for numbers in zip(*(split[1:] for split in splits), strict=True)))
    rows = _account(counters, counters.get("rows_read", 0), counters.get("rows_kept", 0), of_rows=True)
    questions = _account(counters, counters.get("members", 0), whole.questions, of_rows=False)
    told = {"rows_read", "rows_kept", "rows_rejected", "members", "members_rejected"}
    told |= {f"{name}_{split}" for name in _IN_SPLIT for split in SPLITS}
    others = {name: n for name, n in counters.items() if name not in told and not name.startswith(_REJECTED)}
    return Accounts(rows, questions, [*splits, whole], others)


def _account(counters: Mapping[str, int], whole: int, kept: int, *, of_rows: bool) -> Account:
    rejects = []
    for name, number in counters.items():
        stage, _, reason = name.removeprefix(_REJECTED).partition("_")
        if name.startswith(_REJECTED) and (stage in ROW_STAGES) == of_rows:
            rejects.append(Rejects(stage, reason, number, number / whole if whole else 0.0))
    return Account(whole, kept, sorted(rejects, key=_by_stage))


def _by_stage(line: Rejects) -> tuple[int, str, int, str]:
    place = _STAGES.index(line.stage) if line.stage in _STAGES else len(_STAGES)
    return place, line.stage, -line.number, line.reason
