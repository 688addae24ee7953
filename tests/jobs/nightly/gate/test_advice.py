"""Advice to a refused night: the cause by the evidence, and the limit that lets the night pass."""

import datetime

import pytest

from jobs.nightly.gate.advice import passing_limit
from jobs.nightly.gate.answer_mix import Mix
from jobs.nightly.gate.decision import reason_to_refuse
from jobs.nightly.gate.evidence import Evidence
from jobs.nightly.gate.settings import GateSettings
from model.evaluation.intervals import Interval

COUNTERS = {"questions": 1000, "questions_in_clusters": 900, "worth_answers": 73, "worth_intents": 72}
WIDE = Interval(-0.0076, -0.0263, 0.0)


def refused(settings=None, **others):
    values = dict.fromkeys(Evidence._fields) | {"moved": 0, "queries": 0, "judge": "w/datasets/d", "is_reviewed": True}
    values |= {"before": COUNTERS, "after": COUNTERS, "is_trained": True} | others
    return reason_to_refuse(settings or GateSettings(), Evidence(**values))


@pytest.mark.parametrize(
    ("figure", "limit"),
    [(0.0263, "0.027"), (0.134, "0.14"), (0.2, "0.2"), (0.00999, "0.01"), (1.0, "1"), (1e-6, "1e-06")],
)
def test_the_limit_that_lets_a_figure_pass_is_rounded_up(figure, limit):
    assert passing_limit(figure) == limit
    assert float(limit) >= figure


@pytest.mark.parametrize(
    ("option", "evidence"),
    [
        ("max_regression", {"difference": WIDE}),
        ("max_regression", {"displaced": Interval(-0.0412, -0.07, -0.01)}),
        ("max_kept_fall", {"after": COUNTERS | {"questions_in_clusters": 671}}),
        ("max_drift", {"mix": Mix(datetime.date(2026, 11, 10), 0.311, 0.177, 0.088, "Yes", 0.0, 0.088)}),
    ],
)
def test_a_night_passes_with_the_limit_that_its_refusal_names(option, evidence):
    limit = refused(**evidence).partition(", or raise the limit to ")[2].removesuffix(" and run the night again")
    assert refused(GateSettings(**{option: float(limit)}), **evidence) is None


def test_the_limit_of_kept_shares_is_that_of_the_script_that_fell_most():
    thai = {"script_Thai_kept": 20, "script_Thai_rejected": 0}
    after = COUNTERS | {"questions_in_clusters": 700, "script_Thai_kept": 10, "script_Thai_rejected": 10}
    reason = refused(before=COUNTERS | thai, after=after)
    assert reason.startswith("share of questions of all scripts")
    assert reason.endswith(", or raise the limit to 0.5 and run the night again")


def test_no_limit_is_named_where_none_lets_the_night_pass():
    reason = refused(difference=Interval(-0.5, -1.2, 0.2))
    assert reason.endswith("keep the encoder by --retrain never and run the night again")


def test_a_kept_encoder_is_not_advised_to_be_kept():
    kept = refused(difference=WIDE, queries=66, is_trained=False)
    assert "--retrain never" not in kept
    assert "may be below -0.02 of --max-regression. The change itself is within the limit, but the test set of " in kept
    larger = "If the log has grown, give --new-test-set to the next night that passes"
    assert f"of 66 questions leaves it uncertain. {larger}. Compare the drops with those before, or raise" in kept
    assert "those before, keep the encoder by --retrain never, or" in refused(difference=WIDE, queries=66)
    assert "uncertain" not in refused(difference=Interval(-0.03, -0.05, 0.01), queries=66)


def test_a_fall_of_the_kept_share_names_the_reason_that_rejected_most_more_questions():
    before = COUNTERS | {"rejected_coherence_incoherent": 500, "rejected_ambiguity_ambiguous": 7}
    rejected = {"rejected_ambiguity_ambiguous": 300, "rejected_validate_no_answer": 999}
    after = before | rejected | {"questions_in_clusters": 600}
    reason = refused(before=before, after=after)
    assert "The reason that grew most is ambiguous of stage ambiguity: 300 rows, 7 before. Look at the table" in reason
    assert "grew most" not in refused(before=before, after=before | {"questions_in_clusters": 600})


def test_answers_that_are_no_intents_any_more_are_named_with_their_option():
    after = COUNTERS | {"questions_in_clusters": 600, "rejected_linkage_no_paraphrase": 1150}
    fewer = refused(after=after | {"worth_intents": 11})
    assert "is no_paraphrase of stage linkage: 1,150 rows, 0 before. Of 73 answers 11 are intents, 72 before: " in fewer
    assert "add --answers intent to this night and all later ones. Look at the table rejected of w/datasets/d" in fewer
    assert "--answers intent" not in refused(after=after)


def test_a_log_that_now_counts_as_one_of_facts_is_named_by_the_probability_that_clusters_need():
    before = COUNTERS | {"worth_intents": 0, "worth_threshold": 350_000}
    after = before | {"questions_in_clusters": 600, "rejected_linkage_no_paraphrase": 25}
    reason = refused(before=before, after=after | {"worth_threshold": 480_000})
    assert (
        "25 rows, 0 before. Clusters need a mean probability of 0.48, 0.35 before: if all questions of an an" in reason
    )
    assert "--answers intent" not in refused(before=before, after=after)


@pytest.mark.parametrize(("before", "share"), [(0.0, 0.088), (0.088, 0.0)])
def test_an_answer_with_another_id_is_named_as_such(before, share):
    mix = Mix(datetime.date(2026, 11, 10), 0.35, 0.2, 0.09, "Clean it. " * 7, before, share, is_renamed=True)
    reason = refused(mix=mix)
    text = ("Clean it. " * 6)[:60]
    assert f"and {text!r}…, with a share of 8.8 %, has another answer id than before. Replace the drop of" in reason
    assert "drop of that day, unless its answers were given another id on purpose, or raise the limit to 0.15" in reason
