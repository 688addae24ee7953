"""Names, units, limits and meanings of the figures of a version, for the terminal and its page.

Version -> version_figures -> Figure -> rows_of_metrics; changes of clusters -> CHANGES -> rows_of_report
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Final, NamedTuple

from jobs.display.summary_tables import percent
from schemas.artifacts import storage
from schemas.artifacts.manifest import read_manifest
from schemas.versions.version import Version, is_there

CHANGES: Final = {
    "kept": "clusters with the same questions",
    "grew": "clusters that grew",
    "shrank": "clusters that lost questions",
    "merged": "merged clusters",
    "split": "split clusters",
    "gone": "clusters that are gone",
    "new": "new clusters",
}
"""Names of clusters by what became of them since the version before."""


class Figure(NamedTuple):
    """A metric of a version, as it is shown.

    Attributes:
        name: of the metric.
        value: with its unit.
        bounds: 95 % interval and limit of the gate; empty where it has neither.
        meaning: one or two sentences.
    """

    name: str
    value: str
    bounds: str
    meaning: str


class _Metric(NamedTuple):
    name: str
    text: Callable[[float], str]
    meaning: str
    limit: str = ""
    needs_parent: bool = False


def _number(value: float) -> str:
    return f"{value:,.0f}"


def _score(value: float) -> str:
    return f"{value:.4f}"


def _change(value: float) -> str:
    return f"{value:+.4f}"


_OWN: Final = "on the test split of this version's dataset"
_BOTH: Final = "Mean reciprocal rank of the first right hit among the questions that both indexes have, 0 to 1."
_DISTANCE: Final = "Jensen-Shannon distance, 0 (the same shares of answers) to 1 (no common answer)"
_REGRESSION: Final = "limit -0.02, unless --max-regression was given"

_METRICS: Final[Mapping[str, _Metric]] = {
    "queries": _Metric("test questions", _number, f"Number of questions that were searched {_OWN}."),
    "hits_at_1": _Metric("right first hits", percent, f"Share of questions whose first hit is right {_OWN}."),
    "hits_at_10": _Metric(
        "right hits among the first ten", percent, f"Share of questions with a right hit among the first ten {_OWN}."
    ),
    "mrr": _Metric("MRR", _score, f"Mean reciprocal rank of the first right hit {_OWN}, 0 to 1."),
    "ndcg_at_10": _Metric("nDCG of the first ten hits", _score, f"Order of the right hits {_OWN}, 0 to 1."),
    "frozen_queries": _Metric(
        "questions of the frozen test set", _number, "Number of those of which both indexes have a paraphrase."
    ),
    "frozen_mrr_before": _Metric("MRR on the frozen test set, index before", _score, _BOTH),
    "frozen_mrr": _Metric("MRR on the frozen test set, this index", _score, _BOTH),
    "frozen_mrr_with_new": _Metric(
        "MRR on the frozen test set, this index with new questions",
        _score,
        "Mean reciprocal rank of the first right hit among all questions of this index, 0 to 1.",
    ),
    "difference": _Metric(
        "change of MRR by encoder or index",
        _change,
        "On the frozen test set, among the questions that both indexes have. A night is refused if the interval "
        "reaches below the limit.",
        _REGRESSION,
    ),
    "new_questions": _Metric(
        "change of MRR by new questions",
        _change,
        "On the frozen test set, when the new questions are added. A night is refused if the change is below the limit "
        "and the interval below 0.",
        _REGRESSION,
    ),
    "kept_share": _Metric(
        "questions in a cluster",
        percent,
        "Share of the distinct questions of the dataset that are in a cluster.",
        "limit 10 percentage points below the version before, and half of its share, unless --max-kept-fall was given",
        needs_parent=True,
    ),
    "answer_distance": _Metric(
        "distance of the new day's answers",
        _score,
        f"{_DISTANCE}, to the answers of up to 28 days before, without rare ones that these lack.",
        "limit 0.1 above the usual distance before, unless --max-drift was given",
    ),
    "answer_distance_before": _Metric(
        "usual distance of the days before",
        _score,
        f"{_DISTANCE}, of the most unusual of them to the others. Of 14 or more the most unusual is left out.",
    ),
    "new_answers_share": _Metric(
        "rows with a new answer",
        percent,
        "Share of the rows of the new day whose answer no day before has.",
        "limit at a distance of 0.1 from the usual share, or from 2 %, unless --max-drift was given",
    ),
    "new_answers_share_before": _Metric(
        "usual share of rows with a new answer",
        percent,
        "Second largest such share of the last seven days before. Of fewer than 14 days before, the largest of their "
        "later half.",
    ),
    "canaries_found": _Metric(
        "canaries found", percent, "Share of the questions of --canaries whose answer is found.", "limit 100 %"
    ),
    "right_at_least": _Metric(
        "right clusters by verdicts",
        percent,
        "Share of right clusters that the verdicts of --require-review show at least.",
        "limit 97 %, unless --min-right was given",
    ),
}
"""The metrics of a version in the order of docs/gate.md. The record has no limits, so these are the defaults of
`qpr nightly`."""


def version_figures(version: Version) -> list[Figure]:
    """Return the metrics of a version as they are shown; an interval belongs to its metric.

    Without a version before there is no limit that compares with it.
    """
    ends = {f"{name}_{end}" for name in version.metrics for end in ("low", "high")}
    return [_figure(name, version) for name in version.metrics if name not in ends]


def rows_of_metrics(version: Version) -> dict[str, str]:
    """Return the values of the metrics of a version by name, with interval and limit in parentheses."""
    return {
        figure.name: f"{figure.value} ({figure.bounds})" if figure.bounds else figure.value
        for figure in version_figures(version)
    }


def rows_of_report(warehouse: str, version: Version) -> dict[str, str]:
    """Return the number of clusters by change, the URLs of report and table of changes, and the certificate.

    A report that is gone has no row. Instead of a certificate there is the reason for none, if requests were judged.

    Raises:
        QprError: the report is damaged.
    """
    rows = {CHANGES.get(name, f"clusters {name}"): f"{count:,}" for name, count in version.changes.items()}
    if table := table_of_changes(warehouse, version):
        rows |= {"report": storage.join(warehouse, version.report.path), "table of changes": table}
    if version.certificate:
        rows["certificate"] = storage.join(warehouse, version.certificate.path)
    return rows | ({"no certificate": version.uncertified} if version.uncertified else {})


def table_of_changes(warehouse: str, version: Version) -> str | None:
    """Return the URL of the table of changed clusters; None if the report is gone.

    Raises:
        QprError: the report is damaged.
    """
    if not is_there(warehouse, version.report):
        return None
    url = storage.join(warehouse, version.report.path)
    return next((storage.join(url, file.path) for file in read_manifest(url, "report").of("changes")), None)


def _figure(name: str, version: Version) -> Figure:
    metrics = version.metrics
    metric = _METRICS.get(name) or _Metric(name.replace("_", " "), _score, "")  # of another release
    bounds = [metric.limit] if metric.limit and not (metric.needs_parent and version.parent is None) else []
    if f"{name}_low" in metrics and f"{name}_high" in metrics:
        low, high = (metric.text(metrics[f"{name}_{end}"]) for end in ("low", "high"))
        bounds.insert(0, f"95 % interval {low} to {high}")
    return Figure(metric.name, metric.text(metrics[name]), "; ".join(bounds), metric.meaning)
