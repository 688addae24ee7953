import csv
import io
import json
import os
import sys

import pytest

from jobs.review.database import connection
from jobs.review.store import VerdictStore


@pytest.fixture
def dataset(make_dataset, tmp_path):
    make_dataset(tmp_path / "data", [[f"how do I pay {n} {word}" for word in "abc"] for n in range(12)])
    return tmp_path / "data"


@pytest.fixture
def review(qpr, dataset, tmp_path, monkeypatch):
    """Return a function that runs `qpr review` with keys on stdin."""

    def run(*options, keys="", person="Ada", source=("--dataset", dataset)):
        monkeypatch.setattr(sys, "stdin", io.StringIO(keys))
        named = ("--reviewer", person) if person else ()
        return qpr("review", *source, "--database", tmp_path / "review.db", *named, *options)

    return run


def stored(tmp_path):
    with VerdictStore(str(tmp_path / "review.db")) as store:
        return [(verdict.reviewer, verdict.verdict, len(verdict.strays), verdict.note) for verdict in store.verdicts()]


def test_keys_are_verdicts_and_the_next_run_goes_on(review, tmp_path):
    outcome = review("--json", keys="r m n\nfamous twins\nc s 1 3\n")
    assert outcome.code == 0, outcome.err
    assert json.loads(outcome.out[outcome.out.rindex("{\n") :])["verdicts"] == 4
    expected = [("Ada", "right", 0, ""), ("Ada", "several", 0, ""), ("Ada", "cannot tell", 0, "famous twins")]
    assert stored(tmp_path) == [*expected, ("Ada", "stray", 2, "")]
    outcome = review(keys="uurq")
    assert "5. Do all these questions ask the same?" in outcome.out
    assert stored(tmp_path) == [*expected[:2], ("Ada", "right", 0, "famous twins")]  # the note stays
    assert "3 of 12 clusters are judged; 2 of 3 right, so at least" in outcome.err


def test_a_name_with_outer_spaces_is_that_without(review, tmp_path):
    assert review(keys="mmm", person="Ada ").code == 0
    outcome = review(keys="ur", person="ada")
    assert "Undone" in outcome.err
    assert [(who, verdict) for who, verdict, *_ in stored(tmp_path)] == [("Ada", "several")] * 2 + [("Ada", "right")]


def test_strays_have_to_be_some_of_the_wordings(review, tmp_path):
    outcome = review(keys="s1 2 3\ns 7\ns\nnone\nx r")
    assert outcome.err.count("Mark at least one wording and not all of them, of 1 to 3") == 3
    assert "Key 'x' has no meaning here" in outcome.err
    assert [verdict for _, verdict, *_ in stored(tmp_path)] == ["right"]


def test_a_screen_shows_no_split_score_or_earlier_verdict(review):
    review(keys="m" * 12)
    out = review(person="Bob").out.partition("Review\n")[0]
    assert "how do I pay" in out
    assert "answer c" in out
    assert not any(word in out.lower() for word in ("test", "train", "coherence", "several meanings by", "ada"))


def test_everything_judged_ends_by_itself(review):
    outcome = review(keys="r" * 40)
    assert outcome.code == 0
    assert "Nothing is left for Ada" in outcome.err


def test_a_report_has_shares_bounds_and_disagreements(review, tmp_path):
    review(keys="r" * 11 + "m")
    review(keys="r" * 40, person="Bob")
    outcome = review("--report", tmp_path / "report.html", "--json", person=None)
    assert outcome.code == 0, outcome.err
    written = json.loads((tmp_path / "report.json").read_text())
    assert json.loads(outcome.out) == {
        "report": f"{tmp_path}/report.html",
        "data": f"{tmp_path}/report.json",
        **written,
        "warnings": [],
    }
    assert (written["judged"], written["counted"], written["items"]) == (12, 12, 12)
    assert written["right"]["right"] == 11
    assert written["reviewers"]["Ada"] == 12
    [one] = written["disagreements"]
    assert [(v["reviewer"], v["verdict"]) for v in one["verdicts"]] == [("Ada", "several"), ("Bob", "right")]
    assert len(one["texts"]) == 3
    assert not written["claim"]["supported"]
    page = (tmp_path / "report.html").read_text()
    assert "99.00 % right is not supported" in page
    assert "<script" not in page
    assert "http" not in page.replace("http-equiv", "")
    again = review("--report", tmp_path / "report.json")
    assert (again.code, "exists. Choose another --report or add --overwrite" in again.err) == (1, True)


def test_a_report_without_the_dataset_has_no_texts_and_the_same_figures(review, tmp_path):
    review(keys="rm")
    review("--report", tmp_path / "one.json")
    assert review("--report", tmp_path / "two.json", source=()).code == 0
    one, two = (json.loads((tmp_path / name).read_text()) for name in ("one.json", "two.json"))
    assert one == two


def test_a_claim_that_is_not_supported_is_refused_with_the_missing_number(review, tmp_path):
    review(keys="r" * 10)
    refused = review("--report", tmp_path / "report.html", "--claim", 0.99)
    assert refused.code == 1
    assert "99.00 % is not supported: 10 right of 10 counted verdicts" in refused.err
    assert "It takes 2 further right clusters without a wrong one" in refused.err
    assert (tmp_path / "report.html").exists()
    supported = review("--report", tmp_path / "report.html", "--claim", 0.3, "--overwrite")
    assert supported.code == 0
    assert "30.00 % is supported: 10 right of 10 counted verdicts, which shows" in supported.err


def test_a_claim_is_supported_once_all_clusters_are_right_and_ruled_out_by_a_wrong_one(review, tmp_path):
    review(keys="r" * 12)
    assert review("--report", tmp_path / "report.html", "--claim", 0.99).code == 0
    (tmp_path / "review.db").unlink()
    review(keys="m")
    refused = review("--report", tmp_path / "report.html", "--claim", 0.99, "--overwrite")
    assert refused.code == 1
    assert "Too many of the 12 clusters are wrong for it" in refused.err


def test_exported_clusters_are_verdicts_of_calibrate_and_come_back_elsewhere(review, qpr, dataset, tmp_path):
    review(keys="rms1\nc")
    outcome = review("--export", tmp_path / "verdicts.csv", "--json")
    counts = {"judged": 4, "counted": 4, "waiting": 3}
    assert "waiting for a further person: 3 items; until then those that one person does not call right" in outcome.err
    assert json.loads(outcome.out) == {"output": f"{tmp_path}/verdicts.csv", **counts, "warnings": []}
    rows = list(csv.DictReader((tmp_path / "verdicts.csv").open(encoding="utf-8-sig")))
    assert [row["verdict"] for row in rows] == ["right", "wrong", "wrong", "unclear"]
    assert [row["judged"] for row in rows] == ["right", "several", "stray", "cannot tell"]
    assert {row["labeller"] for row in rows} == {"Ada"}
    first = stored(tmp_path)
    assert '"added": 0' in review("--merge", tmp_path / "verdicts.csv", "--json").out
    (tmp_path / "review.db").unlink()
    assert '"added": 4' in review("--merge", tmp_path / "verdicts.csv", "--json").out
    assert '"added": 0' in review("--merge", tmp_path / "verdicts.csv", "--json").out
    assert stored(tmp_path) == first


def test_an_export_only_reads_the_database(review, qpr, dataset, tmp_path, monkeypatch):
    review(keys="rm")
    (tmp_path / "review.db").chmod(0o444)
    before = (tmp_path / "review.db").read_bytes()
    monkeypatch.setattr(os, "access", lambda *_: False)  # a mount without write access, also for root
    monkeypatch.setattr(connection, "transaction", None)
    outcome = review("--export", tmp_path / "verdicts.csv")
    assert outcome.code == 0, outcome.err
    assert len(list(csv.DictReader((tmp_path / "verdicts.csv").open(encoding="utf-8-sig")))) == 2
    assert (tmp_path / "review.db").read_bytes() == before
    missing = qpr("review", "--dataset", dataset, "--database", tmp_path / "none.db", "--export", tmp_path / "v.csv")
    assert (missing.code, "there is no review database" in missing.err) == (1, True)
    assert not (tmp_path / "none.db").exists()
    other = review("--export", tmp_path / "v.csv", "--seed", 3)
    assert (other.code, "--seed 0. Give that seed" in other.err) == (1, True)


def test_databases_of_two_people_are_merged(review, qpr, dataset, tmp_path):
    review(keys="rr")
    (tmp_path / "review.db").rename(tmp_path / "ada.db")
    review(keys="rmr", person="Bob")
    assert '"added": 2' in review("--merge", tmp_path / "ada.db", "--json").out
    assert len(stored(tmp_path)) == 5


def answered(number):
    hit = {"text": f"question {number}", "answer": f"answer {number}", "question_id": str(number)}
    return {
        "question": f"request {number}", "answered": False, "reason": "below_confidence", "answer": None,
        "probability": 0.5, "answer_id": str(number), "hit": hit, "asked_at": "2026-11-20",
    }  # fmt: skip


def test_judged_requests_are_a_requests_file(review, write_jsonl, tmp_path):
    from jobs.workflows.certificates.requests_file import read_requests
    from pipelines.reading.sources import expand

    exact = {**answered(9), "reason": "exact"}
    file = write_jsonl("requests.jsonl", [*map(answered, range(5)), exact])
    source = ("--queue", "requests", "--requests", file)
    outcome = review(keys="rwc", source=source)
    assert "Is this a right answer to the question?" in outcome.out
    assert "0.5" not in outcome.out
    assert review("--export", tmp_path / "judged.jsonl", source=source).code == 0
    [written] = expand([str(tmp_path / "judged.jsonl")])
    requests = read_requests(written)
    assert sorted(str(request.verdict) for request in requests) == ["None"] * 3 + ["right", "unclear", "wrong"]
    assert {request.labeller for request in requests if request.verdict} == {"Ada"}
    review(keys="rwcrwc", source=source, person="Bob")
    assert review("--export", tmp_path / "judged.jsonl", "--overwrite", source=source).code == 0
    assert '"Ada, Bob"' in (tmp_path / "judged.jsonl").read_text()
    before = stored(tmp_path)
    assert '"added": 0' in review("--merge", tmp_path / "judged.jsonl", "--json", source=source).out
    assert stored(tmp_path) == before
    assert review("--export", tmp_path / "judged.csv", source=source).code == 2


@pytest.mark.parametrize(
    ("options", "code", "words"),
    [
        (["--serve", "--report", "r.html"], 2, "do one after the other"),
        (["--report", "r.html", "--export", "v.csv"], 2, "do one after the other"),
        (["--port", "9"], 2, "belong to --serve"),
        (["--export", "v.csv", "--claim", "0.9"], 2, "--claim: has no use with --export"),
        (["--merge", "v.csv", "--confidence", "0.9"], 2, "--confidence: has no use with --merge"),
        (["--report", "report.pdf"], 2, "must end in .html or .json"),
        (["--export", "verdicts.xlsx"], 2, "must end in .csv or .jsonl"),
        (["--merge", "missing.csv"], 1, "missing.csv"),
        (["--seed", "3"], 1, "--seed 0. Give that seed"),
        (["--queue", "requests"], 2, "judges the answers of --requests FILE"),
        (["--claim", "1"], 2, "--claim"),
        (["--reviewer", "   "], 2, "the name is blank"),
        (["--reviewer", ""], 2, "--reviewer: is empty"),
        (["--reviewer", "x" * 61], 2, "more than 60 characters"),
        (["--serve", "--host", "0.0.0.0"], 2, "give --token-file FILE"),
    ],
)
def test_wrong_options_are_explained(review, tmp_path, monkeypatch, options, code, words):
    monkeypatch.chdir(tmp_path)
    review(keys="rr")
    outcome = review(*options)
    assert (outcome.code, words in outcome.err) == (code, True), outcome.err
    assert outcome.err.count("\n") == 1


def test_a_request_nested_too_deep_is_named(review, tmp_path):
    (tmp_path / "deep.jsonl").write_text("[" * 100_000 + "]" * 100_000)
    outcome = review(source=("--queue", "requests", "--requests", tmp_path / "deep.jsonl"))
    assert (outcome.code, "deep.jsonl: line 1 is no JSON" in outcome.err) == (1, True), outcome.err


def test_a_database_of_another_dataset_is_refused(review, make_dataset, tmp_path):
    review(keys="r")
    make_dataset(tmp_path / "other", [["a b", "a c"]])
    for options in ((), ("--report", tmp_path / "report.html")):
        outcome = review(*options, source=("--dataset", tmp_path / "other"))
        assert outcome.code == 1
        assert "has verdicts on another dataset" in outcome.err


def test_pairs_are_judged_for_a_calibration(qpr, review, write_jsonl, tmp_path):
    rows = [
        {"question": f"how {verb} I pay my {thing} {n}", "answer": f"in app {n} {thing}"}
        for n in range(8)
        for thing in ("bill", "rent")
        for verb in ("do", "can", "should")
    ]
    assert qpr("clusters", write_jsonl("logs.jsonl", rows), "--output", tmp_path / "linked", "--quiet").code == 0
    source = ("--queue", "pairs", "--dataset", tmp_path / "linked")
    outcome = review(keys="rwcr", source=source)
    assert outcome.code == 0, outcome.err
    assert "Do both questions ask the same?" in outcome.out
    assert review("--export", tmp_path / "verdicts.csv", source=source).code == 0
    written = [row["verdict"] for row in csv.DictReader((tmp_path / "verdicts.csv").open(encoding="utf-8-sig"))]
    assert written[:4] == ["right", "wrong", "unclear", "right"]
    assert set(written[4:]) <= {""}
    assert '"added": 0' in review("--merge", tmp_path / "verdicts.csv", "--json", source=source).out
    given = ("--dataset", tmp_path / "linked", "--verdicts", tmp_path / "verdicts.csv", "--output", tmp_path / "judged")
    outcome = qpr("calibrate", *given)
    assert "4 verdicts so far, at least" in outcome.err
    refused = review("--report", tmp_path / "r.html", "--claim", 0.9, source=source)
    assert (refused.code, refused.out, (tmp_path / "r.html").exists()) == (2, "", False)


@pytest.mark.parametrize("content", ["", "verdict\nright\n", "verdict,cluster_id\nright,c00\n", None])
def test_a_file_that_cannot_be_merged_leaves_no_new_database(review, tmp_path, content):
    if content is not None:
        (tmp_path / "verdicts.csv").write_text(content)
    folder = sorted(path.name for path in tmp_path.iterdir())
    outcome = review("--merge", tmp_path / "verdicts.csv")
    assert (outcome.code, outcome.err.count("\n")) == (1, 1), outcome.err
    assert sorted(path.name for path in tmp_path.iterdir()) == folder


def test_a_database_of_another_queue_that_cannot_be_merged_leaves_no_new_database(review, tmp_path):
    assert review("--seed", 3, keys="r").code == 0
    (tmp_path / "review.db").rename(tmp_path / "other.db")
    outcome = review("--merge", tmp_path / "other.db")
    assert (outcome.code, "has verdicts on another queue" in outcome.err) == (1, True), outcome.err
    assert not list(tmp_path.glob("review.db*"))
