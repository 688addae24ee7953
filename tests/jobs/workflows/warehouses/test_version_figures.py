"""Names of the figures of a version, and what `qpr nightly` and docs/gate.md say of them."""

import dataclasses
import re
from pathlib import Path

import pytest

from jobs.nightly.gate.settings import GateSettings
from jobs.workflows.warehouses.version_figures import CHANGES, rows_of_metrics, rows_of_report, version_figures
from model.evaluation.metrics import Metrics
from pipelines.summary import cluster_changes
from schemas.versions.version import Artefact, Version
from tests.support.small_versions import make_version

METRICS = (
    "queries", "hits_at_1", "hits_at_10", "mrr", "ndcg_at_10", "frozen_queries", "frozen_mrr_before", "frozen_mrr",
    "frozen_mrr_with_new", "difference", "new_questions", "kept_share", "answer_distance", "answer_distance_before",
    "new_answers_share", "new_answers_share_before", "canaries_found", "right_at_least",
)  # fmt: skip
DOCS = Path(__file__).parents[4] / "docs/gate.md"


def version_of(metrics, parent=1):
    return Version.model_construct(metrics=metrics, parent=parent)


def test_a_change_has_its_interval_and_its_limit():
    metrics = {"new_questions": 0.0106, "new_questions_low": -0.0003, "new_questions_high": 0.0226}
    assert rows_of_metrics(version_of(metrics)) == {
        "change of MRR by new questions": "+0.0106 (95 % interval -0.0003 to +0.0226; limit -0.02, unless "
        "--max-regression was given)"
    }


@pytest.mark.parametrize(
    ("metric", "value", "name", "shown"),
    [
        ("mrr", 0.81234, "MRR", "0.8123"),
        ("queries", 2000.0, "test questions", "2,000"),
        ("hits_at_1", 0.95, "right first hits", "95.0 %"),
        ("canaries_found", 1.0, "canaries found", "100.0 % (limit 100 %)"),
        ("of_another_release", 0.5, "of another release", "0.5000"),
    ],
)
def test_a_figure_has_its_unit(metric, value, name, shown):
    assert rows_of_metrics(version_of({metric: value})) == {name: shown}


def test_every_metric_has_a_name_a_meaning_and_a_row_in_the_documentation():
    figures = version_figures(version_of(dict.fromkeys(METRICS, 0.5)))
    assert METRICS[1:5] == tuple(field.name for field in dataclasses.fields(Metrics))
    assert all(figure.meaning.endswith(".") for figure in figures)
    assert len({figure.name for figure in figures} | {*CHANGES.values()}) == len(METRICS) + len(CHANGES)
    rows = [line for line in DOCS.read_text().splitlines() if line.startswith("| `")]
    for metric, figure in zip(METRICS, figures, strict=True):
        assert any(f"`{metric}`" in row and figure.name in row for row in rows), metric


def test_the_limits_are_the_defaults_of_the_gate():
    gate = GateSettings()
    figures = {figure.name: figure.bounds for figure in version_figures(version_of(dict.fromkeys(METRICS, 0.5)))}
    for name, option, limit in (
        ("change of MRR by encoder or index", "--max-regression", -gate.max_regression),
        ("change of MRR by new questions", "--max-regression", -gate.max_regression),
        ("questions in a cluster", "--max-kept-fall", 100 * gate.max_kept_fall),
        ("distance of the new day's answers", "--max-drift", gate.max_drift),
        ("right clusters by verdicts", "--min-right", 100 * gate.min_right),
    ):
        assert float(re.search(r"limit (-?[\d.]+)", figures[name])[1]) == limit
        assert option in figures[name]


def test_the_first_version_has_no_limit_that_compares_with_the_one_before():
    first = rows_of_metrics(version_of({"kept_share": 0.5, "right_at_least": 0.98}, parent=None))
    assert first == {
        "questions in a cluster": "50.0 %",
        "right clusters by verdicts": "98.0 % (limit 97 %, unless --min-right was given)",
    }
    assert "below the version before" in rows_of_metrics(version_of({"kept_share": 0.5}))["questions in a cluster"]


def test_every_change_has_a_name():
    assert {*CHANGES} == {*cluster_changes.CHANGES}


def test_a_night_and_its_version_show_the_certificate_or_why_there_is_none(memory):
    version = make_version(memory, "one")
    assert not [name for name in rows_of_report(memory, version) if "certificate" in name]
    certified = version.model_copy(update={"certificate": Artefact(path="certificates/c1", digest="d" * 64)})
    assert rows_of_report(memory, certified)["certificate"] == f"{memory}/certificates/c1"
    uncertified = version.model_copy(update={"uncertified": "no verdict is wrong"})
    assert rows_of_report(memory, uncertified)["no certificate"] == "no verdict is wrong"
