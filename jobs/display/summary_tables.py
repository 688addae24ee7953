"""The tables that sum a run up, before they are drawn in a terminal or on a page.

counters, distributions -> sheets -> Sheet
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from pipelines.summary.row_balance import Account, Split, accounts

NAMES = {
    "coherence": "coherence (paper)",
    "adjusted_coherence": "adjusted coherence",
    "idf_coherence": "idf coherence",
    "linkage_probability": "linkage probability",
    "size": "cluster size",
}
"""What a person calls a column of the clusters."""

SCALE = "Scores: 0 unrelated, 1 the same words or certain paraphrases; coherence (paper) is high for few questions"
"""Which end of a score is good, whichever is shown."""

_COLUMN_OF_SCORE = {"paper": "coherence", "adjusted": "adjusted_coherence", "idf": "idf_coherence"}

FIVE = {"min": "min", "q1": "25 %", "median": "median", "q3": "75 %", "max": "max"}
"""What a person calls the figures that sum a distribution up."""


class Sheet(NamedTuple):
    """A table of texts: names in the first ``named`` columns, figures in the others.

    Attributes:
        head: the names of its columns, the first of which says what the table is about.
        rows: of its cells.
        named: how many columns hold names.
        bars: which part of the longest bar each row has, in [0, 1]; empty where bars make no sense.
        note: sentences that stand below the table.
    """

    head: Sequence[str]
    rows: Sequence[Sequence[str]]
    named: int = 1
    bars: Sequence[float] = ()
    note: str = ""


def sheets(
    counters: Mapping[str, int], distributions: Mapping[str, Mapping[str, float]], configuration: Mapping[str, Any]
) -> list[Sheet]:
    """Return the tables that sum a run up; one that would be empty is left out.

    Args:
        counters: of its manifest.
        distributions: the same.
        configuration: the same; says which score decides.
    """
    told = accounts(counters)
    found = [
        _of_account(told.rows, "Rows", ("read", "kept")),
        _of_account(told.questions, "Questions", ("grouped", "in clusters")),
        _of_splits(told.splits),
        _of_distributions(distributions, configuration),
    ]
    return [sheet for sheet in found if sheet.rows]


def other_counts(counters: Mapping[str, int]) -> Sheet:
    """Return the table of the counters that stand in none of `sheets` and are not 0."""
    others = sorted((name, number) for name, number in accounts(counters).others.items() if number)
    return Sheet(("Other counts", "number"), [(name.replace("_", " "), whole(number)) for name, number in others])


def label(column: str) -> str:
    """Return a person's name of a column of the clusters."""
    return NAMES.get(column, column.replace("_", " "))


def whole(number: int) -> str:
    """Return a number with thousands separators."""
    return f"{number:,}"


def percent(share: float) -> str:
    """Return a share in percent; what is neither nothing nor all never looks as if it were."""
    if 0 < share < 0.001:
        return "<0.1 %"
    if 0.999 < share < 1:
        return ">99.9 %"
    return f"{100 * share:.1f} %"


def shown(value: float, name: str) -> str:
    """Return a value of a distribution: a size whole, a score with three decimals."""
    return whole(round(value)) if name == "size" else f"{value:.3f}"


def speed(rows: int, seconds: float) -> str:
    """Return how long a run took and how many rows a second that is."""
    return f"{seconds:,.1f} s, {whole(rows_per_second(rows, seconds))} rows/s"


def flat(tree: Mapping[str, Any], path: str = "") -> list[tuple[str, str]]:
    """Return the leaves of a tree with their path; a whole number gets thousands separators, other values are JSON."""
    leaves: list[tuple[str, str]] = []
    for name, value in tree.items():
        if isinstance(value, Mapping) and value:
            leaves += flat(value, f"{path}{name}.")
        else:
            number = isinstance(value, int) and not isinstance(value, bool)
            told = value if isinstance(value, str) else whole(value) if number else json.dumps(value)
            leaves.append((f"{path}{name}", told))
    return leaves


def rows_per_second(rows: int, seconds: float) -> int:
    """Return how many rows a second a run read, 0 if it took no time."""
    return round(rows / seconds) if seconds else 0


def _of_account(account: Account, title: str, names: tuple[str, str]) -> Sheet:
    lines = [(name, "", number, _share(number, account.whole)) for name, number in zip(names, account[:2], strict=True)]
    lines += [(r.stage, r.reason.replace("_", " "), r.number, r.share) for r in account.rejects]
    rows = [(step, reason, whole(number), percent(share)) for step, reason, number, share in lines]
    return Sheet((title, "rejected for", "number", "share"), rows, named=2, bars=[share for *_, share in lines])


def _of_splits(splits: Sequence[Split]) -> Sheet:
    every = splits[-1]
    rows = [
        (s.split, whole(s.clusters), whole(s.questions), whole(s.pairs), percent(_share(s.questions, every.questions)))
        for s in splits
    ]
    head = ("Split", "clusters", "questions", "pairs", "of questions")
    return Sheet(head, rows, bars=[_share(s.questions, every.questions) for s in splits])


def deciding_score(configuration: Mapping[str, Any]) -> tuple[str, float] | None:
    """Return the column of the score that decides on clusters and its minimum; None where none is rejected for it."""
    gate = configuration.get("assembly", {}).get("gate", {})
    return (_COLUMN_OF_SCORE[gate["coherence"]], gate["min_coherence"]) if gate.get("min_coherence") else None


def scale_note(configuration: Mapping[str, Any]) -> str:
    """Return which end of the scores is good, and which score decides on clusters."""
    decides = deciding_score(configuration)
    verdict = "no cluster is rejected for its coherence"
    if decides:
        verdict = f"{label(decides[0])} decides: clusters below {decides[1]:g} are rejected (--min-coherence)"
    return f"{SCALE}. {verdict[0].upper()}{verdict[1:]}."


def _of_distributions(distributions: Mapping[str, Mapping[str, float]], configuration: Mapping[str, Any]) -> Sheet:
    decides = deciding_score(configuration)
    rows = [
        (
            f"{label(name)}, decides" if decides and decides[0] == name else label(name),
            *(shown(value, name) for value in five.values()),
        )
        for name, five in distributions.items()
    ]
    return Sheet(("Clusters", *FIVE.values()), rows, note=scale_note(configuration))


def _share(part: int, of: int) -> float:
    return part / of if of else 0.0
