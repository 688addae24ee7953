import dataclasses
import datetime
import io
import json
import re
import sys
from unittest.mock import Mock

import pytest

from jobs.workflows.certificates import certification
from model.certificates.certificate import load_certificate, write_certificate
from model.search.searcher import Searcher, open_searcher
from schemas.artifacts.writer import Output
from schemas.errors import QprError
from schemas.text import answer_key
from tests.support.csv_files import write_csv

TODAY = datetime.datetime.now(datetime.UTC).date()  # the days of requests and logs are those of UTC
FIELDS = ("question", "verdict", "asked_at", "labeller", "probability", "answer_id")
REQUESTS = 600


@pytest.fixture
def index(folder, make_model, make_dataset, qpr, monkeypatch):
    """Return an index whose hits have a probability that stands in the question."""
    if not (folder / "index").exists():
        make_model(folder / "model")
        make_dataset(folder / "data", [["pay my bill", "how do I pay"], ["cancel my flight", "cancel flight"]])
        given = ("--questions", folder / "data", "--model", folder / "model", "--output", folder / "index")
        assert qpr("index", *given, "--shards", 1).code == 0
    take_probabilities_from_questions(monkeypatch)
    (folder / "index.certificates.json").unlink(missing_ok=True)
    return folder / "index"


def take_probabilities_from_questions(monkeypatch):
    """Give hits a probability that stands in the question: those of "pay 700" have .7."""
    find_hits = Searcher._hits

    def with_probabilities(self, retrieval, questions, k):
        for question, hits in zip(questions, find_hits(self, retrieval, questions, k), strict=True):
            number = question.split()[-1]
            for hit in hits if number.isdigit() else []:
                object.__setattr__(hit, "probability", int(number) / 1_000)
            yield hits

    monkeypatch.setattr(Searcher, "_hits", lambda *given: [*with_probabilities(*given)])


def requests(number=REQUESTS):
    """Yield rows: of 100 requests with a probability from .4 on one is wrong, below all are."""
    for row in range(number):
        probability = 999 - row * 999 // number
        wrong = probability < 400 or row % 100 == 50
        yield {
            "question": f"pay the bill {probability}",
            "verdict": "wrong" if wrong else "right",
            "asked_at": f"{TODAY}T{row // 60 % 24:02}:{row % 60:02}:00Z",
            "labeller": "Ada" if row % 2 else "Bob",
        }


@pytest.fixture
def certify(qpr, index, tmp_path):
    def run(rows, *options, output="certificate"):
        file = write_csv(tmp_path / "requests.csv", rows, columns=FIELDS)
        given = ("--index", index, "--requests", file, "--output", tmp_path / output, "--alpha", 0.05, "--delta", 0.1)
        yesterday = TODAY - datetime.timedelta(days=1)
        return qpr("certify", *given, *(options or ("--log-until", yesterday)), "--json")

    return run


def test_a_certificate_permits_answers_from_its_threshold_on(certify, qpr, index, tmp_path, monkeypatch):
    result = certify(requests())
    assert result.code == 0, result.err
    certificate = json.loads(result.out)
    assert 0.35 <= certificate["threshold"] <= 0.6
    assert certificate["requests"] == certificate["order"] + certificate["tested"] == REQUESTS
    assert certificate["labellers"] == ["Ada", "Bob"]
    assert certificate["upper_bound"] <= 0.05
    given = ("--index", index, "--certificate", tmp_path / "certificate", "--json")
    asked = ["pay the bill 950", "pay the bill 100", "pay my bill"]
    answers = [json.loads(line) for line in qpr("answer", *given, *asked).out.splitlines()]
    assert [a["reason"] for a in answers] == ["certified", "below_confidence", "exact"]
    assert [a["answered"] for a in answers] == [True, False, True]
    assert [a["answer"] for a in answers] == [answers[0]["hit"]["answer"], None, "answer c0"]
    assert answers[0]["certificate"] == certificate["digest"]
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(b"pay the bill 950\n")))
    shown = qpr("answer", *given[:-1])
    assert (shown.code, "(certified, probability 0.95)" in shown.out) == (0, True)


def test_without_a_certificate_only_the_questions_of_the_index_are_answered(qpr, index):
    shown = qpr("answer", "--index", index, "pay my bill", "pay the bill 950")
    assert shown.code == 0
    assert "answer c0 (exact)" in shown.out
    assert "no known answer (no_certificate, probability 0.95); nearest question:" in shown.out


def test_a_certificate_of_a_release_with_another_order_of_hits_is_refused_until_it_is_made_again(
    certify, qpr, index, tmp_path
):
    assert certify(requests()).code == 0
    made = load_certificate(str(tmp_path / "certificate")).certificate
    earlier = made.version.model_copy(
        update={"release": "0.1.0"}
    )  # as releases without a number of their rules wrote it
    of_earlier = made.model_copy(update={"version": earlier, "version_digest": earlier.digest})
    write_certificate(Output(str(tmp_path / "earlier"), "certificate"), of_earlier, inputs=[])
    refused = qpr("answer", "--index", index, "--certificate", tmp_path / "earlier", "pay the bill 950")
    assert (refused.code, refused.out) == (1, "")
    assert "certifies another version: release was 0.1.0, now it is 0.1.0 (answers 7)" in refused.err
    assert "Certify this one with `qpr certify`" in refused.err
    shown = qpr("certify", "--certificate", tmp_path / "earlier")
    assert (shown.code, "is of release 0.1.0. This one may give other answers" in shown.err) == (0, True)
    assert "of release" not in qpr("certify", "--certificate", tmp_path / "certificate").err


def test_a_certificate_of_other_options_or_of_another_kind_is_refused(certify, qpr, index, tmp_path):
    assert certify(requests()).code == 0
    [file] = (tmp_path / "certificate").glob("*/certificate.json")
    for content, fault in (
        (file.read_text().replace('"threshold": 0.', '"threshold": 0.0'), "does not match the manifest's sha256"),
        ("", "does not match the manifest's sha256"),
    ):
        file.write_text(content)
        refused = qpr("answer", "--index", index, "--certificate", tmp_path / "certificate", "pay")
        assert (refused.code, fault in refused.err) == (1, True)
    refused = qpr("answer", "--index", index, "--certificate", index, "pay")
    assert (refused.code, "holds an index, not a certificate" in refused.err) == (1, True)


def test_an_expired_certificate_abstains_and_warns_once(certify, qpr, index, tmp_path, monkeypatch):
    from model.certificates.certificate import Certificate

    assert certify(requests()).code == 0
    monkeypatch.setattr(Certificate, "is_expired", lambda *_: True)
    shown = qpr("answer", "--index", index, "--certificate", tmp_path / "certificate", "pay the bill 950", "pay it 940")
    assert shown.code == 0
    assert shown.out.count("no known answer (expired") == 2
    assert shown.err.count("has expired") == 1


def test_an_alarm_leaves_exact_questions_and_needs_later_requests(certify, qpr, index, tmp_path):
    digest = json.loads(certify(requests()).out)["digest"]
    folder = tmp_path / "certificate"
    audit = write_rows(tmp_path / "audit.jsonl", digest, ["wrong"] * 4)
    assert qpr("certify", "--certificate", folder, "--audit", audit).code == 0
    shown = qpr("answer", "--index", index, "--certificate", folder, "pay the bill 950", "pay it 940", "pay my bill")
    assert shown.out.count("no known answer (alarm") == 2
    assert shown.out.count("(exact)") == 1
    assert shown.err.count("audits raised the alarm") == 1
    yesterday = TODAY - datetime.timedelta(days=1)
    for given in ({"output": "certificate"}, {"output": "other"}):
        again = certify(requests(), "--log-until", yesterday, "--overwrite", **given)
        assert (again.code, "row 1: asked before the alarm" in again.err) == (1, True)
    assert not (tmp_path / "other").exists()


def test_a_certificate_of_which_the_index_cannot_remember_the_place_is_a_warning(certify, monkeypatch):
    error = QprError("index.certificates.json: Read-only file system. Free it")
    monkeypatch.setattr(certification, "remember", Mock(side_effect=error))
    result = certify(requests())
    assert result.code == 0
    assert "warning: index.certificates.json: Read-only file system" in result.err


def write_rows(path, digest, verdicts):
    rows = [
        {"request_id": str(number), "certificate": digest, "verdict": verdict, "labeller": "Ada"}
        for number, verdict in enumerate(verdicts)
    ]
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return path


def changed(place, **fields):
    rows = [*requests()]
    rows[place] |= fields
    return rows


@pytest.mark.parametrize(
    ("rows", "fault"),
    [
        pytest.param(requests(100), "About 50 further requests are missing", id="few"),
        pytest.param(
            requests(100),
            "30 of them choose the threshold, and 30 of these have a probability; at least 45 are needed. About 50",
            id="few that choose",
        ),
        pytest.param([], "has no request", id="none"),
        pytest.param(
            [row | {"verdict": "right"} for row in requests()], "none of 600 verdicts is wrong", id="no wrong"
        ),
        pytest.param([row | {"verdict": "wrong"} for row in requests()], "No number of further verdicts", id="all"),
        pytest.param(changed(4, verdict="yes"), "row 5: verdict 'yes' is none of right, wrong", id="label"),
        pytest.param(changed(4, verdict=""), "1 request, row 5: without a verdict", id="unjudged"),
        pytest.param(changed(4, asked_at="soon"), "row 5: asked_at is empty or no date", id="date"),
        pytest.param(changed(4, asked_at="2020-01-01"), "row 5: asked by the end of", id="old"),
        pytest.param([*requests(), *requests()], "the same request as another row", id="twice"),
        pytest.param(changed(4, labeller=" "), "row 5: judged without a labeller", id="labeller"),
        pytest.param(changed(4, question=" "), "row 5 has no question", id="question"),
        pytest.param(changed(4, probability="0.123"), "row 5, with another probability than this index", id="stale"),
        pytest.param(changed(4, probability="abc"), "row 5: probability 'abc' is no number from 0 to 1", id="text"),
        pytest.param(changed(4, probability="NaN"), "row 5: probability 'NaN' is no number from 0 to 1", id="NaN"),
        pytest.param(changed(4, probability="97"), "row 5: probability '97' is no number from 0 to 1", id="percent"),
        pytest.param(changed(4, answer_id="gone"), "row 5: without a verdict on the answer that this", id="changed"),
    ],
)
def test_a_file_that_shows_nothing_is_refused_and_nothing_is_written(certify, tmp_path, rows, fault):
    result = certify(rows)
    assert result.code == 1
    assert fault in result.err
    assert not (tmp_path / "certificate").exists()


def test_a_minimum_probability_that_no_request_has_is_named(certify):
    refused = certify(requests(), "--min-probability", 1, "--log-until", "2020-01-01")
    assert refused.code == 1
    assert "No number of further verdicts" in refused.err
    assert "with a lower --min-probability" in refused.err


def test_more_requests_after_a_failed_test_need_half_of_its_delta(certify, monkeypatch):
    rows = [row | ({"verdict": "wrong"} if number % 25 == 0 else {}) for number, row in enumerate(requests())]
    failed = certify(rows)
    assert failed.code == 1
    advice = re.search(r"About ([\d,]+) further requests are missing, if they turn out alike, (.*?): ", failed.err)
    assert advice, failed.err
    assert advice[2] == "for another try with --delta 0.05"
    monkeypatch.setattr(certification, "further_try", lambda promise: promise)
    [same] = re.findall(r"About ([\d,]+) further requests are missing, if they turn out alike\. ", certify(rows).err)
    assert int(advice[1].replace(",", "")) > int(same.replace(",", ""))


def test_requests_before_the_build_of_the_index_need_the_last_day_of_its_log(certify):
    yesterday = f"{TODAY - datetime.timedelta(days=1)}"
    rows = [row | {"asked_at": row["asked_at"].replace(f"{TODAY}", yesterday)} for row in requests()]
    refused = certify(rows, "--days", 5)
    assert refused.code == 1
    assert "when the index was made, so that the index may contain them" in refused.err
    assert certify(rows, "--log-until", "2020-01-01", "--days", 5).code == 0


def test_old_requests_give_no_new_life_to_a_certificate(certify):
    month = TODAY - datetime.timedelta(days=29)
    rows = [row | {"asked_at": row["asked_at"].replace(f"{TODAY}", f"{month}")} for row in requests()]
    certificate = json.loads(certify(rows, "--log-until", "2020-01-01").out)
    end = datetime.datetime.combine(month + datetime.timedelta(days=31), datetime.time(), datetime.UTC)
    assert datetime.datetime.fromisoformat(certificate["expires"]) == end
    refused = certify(rows, "--log-until", "2020-01-01", "--days", 7, output="later")
    assert refused.code == 1
    assert f"the last request is of {month}, more than 7 days ago. Judge requests of the last days" in refused.err


def test_an_index_that_changes_during_the_certification_is_refused(certify, monkeypatch, tmp_path):
    def changed_meanwhile(*given, **named):
        opened = open_searcher(*given, **named)
        return dataclasses.replace(opened, version=opened.version.model_copy(update={"index": "0" * 64}))

    monkeypatch.setattr(certification, "open_searcher", changed_meanwhile)
    result = certify(requests())
    assert (result.code, "the index changed during the run" in result.err) == (1, True)
    assert not (tmp_path / "certificate").exists()


def test_requests_below_the_minimum_probability_need_no_verdict(certify):
    rows = [row | ({"verdict": "", "labeller": ""} if "bill 3" in row["question"] else {}) for row in requests()]
    assert certify(rows).code == 1
    yesterday = TODAY - datetime.timedelta(days=1)
    kept = certify(rows, "--log-until", yesterday, "--min-probability", 0.4)
    assert (kept.code, json.loads(kept.out)["threshold"] >= 0.4) == (0, True)


def test_an_index_without_a_confidence_model_cannot_be_certified(certify):
    rows = [row | {"question": f"pay the bill {number} now"} for number, row in enumerate(requests())]
    result = certify(rows)
    assert (result.code, "has no confidence model" in result.err) == (1, True)
    assert (
        "as `qpr export` writes it, or from a dataset with at least 5 validation clusters and 100 quest" in result.err
    )


def test_answers_as_json_are_a_requests_file_once_they_are_judged(qpr, index, tmp_path):
    verdicts = {row["question"]: row for row in requests()}
    answers = [json.loads(line) for line in qpr("answer", "--index", index, "--json", *verdicts).out.splitlines()]
    hits = [answer["hit"] for answer in answers]
    assert [answer["answer_id"] for answer in answers] == [answer_key(None, hit["answer"]) for hit in hits]
    file = tmp_path / "judged.jsonl"
    fields = ("verdict", "asked_at", "labeller")
    judged = [row | {name: verdicts[row["question"]][name] for name in fields} for row in answers]
    file.write_text("".join(json.dumps(row) + "\n" for row in judged))
    given = ("--index", index, "--requests", file, "--output", tmp_path / "certificate")
    result = qpr("certify", *given, "--alpha", 0.05, "--delta", 0.1, "--log-until", TODAY - datetime.timedelta(days=1))
    assert (result.code, "minimum probability" in result.out) == (0, True), result.err
    again = qpr("certify", *given)
    assert (again.code, "--overwrite" in again.err) == (1, True)


def test_a_verdict_on_an_answer_whose_text_has_changed_is_none(certify):
    rows = [row | {"answer_id": answer_key(None, "what it was before")} for row in requests()]
    result = certify(rows, "--log-until", TODAY - datetime.timedelta(days=1))
    assert (result.code, "without a verdict on the answer that this index gives" in result.err) == (1, True), result.err


def test_the_options_belong_together(qpr):
    for options, fault in (
        ((), "give --index, --requests and --output, or --certificate, or --simulate"),
        (("--audit", "a.csv"), "--audit: needs --certificate"),
        (("--certificate", "c", "--index", "i"), "--certificate: shows a certificate in use"),
        (("--simulate", "--certificate", "c"), "--simulate: needs no --index"),
        (("--index", "i", "--requests", "r"), "give --index, --requests and --output"),
        (("--simulate", "--index", "i"), "--simulate: needs no --index"),
        (("--draws", 20, "--index", "i"), "belong to --simulate"),
        (("--alpha", 0), "--alpha"),
        (("--certificate", "c", "--alpha", 0.3), "--alpha: is of a certification and cannot be given with --cert"),
        (("--certificate", "c", "--probes", 3), "--probes: is of a certification"),
        (("--certificate", "c", "--overwrite"), "--overwrite: is of a certification"),
        (("--simulate", "--log-until", "2026-01-01"), "--log-until: is of a certification and cannot be given with"),
    ):
        result = qpr("certify", *options)
        assert (result.code, fault in result.err) == (2, True), options


def test_simulated_certificates_hold_and_naive_thresholds_do_not(qpr):
    result = qpr("certify", "--simulate", "--alpha", 0.05, "--delta", 0.1, "--draws", 100, "--sample", 400, "--json")
    rows = json.loads(result.out)["rows"]
    kept = {row["method"]: row["kept"] for row in rows if not re.search("at once|tries", row["traffic"])}
    assert kept == {"certificate": True, "naive threshold": False}
