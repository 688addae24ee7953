import datetime
import json

import pytest

from jobs.nightly.gate.label_precision import is_reviewed, read_review
from schemas.artifacts.manifest import read_manifest
from schemas.artifacts.writer import Output
from schemas.errors import QprError
from schemas.versions import history
from tests.support.small_versions import make_version

REPORT = {
    "queue": "clusters",
    "digest": "d" * 64,
    "confidence": 0.95,
    "right": {"judged": 100, "right": 99, "share": 0.99, "bound": 0.95},
    "by_question": None,
}


def written(tmp_path, **changes):
    file = tmp_path / "review.json"
    file.write_text(json.dumps(REPORT | changes))
    return str(file)


def test_the_bound_of_a_report_is_read(tmp_path):
    review = read_review(written(tmp_path))
    assert (review.digest, review.right.judged, review.right.bound) == ("d" * 64, 100, 0.95)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"queue": "pairs", "right": None}, "is about pairs. Give a report on the clusters"),
        ({"queue": "requests"}, "is about requests"),
        ({"confidence": 0.5}, r"its bound has confidence 0\.5\. Make the report with --confidence 0\.95"),
        ({"right": {"judged": 1, "right": 1, "bound": 2}}, "no report of verdicts"),
        ({"digest": None}, "no report of verdicts"),
        ({"right": None}, "no report of verdicts"),
    ],
)
def test_other_files_are_refused(tmp_path, changes, message):
    with pytest.raises(QprError, match=message):
        read_review(written(tmp_path, **changes))


def test_a_page_and_a_missing_file_are_refused(tmp_path):
    page = tmp_path / "review.html"
    page.write_text("<html>")
    with pytest.raises(QprError, match=r"no report of verdicts .* Give the \.json of `qpr review --report`"):
        read_review(str(page))
    with pytest.raises(QprError, match=r"missing\.json"):
        read_review(str(tmp_path / "missing.json"))


def test_a_report_counts_for_versions_of_the_last_days(tmp_path):
    w = str(tmp_path / "w")
    one, two, three = (make_version(w, name, date=f"2026-11-{day:02}") for name, day in (("a", 1), ("b", 9), ("c", 20)))
    history.publish(w, one)
    history.keep_refused(w, two.model_copy(update={"refused": "MRR"}))

    def counts(version, days):
        review = read_review(written(tmp_path, digest=version.dataset.digest))
        return is_reviewed(w, review, three.dataset, date=datetime.date(2026, 11, 20), days=days)

    assert counts(three, 0)  # the night's own dataset
    assert counts(three, 30)
    assert (counts(one, 30), counts(one, 18)) == (True, False)
    assert (counts(two, 11), counts(two, 10)) == (True, False)
    assert not is_reviewed(w, read_review(written(tmp_path)), three.dataset, date=datetime.date(2026, 11, 20), days=99)


def test_a_report_made_after_an_erasure_counts_for_the_version_before_it(tmp_path):
    w = str(tmp_path / "w")
    one, night = make_version(w, "a", date="2026-11-01"), make_version(w, "b", date="2026-11-02")
    history.publish(w, one)
    url = f"{w}/{one.dataset.path}"
    before = read_manifest(url, "dataset")
    assert before.digest == one.dataset.digest

    def counts(erased):
        with Output(url, "dataset", overwrite=True) as output:
            file = output.write("questions/left", b"left", table="questions", rows=1)
            now = output.publish([file], inputs=[], configuration={}, counters={}, erased=erased)
        review = read_review(written(tmp_path, digest=now.digest))
        return is_reviewed(w, review, night.dataset, date=night.date, days=28)

    assert counts(before.erased_on(one.date))
    assert not counts([])


def test_with_no_days_a_report_counts_for_its_own_dataset_alone(tmp_path):
    w = str(tmp_path / "w")
    one, night = (make_version(w, name, date="2026-11-20") for name in ("a", "b"))
    history.publish(w, one)
    review = read_review(written(tmp_path, digest=one.dataset.digest))
    assert is_reviewed(w, review, one.dataset, date=one.date, days=0)
    assert not is_reviewed(w, review, night.dataset, date=night.date, days=0)
    assert is_reviewed(w, review, night.dataset, date=night.date, days=1)
