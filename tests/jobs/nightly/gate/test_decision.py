import datetime

import numpy as np
import pytest

from jobs.nightly.gate.answer_mix import Mix
from jobs.nightly.gate.canaries import Canary, Missed
from jobs.nightly.gate.decision import questions_moved, reason_to_refuse
from jobs.nightly.gate.evidence import Evidence
from jobs.nightly.gate.label_precision import Review
from jobs.nightly.gate.settings import GateSettings
from jobs.workflows.warehouses.version_figures import version_figures
from model.evaluation.intervals import Interval
from schemas.versions.version import Version

KEPT = {"questions": 100, "questions_in_clusters": 80}


def refused(settings=None, **others):
    values = dict.fromkeys(Evidence._fields) | {"moved": 0, "queries": 0, "judge": "w/datasets/d", "is_reviewed": True}
    values |= {"before": KEPT, "after": KEPT, "is_trained": True} | others
    reason = reason_to_refuse(settings or GateSettings(), Evidence(**values))
    assert reason is None or "\n" not in reason
    return reason


def test_a_night_like_the_one_before_passes():
    assert refused() is None
    assert refused(before=None) is None
    assert refused(difference=Interval(0.0, -0.01, 0.01)) is None


def test_an_interval_that_reaches_below_the_limit_is_refused():
    reason = refused(difference=Interval(-0.01, -0.03, 0.01))
    assert "among questions of both versions, changed by -0.0100 (95 % interval -0.0300 to +0.0100), which" in reason
    assert refused(GateSettings(max_regression=0.05), difference=Interval(-0.01, -0.03, 0.01)) is None


def test_new_questions_are_refused_by_a_fall_that_is_shown_and_beyond_the_limit():
    reason = refused(displaced=Interval(-0.04, -0.07, -0.01))
    assert reason.startswith(
        "new questions of other clusters changed MRR on the frozen test set by -0.0400 (95 % interval"
    )
    assert refused(GateSettings(max_regression=0.05), displaced=Interval(-0.04, -0.07, -0.01)) is None
    assert refused(displaced=Interval(-0.019, -0.03, -0.01)) is None
    assert refused(displaced=Interval(-0.04, -0.1, 0.0)) is None


def test_a_fall_of_the_kept_share_of_one_script_is_refused():
    thai = {"script_Thai_kept": 20, "script_Thai_rejected": 20}
    lost = {"script_Thai_kept": 5, "script_Thai_rejected": 35}
    assert "of all scripts in a cluster fell from 80.0 % to 60.0 %, more than --max-kept-fall 0.1 allows. " in refused(
        after=KEPT | {"questions_in_clusters": 60}
    )
    reason = refused(before=KEPT | thai, after=KEPT | lost)
    assert "of questions in the script Thai in a cluster fell from 50.0 % to 12.5 %" in reason


@pytest.mark.parametrize(
    ("kept", "left", "compared"),
    [(60, 29, True), (60, 30, False), (20, 9, True), (19, 0, False)],  # of 1,000: no fall of 10 percentage points
)
def test_a_small_kept_share_may_fall_by_half(kept, left, compared):
    before, after = ({"questions": 1000, "questions_in_clusters": number} for number in (kept, left))
    assert (refused(before=before, after=after) is not None) == compared
    assert refused(GateSettings(max_kept_fall=0.2), before=before, after=after) is None


def test_the_limit_of_a_relative_fall_is_named():
    before, after = ({"questions": 1000, "questions_in_clusters": number} for number in (60, 15))
    reason = refused(before=before, after=after)
    assert (
        "fell from 6.0 % to 1.5 %, more than --max-kept-fall 0.1 allows, which is at most 50.0 % of the sha" in reason
    )
    assert reason.endswith(", or raise the limit to 0.15 and run the night again")
    assert refused(GateSettings(max_kept_fall=0.15), before=before, after=after) is None


@pytest.mark.parametrize(("questions", "compared"), [(20, True), (19, False)])
def test_kept_shares_of_a_script_are_compared_from_twenty_questions_on(questions, compared):
    before = KEPT | {"script_Thai_kept": questions, "script_Thai_rejected": 0}
    after = KEPT | {"script_Thai_kept": 0, "script_Thai_rejected": questions}
    assert (refused(before=before, after=after) is not None) == compared


def test_questions_that_moved_into_train_are_refused():
    earlier = {"train": np.array([1]), "validation": np.array([2]), "test": np.array([3])}
    assert questions_moved({"train": np.array([1, 3])}, earlier) == 1
    assert questions_moved({"train": np.array([1, 9])}, earlier) == 0
    assert refused(moved=1).startswith("in train, though held out by an earlier version: 1 question, where 0 are")


def test_a_missed_canary_is_named_with_what_was_found():
    missed = Missed(Canary(3, "how do i pay", "at the desk", None, None), "by post", 2, 40)
    reason = refused(GateSettings(canaries="c.csv", canary_rank=5), missed=missed)
    assert reason.startswith("2 of 40 canaries not found within rank 5 of --canary-rank; the first, in row 3, 'how do ")
    assert "has the first hit 'by post' in place of answer 'at the desk'. Look for it in the drops" in reason
    assert "'how do i pay', has no hit in place of" in refused(missed=missed._replace(found=None))
    korean = missed._replace(canary=Canary(3, "요금\x1b[2J 얼마예요", "창구", None, None), found=None)
    assert r"'요금\x1b[2J 얼마예요', has no hit in place of answer '창구'" in refused(missed=korean)


def test_a_day_with_other_answers_is_refused_beyond_the_usual_distance():
    mix = Mix(datetime.date(2026, 11, 20), 0.35, 0.2, 0.1, "Yes", 0.03, 0.41)
    reason = refused(mix=mix)
    assert reason.startswith("answers of 2026-11-20 are 0.350 away from those of the days before, where up to 0.200 is")
    assert "0.200 is usual; --max-drift 0.1 allows 0.300. 10.0 % of the rows have a new answer, and 'Yes'" in reason
    assert "and 'Yes' went from 3.0 % to" in reason
    assert "to 41.0 %. Replace the drop of that day, or raise the limit to 0.15 and run the night again" in reason
    read_otherwise = refused(mix=mix, reread="qpr ingest --warehouse w --from 2026-11-01 --to 2026-11-07")
    assert (
        "other options; `qpr ingest --warehouse w --from 2026-11-01 --to 2026-11-07` with those "
        "of this night reads them again: do that first. Replace the drop of that day, or raise the limit"
    ) in read_otherwise
    assert refused(GateSettings(max_drift=0.16), mix=mix) is None
    assert refused(mix=mix._replace(usual=0.3)) is None


def test_a_larger_share_of_new_answers_is_refused_by_its_own_distance():
    mix = Mix(datetime.date(2026, 11, 20), 0.2, 0.2, 0.4, "Yes", 0.03, 0.41, usual_new=0.15, distance_of_new=0.21)
    reason = refused(mix=mix)
    assert reason.startswith("40.0 % of the rows of 2026-11-20 have a new answer, where up to 15.0 % are usual; ")
    assert "where up to 2.0 % are usual; " in refused(mix=mix._replace(usual_new=0.0))
    assert "the distance of both shares is 0.210, more than --max-drift 0.1 allows. 'Yes' went from 3.0 % to" in reason
    assert reason.endswith("Replace the drop of that day, or raise the limit to 0.21 and run the night again")
    assert refused(GateSettings(max_drift=0.21), mix=mix) is None
    assert refused(mix=mix._replace(distance=0.5)).startswith("answers of 2026-11-20 are 0.500 away")


@pytest.mark.parametrize(
    ("evidence", "step"),
    [
        ({"difference": Interval(-0.03, -0.05, 0.01)}, "Compare the drops with those before, keep the encoder by"),
        ({"difference": Interval(-0.01, -0.05, 0.01)}, "The change itself is within the limit, but the test set of"),
        ({"displaced": Interval(-0.04, -0.07, -0.01)}, "Look in the new drops for questions that repeat earlier ones"),
        ({"after": KEPT | {"questions_in_clusters": 60}}, "Look at the table rejected of w/datasets/d"),
    ],
)
def test_a_refused_night_with_days_of_other_options_first_advises_to_read_them_again(evidence, step):
    reread = "qpr ingest --warehouse w --from 2026-11-01 --to 2026-11-07"
    advice = f"Days were ingested with other options; `{reread}` with those of this night reads them again"
    assert f". {advice}: do that first. {step}" in refused(**evidence, reread=reread)
    assert f". {step}" in refused(**evidence)


def test_verdicts_that_show_too_small_a_share_are_refused():
    review = Review(digest="d" * 64, confidence=0.95, right={"judged": 200, "right": 200, "bound": 0.98})
    settings = GateSettings(require_review="r.json", min_right=0.99)
    reason = refused(settings, review=review)
    assert "200 of 200 judged clusters are right, which shows 98.00 %, less than --min-right 0.99" in reason
    assert "`qpr review --dataset w/datasets/d`, report them and run the night again" in reason
    assert refused(GateSettings(require_review="r.json"), review=review) is None
    reason = refused(GateSettings(require_review="r.json"), review=review, is_reviewed=False)
    assert "is about dataset dddddddddddd, which is not that of this night or of a version of the 30 days" in reason


MIX = Mix(datetime.date(2026, 11, 20), 0.75, 0.5, 0.1, "Yes", 0.03, 0.41)
REVIEW = Review(digest="d" * 64, confidence=0.95, right={"judged": 200, "right": 200, "bound": 0.75})


@pytest.mark.parametrize(
    ("limits", "evidence"),
    [
        ({"max_regression": 0.25}, {"difference": Interval(0.0, -0.25, 0.5)}),
        ({"max_regression": 0.25}, {"displaced": Interval(-0.25, -0.5, -0.125)}),
        (
            {"max_kept_fall": 0.25},
            {"before": KEPT | {"questions_in_clusters": 75}, "after": KEPT | {"questions_in_clusters": 50}},
        ),
        ({"max_drift": 0.25}, {"mix": MIX}),
        ({"require_review": "r.json", "min_right": 0.75}, {"review": REVIEW}),
    ],
)
def test_a_figure_at_its_limit_passes(limits, evidence):
    assert refused(GateSettings(**limits), **evidence) is None


def test_a_night_passes_unchecked_by_no_evidence_that_is_left_out():
    assert Evidence._field_defaults == {}


def test_figures_are_recorded():
    review = Review(digest="d" * 64, confidence=0.95, right={"judged": 9, "right": 9, "bound": 0.7})
    missed = Missed(Canary(1, "a", "b", None, None), None, 1, 4)
    mix = Mix(datetime.date(2026, 11, 20), 0.35, 0.2, 0.1, "Yes", 0.03, 0.41)
    nothing = Evidence(**dict.fromkeys(Evidence._fields))
    evidence = nothing._replace(missed=missed, review=review, mix=mix, canaries=4)
    assert evidence.metrics == {
        "answer_distance": 0.35,
        "answer_distance_before": 0.2,
        "new_answers_share": 0.1,
        "new_answers_share_before": 0.0,
        "canaries_found": 0.75,
        "right_at_least": 0.7,
    }
    assert nothing._replace(canaries=4).metrics == {"canaries_found": 1}
    assert all(
        figure.meaning for figure in version_figures(Version.model_construct(metrics=evidence.metrics, parent=None))
    )


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"canary_rank": 3}, "--canary-rank belongs to --canaries"),
        ({"min_right": 0.9}, "belong to --require-review"),
        ({"review_days": 1}, "belong to --require-review"),
    ],
)
def test_limits_without_their_file_are_refused(given, message):
    with pytest.raises(ValueError, match=message):
        GateSettings(**given)
