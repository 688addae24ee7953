"""Audits of a served certificate: the sample, verdicts over HTTP and from a file, and the alarm."""

import copy
import dataclasses
import datetime
import json
import os
import threading
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from unittest.mock import Mock

import pytest

from jobs.web.audit_sample import AuditSample
from jobs.web.versions.leases import Version
from model.certificates.certificate import load_certificate
from model.certificates.evidence import AuditVerdict
from model.certificates.monitor import monitor_url, read_monitor, record
from model.search.results import Answer
from schemas.errors import QprError
from schemas.text import question_id
from tests.support.certificates import stored_certificate
from tests.support.waiting import wait_until


@pytest.fixture
def certified(start, tmp_path, monkeypatch):
    """Return a function that starts a server with a certificate, which permits each answer that is not exact."""
    url = str(tmp_path / "certificate")
    stored_certificate(url)
    monkeypatch.setattr("jobs.web.auditing.WATCH_S", 0.02)

    def started(**settings):
        from tests.jobs.web.conftest import make_version

        version: Version = make_version()
        searcher, loaded = version.searcher, load_certificate(url)
        searcher.certificate = loaded

        def answer(question, hits):
            plain = type(searcher)._answer(question, hits)
            if plain.reason != "no_certificate":
                return plain
            return Answer(question, True, "certified", plain.hit, loaded.digest)

        searcher._answer = answer
        return start(version=version, **settings)

    started.url = url
    return started


def reasons(client, *questions):
    response = client.post("/answer", json={"questions": list(questions)})
    return [(row["answered"], row["reason"]) for row in response.json()["results"]]


def end_of_day(client, tmp_path):
    """End the day of the sample, and return the ids that were drawn."""
    sample = client.service.auditing.sample
    sample._now = lambda: datetime.datetime.now(datetime.UTC) + datetime.timedelta(days=1)
    client.service.auditing._save()
    return [json.loads(line) for line in (tmp_path / "state/audit.jsonl").read_text().splitlines()]


def refresh(client):
    client.portal.call(client.service.auditing.refresh)


def shown(client, name):
    [line] = [line for line in client.get("/metrics").text.splitlines() if line.startswith(f"{name} ")]
    return float(line.split()[1])


def judge(client, name, *, right):
    return client.post("/feedback", json={"question": "pay a bill", "right": right, "audit_id": name})


def test_drawn_answers_have_the_values_of_their_requests(certified, tmp_path):
    client = certified(audits=3)
    hit = {"text": "pay a bill", "answer_id": "7"}
    row = {"reason": "certified", "question": "pay", "answer": "Online.", "certificate": "c", "hit": hit}
    client.service.auditing.offer([row], "version", {"tenant": "acme"})
    [drawn] = end_of_day(client, tmp_path)
    assert (drawn["tenant"], drawn["question"], drawn["verdict"]) == ("acme", "pay", "")
    assert (drawn["found"], drawn["answer"], drawn["answer_id"], drawn["labeller"]) == (
        "pay a bill",
        "Online.",
        "7",
        "",
    )
    assert drawn["filters"] == {"tenant": "acme"}


def test_values_of_columns_with_the_names_of_fields_replace_none_of_them(certified):
    client = certified(audits=3)
    hit = {"text": "pay a bill", "answer_id": "7"}
    row = {"reason": "certified", "question": "pay", "answer": "Online.", "certificate": "c", "hit": hit}
    filters = {"request_id": "r", "certificate": "gold", "version": "11", "verdict": "right"}
    client.service.auditing.offer([row], "one", filters)
    client.service.auditing.sample.save()
    restarted = AuditSample(client.service.state.folder, 3)
    restarted._now = lambda: datetime.datetime.now(datetime.UTC) + datetime.timedelta(days=1)
    assert restarted.save() == 1
    [drawn] = map(json.loads, (client.service.state.folder / "audit.jsonl").read_text().splitlines())
    assert drawn["filters"] == filters
    assert (drawn["certificate"], drawn["version"], drawn["verdict"]) == ("c", "one", "")
    assert restarted.certificate_of(drawn["request_id"]) == "c"
    assert next(iter(drawn)) == "request_id"
    assert drawn["request_id"] != "r"


def test_certified_answers_are_drawn_without_a_hint_at_their_probability(certified, tmp_path):
    client = certified(audits=3)
    questions = ["pay a bill", "pay my bill", "cancel the flight", "unheard"]
    assert [reason for _, reason in reasons(client, *questions)] == ["certified", "exact", "certified", "no_hit"]
    rows = end_of_day(client, tmp_path)
    assert sorted(row["question"] for row in rows) == ["cancel the flight", "pay a bill"]
    assert {row["certificate"] for row in rows} == {load_certificate(certified.url).digest}
    assert not any("probability" in key for row in rows for key in row)
    assert {row["verdict"] for row in rows} == {""}


def test_wrong_answers_raise_an_alarm_that_leaves_exact_questions(certified, tmp_path):
    client = certified(audits=10)
    reasons(client, *["pay a bill"] * 6)
    for row in end_of_day(client, tmp_path)[:4]:
        assert judge(client, row["request_id"], right=False).json() == {"kept": True}
    expected = [(False, "alarm"), (True, "exact"), (False, "no_hit")]
    assert reasons(client, "pay a bill", "pay my bill", "unheard") == expected
    [row] = client.post("/answer", json={"question": "pay a bill"}).json()["results"]
    assert (row["answer"], row["certificate"]) == (None, None)
    assert (shown(client, "qpr_alarm"), shown(client, "qpr_audited_wrong")) == (1, 4)
    assert shown(client, "qpr_alarm_evidence") >= 100
    assert reasons(certified(), "pay a bill") == [(False, "alarm")]


def test_a_look_that_began_before_a_verdict_does_not_hide_its_alarm(certified, tmp_path, monkeypatch):
    monkeypatch.setattr("jobs.web.auditing.WATCH_S", 1e6)
    client = certified(audits=10)
    reasons(client, *["pay a bill"] * 6)
    *rows, last = end_of_day(client, tmp_path)[:4]
    for row in rows:
        judge(client, row["request_id"], right=False)
    has_read, done = threading.Event(), threading.Event()

    def read_slowly(loaded):
        monitor = read_monitor(loaded)
        if not has_read.is_set():
            has_read.set()
            done.wait(0.5)  # the verdict is done, or waits for this look
        return monitor

    monkeypatch.setattr("jobs.web.auditing.read_monitor", read_slowly)
    with ThreadPoolExecutor(1) as pool:
        pool.submit(refresh, client)
        assert has_read.wait(10)
        judge(client, last["request_id"], right=False)
        done.set()
    assert (shown(client, "qpr_alarm"), shown(client, "qpr_audited_wrong")) == (1, 4)


def test_right_answers_raise_none_and_each_counts_once(certified, tmp_path):
    client = certified(audits=50)
    reasons(client, *["pay a bill"] * 50)
    names = [row["request_id"] for row in end_of_day(client, tmp_path)]
    assert {judge(client, name, right=True).status_code for name in names} == {200}
    again = judge(client, names[0], right=False)
    assert (again.status_code, again.json()) == (409, {"error": "the answer has been judged"})
    assert reasons(client, "pay a bill") == [(True, "certified")]
    assert (shown(client, "qpr_audited_answers"), shown(client, "qpr_audited_wrong")) == (50, 0)
    assert shown(client, "qpr_audits_drawn_total") == 50
    assert shown(client, "qpr_alarm_evidence") < 1  # though at its highest it was 1
    kept = (tmp_path / "state/feedback.jsonl").read_text().splitlines()
    assert len(kept) == 50


def test_an_alarm_by_a_verdict_file_reaches_the_server(certified, capsys):
    client = certified()
    assert reasons(client, "pay a bill") == [(True, "certified")]
    given = load_certificate(certified.url)
    wrong = [AuditVerdict(str(number), True, given.digest) for number in range(5)]
    record(given, wrong, now=datetime.datetime.now(datetime.UTC))
    until = datetime.datetime.now() + datetime.timedelta(seconds=20)
    while reasons(client, "pay a bill") != [(False, "alarm")]:
        assert datetime.datetime.now() < until
    assert capsys.readouterr().err.count("only questions of the index itself are answered") == 1


def test_a_damaged_monitor_is_reported_and_the_state_before_it_stays(certified, capsys):
    client = certified()
    with open(monitor_url(certified.url, 0.02), "w") as file:
        file.write("{")
    refresh(client)
    refresh(client)
    assert capsys.readouterr().err.count("monitor.json: damaged") == 1
    assert reasons(client, "pay a bill") == [(True, "certified")]


def test_verdicts_on_nothing_drawn_are_refused(certified, start, tmp_path):
    client = certified()
    reasons(client, "pay a bill")
    assert judge(client, "0" * 32, right=True).status_code == 404
    assert judge(client, "x", right=True).status_code == 422
    [row] = end_of_day(client, tmp_path)
    stored_certificate(certified.url, delta=0.05, labelled_digest="4" * 64)
    assert judge(certified(), row["request_id"], right=True).json() == {
        "error": "the answer was given under a certificate with another promise, or before an alarm"
    }
    after_a_rollback = judge(start(), row["request_id"], right=True)
    assert after_a_rollback.status_code == 409
    assert "served version has no certificate; count it by `qpr certify" in after_a_rollback.json()["error"]
    assert not (tmp_path / "state/feedback.jsonl").exists()
    assert judge(start(state=False), "0" * 32, right=True).status_code == 409


def test_a_verdict_on_an_answer_of_the_certificate_before_counts_for_the_same_promise(certified, tmp_path):
    before = load_certificate(certified.url)
    record(before, [], now=datetime.datetime.now(datetime.UTC))  # as `qpr certify` does
    client = certified(audits=10)
    reasons(client, *["pay a bill"] * 6)
    rows = end_of_day(client, tmp_path)
    stored_certificate(certified.url, delta=0.05, labelled_digest="4" * 64)
    client = certified()
    assert [judge(client, row["request_id"], right=False).status_code for row in rows[:3]] == [200] * 3
    assert judge(client, rows[0]["request_id"], right=False).json() == {"error": "the answer has been judged"}
    assert (shown(client, "qpr_alarm"), shown(client, "qpr_audited_wrong")) == (1, 3)
    assert reasons(client, "pay a bill") == [(False, "alarm")]
    stored_certificate(
        certified.url,
        created=datetime.datetime.now(datetime.UTC) + datetime.timedelta(hours=1),
        expires=datetime.datetime.now(datetime.UTC) + datetime.timedelta(days=1),
    )
    client = certified()
    assert reasons(client, "pay a bill") == [(True, "certified")]
    assert judge(client, rows[3]["request_id"], right=False).status_code == 409


def test_a_verdict_that_cannot_be_kept_is_not_counted(certified, tmp_path, monkeypatch):
    client, feedback = certified(audits=3), tmp_path / "state/feedback.jsonl"
    reasons(client, "pay a bill", "cancel the flight")
    name = end_of_day(client, tmp_path)[0]["request_id"]
    feedback.mkdir()
    assert judge(client, name, right=False).status_code == 503
    feedback.rmdir()
    feedback.write_bytes(b"x" * 20)
    monkeypatch.setattr("jobs.web.state.MOST_FEEDBACK", 10)
    assert judge(client, name, right=False).json() == {"error": "the file of feedback is full; move it away"}
    assert (shown(client, "qpr_audited_answers"), shown(client, "qpr_alarm_evidence")) == (0, 1)
    feedback.unlink()
    assert judge(client, name, right=False).status_code == 200
    assert shown(client, "qpr_audited_wrong") == 1
    assert [json.loads(line)["audit_id"] for line in feedback.read_text().splitlines()] == [name]


def test_a_verdict_that_cannot_be_counted_is_not_kept(certified, tmp_path, capsys):
    client, feedback, monitor = certified(audits=3), tmp_path / "state/feedback.jsonl", monitor_url(certified.url, 0.02)
    reasons(client, "pay a bill", "cancel the flight")
    first, second = (row["request_id"] for row in end_of_day(client, tmp_path))
    assert judge(client, first, right=True).status_code == 200
    kept, counted = feedback.read_text(), Path(monitor).read_text()
    with open(monitor, "w") as file:
        file.write("{")
    response = judge(client, second, right=False)
    assert response.status_code == 503
    assert f"{monitor}: damaged" in response.json()["error"]
    assert f"error: {monitor}: damaged" in capsys.readouterr().err
    assert feedback.read_text() == kept
    with open(monitor, "w") as file:
        file.write(counted)
    assert judge(client, second, right=False).status_code == 200
    assert len(feedback.read_text().splitlines()) == 2


def test_a_verdict_of_which_the_monitor_cannot_be_written_is_not_kept(certified, tmp_path, monkeypatch):
    client, feedback = certified(audits=3), tmp_path / "state/feedback.jsonl"
    reasons(client, "pay a bill")
    [row] = end_of_day(client, tmp_path)
    fail = Mock(side_effect=QprError("monitor: No space left on device. Free some space"))
    with monkeypatch.context() as patched:
        patched.setattr("jobs.web.auditing.record", fail)
        response = judge(client, row["request_id"], right=False)
    assert (response.status_code, "Free some space" in response.json()["error"]) == (503, True)
    assert feedback.read_text() == ""
    assert judge(client, row["request_id"], right=False).status_code == 200


def test_of_equal_verdicts_at_once_one_is_counted_and_kept(certified, tmp_path):
    client = certified(audits=3)
    reasons(client, "pay a bill")
    [row] = end_of_day(client, tmp_path)
    with ThreadPoolExecutor(4) as pool:
        responses = [*pool.map(lambda _: judge(client, row["request_id"], right=True).status_code, range(4))]
    assert sorted(responses) == [200, 409, 409, 409]
    assert len((tmp_path / "state/feedback.jsonl").read_text().splitlines()) == 1


@pytest.fixture
def slow_store(monkeypatch):
    """Return an event that the store of the monitor waits for when a verdict is counted, and one of a first verdict."""
    released, has_begun = threading.Event(), threading.Event()

    def record_slowly(*given, **named):
        has_begun.set()
        assert released.wait(20)
        return record(*given, **named)

    monkeypatch.setattr("jobs.web.auditing.record", record_slowly)
    return released, has_begun


def test_feedback_blocks_and_look_ups_do_not_wait_for_audits_on_a_slow_store(certified, tmp_path, slow_store):
    released, has_begun = slow_store
    client = certified(audits=50, limits={"timeout": 60})
    reasons(client, *["pay a bill"] * 50)
    names = [row["request_id"] for row in end_of_day(client, tmp_path)]
    with ThreadPoolExecutor(60) as pool:  # more audits than the threads of an event loop
        audits = [pool.submit(judge, client, name, right=True) for name in names]
        try:
            assert has_begun.wait(20)
            others = [
                pool.submit(client.post, "/feedback", json={"question": "plain", "right": True}),
                pool.submit(client.delete, "/answers/pay"),
                pool.submit(client.get, f"/questions/{question_id('pay my bill')}"),
            ]
            assert [other.result(10).status_code for other in others] == [200] * 3
            assert not any(audit.done() for audit in audits)
        finally:
            released.set()
    assert {audit.result().status_code for audit in audits} == {200}
    rows = [json.loads(line) for line in (tmp_path / "state/feedback.jsonl").read_text().splitlines()]
    assert sorted(row["audit_id"] or "" for row in rows) == sorted(["", *names])


def test_a_verdict_that_cannot_be_counted_leaves_the_feedback_that_came_meanwhile(
    certified, tmp_path, slow_store, monkeypatch
):
    released, has_begun = slow_store
    client, feedback = certified(audits=3), tmp_path / "state/feedback.jsonl"
    reasons(client, "pay a bill")
    [drawn] = end_of_day(client, tmp_path)
    fail = Mock(side_effect=QprError("monitor: No space left on device. Free some space"))
    monkeypatch.setattr(f"{__name__}.record", fail)
    with ThreadPoolExecutor(1) as pool:
        audit = pool.submit(judge, client, drawn["request_id"], right=False)
        try:
            assert has_begun.wait(20)
            plain = client.post("/feedback", json={"question": "plain", "right": True})
            rows = [json.loads(line)["audit_id"] for line in feedback.read_text().splitlines()]
        finally:
            released.set()
    assert (audit.result().status_code, plain.status_code) == (503, 200)
    assert rows == [drawn["request_id"], None]  # kept before it is counted: a killed server loses no counted verdict
    assert [json.loads(line)["question"] for line in feedback.read_text().splitlines()] == ["plain"]
    assert (shown(client, "qpr_audited_answers"), shown(client, "qpr_alarm_evidence")) == (0, 1)


def test_the_alarm_of_a_version_holds_for_requests_that_began_on_it(certified, tmp_path):
    client = certified(audits=10)
    reasons(client, *["pay a bill"] * 6)
    for row in end_of_day(client, tmp_path)[:4]:
        judge(client, row["request_id"], right=False)
    service = client.service
    old, loaded = service.versions.current, service.versions.current.certificate
    new = dataclasses.replace(old, name="new", searcher=copy.copy(old.searcher))
    later = datetime.datetime.now(datetime.UTC) + datetime.timedelta(seconds=1)
    made_later = loaded.certificate.model_copy(update={"created": later})
    new.searcher.certificate = loaded._replace(digest="9" * 64, certificate=made_later)
    old.searcher.gate.clear()
    count = len(old.searcher.calls)
    with ThreadPoolExecutor(1) as pool:
        response = pool.submit(reasons, client, *["pay a bill"] * 5)
        wait_until(lambda: len(old.searcher.calls) > count)
        service.swap(new)
        old.searcher.gate.set()
    assert response.result() == [(False, "alarm")] * 5
    assert reasons(client, "pay a bill") == [(True, "certified")]


def test_a_fault_that_returns_is_reported_again_and_a_full_disk_does_not_hide_an_alarm(certified, capsys):
    client, monitor = certified(), monitor_url(certified.url, 0.02)
    auditing = client.service.auditing
    for _ in range(2):
        with open(monitor, "w") as file:
            file.write("{")
        refresh(client)
        refresh(client)
        assert capsys.readouterr().err.count("monitor.json: damaged") == 1
        os.unlink(monitor)
        refresh(client)
    auditing.sample.save = Mock(side_effect=OSError("No space left on device"))
    given = load_certificate(certified.url)
    wrong = [AuditVerdict(str(number), True, given.digest) for number in range(5)]
    record(given, wrong, now=datetime.datetime.now(datetime.UTC))
    refresh(client)
    assert reasons(client, "pay a bill") == [(False, "alarm")]
    assert capsys.readouterr().err.count("No space left") == 1
    auditing.sample.save = lambda: 1 / 0
    refresh(client)
    assert capsys.readouterr().err.count("audits: ZeroDivisionError. This is a defect") == 1


def test_without_audits_nothing_is_drawn(certified, tmp_path):
    client = certified(audits=0)
    reasons(client, "pay a bill")
    refresh(client)
    assert not list((tmp_path / "state").glob("audit*"))
