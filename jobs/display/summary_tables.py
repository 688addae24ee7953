"""Tables that summarize a run, before they are drawn in a terminal or on a page.

counters, distributions -> summary_tables -> SummaryTable
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple

from pipelines.questions.scripts import NO_LETTER, OTHER
from pipelines.summary.answer_worth import AnswerWorth, answer_worth, promise_of_verdicts
from pipelines.summary.row_balance import OTHER_COUNTS, Balance, Split, row_balance
from pipelines.summary.script_shares import ScriptShare
from pipelines.summary.worth_by_kind import worth_of_answers, worth_of_kinds
from pipelines.writing.reported import JudgedAnswer
from schemas.artifacts.manifest import Source
from schemas.tables import COHERENCE_COLUMNS

NAMES = {
    "coherence": "coherence (paper)",
    "adjusted_coherence": "adjusted coherence",
    "idf_coherence": "idf coherence",
    "linkage_probability": "linkage probability",
    "size": "cluster size",
}
"""Names of columns of the clusters, as printed."""

SCALE = "Scores: 0 unrelated, 1 the same words or certain paraphrases; coherence (paper) is high for few questions"
"""Meaning of the ends of every score."""

FIVE = {"min": "min", "q1": "25 %", "median": "median", "q3": "75 %", "max": "max"}
"""Names of the five figures of a distribution, as printed."""


class SummaryTable(NamedTuple):
    """A table of texts: names in the first ``named`` columns, figures in the others.

    Attributes:
        head: names of the columns; the first one is the subject of the table.
        rows: cells of each row.
        named: number of columns with names.
        bars: length of each row's bar as a share of the longest, in [0, 1]; empty for a table without bars.
        note: sentences below the table.
    """

    head: Sequence[str]
    rows: Sequence[Sequence[str]]
    named: int = 1
    bars: Sequence[float] = ()
    note: str = ""


def summary_tables(
    counters: Mapping[str, int],
    distributions: Mapping[str, Mapping[str, float]],
    configuration: Mapping[str, Any],
    inputs: Iterable[Source] = (),
) -> list[SummaryTable]:
    """Return the tables of rows, questions, splits, scripts, clusters and answers that are not empty.

    Args:
        counters: as in the manifest.
        distributions: as in the manifest.
        configuration: as in the manifest; names the score that decides on clusters.
        inputs: the files that were read; verdicts may be about others.
    """
    balance = row_balance(counters)
    worth = answer_worth(counters, configuration, inputs)
    tables = [
        _of_balance(balance.rows, "Rows", ("read", "kept")),
        _of_balance(balance.questions, "Questions", ("grouped", "in clusters")),
        _of_splits(balance.splits),
        _of_scripts(balance.scripts),
        _of_distributions(distributions, configuration, intents=worth.intents if worth else 0),
        _of_answers(worth),
        _of_kinds(counters, worth),
        _of_verdicts(configuration, inputs),
    ]
    return [table for table in tables if table.rows]


def other_counts(counters: Mapping[str, int]) -> SummaryTable:
    """Return the table of the counters that are in none of `summary_tables` and not 0."""
    others = sorted((name, number) for name, number in row_balance(counters).others.items() if number)
    rows = [(OTHER_COUNTS.get(name, name.replace("_", " ")), whole(number)) for name, number in others]
    return SummaryTable(("Other counts", "number"), rows)


def label(column: str) -> str:
    """Return a person's name of a column of the clusters."""
    return NAMES.get(column, column.replace("_", " "))


def whole(number: int) -> str:
    """Return a number with thousands separators."""
    return f"{number:,}"


def percent(share: float) -> str:
    """Return a share in percent; a share between 0 and 1 is never printed as 0 % or 100 %."""
    if 0 < share < 0.001:
        return "<0.1 %"
    if 0.999 < share < 1:
        return ">99.9 %"
    return f"{100 * share:.1f} %"


def estimate_text(value: float, low: float, high: float) -> str:
    """Return an estimated share with its interval in whole percent, which contains the share."""
    ends = min(round(100 * low), math.floor(100 * value)), max(round(100 * high), math.ceil(100 * value))
    return f"{percent(value)} ({ends[0]} to {ends[1]})"


def shown(value: float, name: str) -> str:
    """Return a value of a distribution: a size whole, a score with three decimals."""
    return whole(round(value)) if name == "size" else f"{value:.3f}"


def speed(rows: int, seconds: float) -> str:
    """Return duration and rows a second of a run."""
    return f"{seconds:,.1f} s, {whole(rows_per_second(rows, seconds))} rows/s"


def rows_per_second(rows: int, seconds: float) -> int:
    """Return the rows a second that a run read, 0 if it took no time."""
    return round(rows / seconds) if seconds else 0


def _of_balance(balance: Balance, title: str, names: tuple[str, str]) -> SummaryTable:
    lines = [(name, "", number, _share(number, balance.whole)) for name, number in zip(names, balance[:2], strict=True)]
    lines += [(r.stage, r.reason.replace("_", " "), r.number, r.share) for r in balance.rejects]
    rows = [(step, reason, whole(number), percent(share)) for step, reason, number, share in lines]
    return SummaryTable((title, "rejected for", "number", "share"), rows, named=2, bars=[share for *_, share in lines])


def _of_splits(splits: Sequence[Split]) -> SummaryTable:
    every = splits[-1]
    rows = [
        (s.split, whole(s.clusters), whole(s.questions), whole(s.pairs), percent(_share(s.questions, every.questions)))
        for s in splits
    ]
    head = ("Split", "clusters", "questions", "pairs", "of questions")
    return SummaryTable(head, rows, bars=[_share(s.questions, every.questions) for s in splits])


def _of_scripts(scripts: Sequence[ScriptShare]) -> SummaryTable:
    """Return the scripts of the questions, none if all have the same."""
    lines = scripts if len(scripts) > 1 else ()
    names = {NO_LETTER: "no letters", OTHER: "not recognized"}
    rows = [(names.get(s.script, s.script), whole(s.questions), whole(s.kept), percent(s.share)) for s in lines]
    return SummaryTable(("Scripts", "questions", "in clusters", "share"), rows, bars=[s.share for s in lines])


def deciding_score(configuration: Mapping[str, Any]) -> tuple[str, float] | None:
    """Return the column of the score that decides on clusters and its minimum; None where none is rejected for it."""
    gate = configuration.get("assembly", {}).get("gate", {})
    return (COHERENCE_COLUMNS[gate["coherence"]], gate["min_coherence"]) if gate.get("min_coherence") else None


def scale_note(configuration: Mapping[str, Any], *, intents: int) -> str:
    """Return the meaning of the scores and the score that decides on clusters, but for a number of intents."""
    decides = deciding_score(configuration)
    verdict = "no cluster is rejected for its coherence"
    if decides:
        verdict = f"{label(decides[0])} decides: clusters below {decides[1]:g} are rejected (--min-coherence)"
        verdict += "; intents pass whatever their coherence" if intents else ""
    return f"{SCALE}. {verdict[0].upper()}{verdict[1:]}."


def _of_distributions(
    distributions: Mapping[str, Mapping[str, float]], configuration: Mapping[str, Any], *, intents: int
) -> SummaryTable:
    decides = deciding_score(configuration)
    rows = [
        (
            f"{label(name)}, decides" if decides and decides[0] == name else label(name),
            *(shown(value, name) for value in five.values()),
        )
        for name, five in distributions.items()
    ]
    return SummaryTable(("Clusters", *FIVE.values()), rows, note=scale_note(configuration, intents=intents))


def _of_answers(worth: AnswerWorth | None) -> SummaryTable:
    """Return the worth of an answer in the log, no row if answers were not split."""
    if worth is None:
        return SummaryTable(("Answers", "number"), ())
    rows = [
        ("with several questions", whole(worth.answers)),
        ("intents among these", whole(worth.intents)),
        ("questions that neighbours contradict, rejected from intents", whole(worth.strays)),
    ]
    if worth.wrong_answers is not None:
        rows.append(("questions with a wrong answer, estimated", percent(worth.wrong_answers)))
    return SummaryTable(("Answers", "number"), rows, note=worth.sentence)


def _of_kinds(counters: Mapping[str, int], worth: AnswerWorth | None) -> SummaryTable:
    """Return the worth of the answers of each kind, no row if the linkage does not estimate it."""
    kinds = worth_of_kinds(counters) if worth and worth.is_by_linkage else ()
    rows = [(kind.kind, whole(kind.answers), estimate_text(*kind.worth)) for kind in kinds]
    return SummaryTable(("Kinds of answers", "answers", "mean the same"), rows, note=_OF_KINDS if rows else "")


def extreme_answers(
    judged: Sequence[JudgedAnswer], counters: Mapping[str, int], configuration: Mapping[str, Any]
) -> SummaryTable:
    """Return the answers of many questions with the lowest and highest worth, none if the linkage estimates none."""
    worth = answer_worth(counters, configuration)
    lowest, highest = worth_of_answers(judged if worth and worth.is_by_linkage else (), counters)
    rows = [
        (" ".join(answer.answer.split()), end, answer.kind, whole(answer.questions), estimate_text(*answer.worth))
        for end, answers in (("lowest", lowest), ("highest", highest))
        for answer in answers
    ]
    return SummaryTable(("Answers of many questions", "worth", "kind", "questions", "mean the same"), rows, named=3)


_OF_KINDS = (
    "Mean estimated share of the pairs of an answer's questions that mean the same, with 95 % intervals. Each answer "
    "counts once here; in the estimate of the log answers of many questions count more, as they have more pairs."
)

_ESTIMATES = {
    "prior": "pairs of one answer that are paraphrases",
    "precision": "kept pairs that are right",
    "recall": "paraphrases that are kept",
}


def _of_verdicts(configuration: Mapping[str, Any], inputs: Iterable[Source]) -> SummaryTable:
    """Return the estimates of the verdicts that the run used, and the precision that they promise."""
    estimates = (configuration.get("assembly", {}).get("recalibration") or {}).get("estimates", {})
    rows = [(name, estimate_text(*estimates[key])) for key, name in _ESTIMATES.items() if key in estimates]
    return SummaryTable(("Verdicts", "share"), rows, note=promise_of_verdicts(configuration, inputs))


def _share(part: int, of: int) -> float:
    return part / of if of else 0.0
