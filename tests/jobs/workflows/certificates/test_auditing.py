"""Verdicts on given answers, added to the monitor of a certificate by `qpr certify --audit`."""

import json

import pytest

from tests.support.certificates import stored_certificate

OTHER = "9" * 64


@pytest.fixture
def stored(tmp_path):
    return tmp_path / "certificate", stored_certificate(tmp_path / "certificate")


@pytest.fixture
def audit(qpr, stored, tmp_path):
    """Return a function that adds verdicts of a file to the monitor and returns the result."""
    folder, digest = stored

    def run(*verdicts, **fields):
        rows = [
            {"request_id": str(number), "certificate": digest, "verdict": verdict, "labeller": "Ada"} | fields
            for number, verdict in enumerate(verdicts)
        ]
        (tmp_path / "audit.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
        return qpr("certify", "--certificate", folder, "--audit", tmp_path / "audit.jsonl", "--json")

    return run


def monitor(result):
    assert result.code == 0, result.err
    return json.loads(result.out)["monitor"]


def test_verdicts_count_once_and_undecided_ones_are_wrong(audit):
    first = monitor(audit("right", "wrong", "unclear", ""))
    assert (first["audits"], first["wrong"], first["alarm"]) == (3, 2, False)
    again = audit("right", "wrong", "unclear", "right")
    assert monitor(again) | {"evidence": 0, "highest": 0} == first | {"audits": 4, "evidence": 0, "highest": 0}
    assert "without a verdict" not in again.err


def test_a_verdict_that_contradicts_a_counted_one_is_refused_and_the_others_do_not_count(audit, stored):
    monitor(audit("right", "right", "wrong"))
    state = stored[0].with_name("certificate.monitor.json")
    before = state.read_bytes()
    for verdicts in (("right", "wrong", "wrong", "right"), ("right", "right", "right", "right")):
        result = audit(*verdicts)
        assert result.code == 1
        assert "audit.jsonl: request_id '" in result.err
        assert "was counted as" in result.err
        assert state.read_bytes() == before
    again = audit("right", "right", "unclear", "right")
    assert "audit.jsonl: 3 verdicts counted already, 1 added" in again.err
    assert monitor(again)["audits"] == 4


def test_an_answer_without_a_verdict_is_reported(audit):
    assert "2 answers without a verdict. Judge all of them" in audit("right", "", "").err


def test_too_many_wrong_answers_raise_the_alarm_for_good(audit, qpr, stored, wide_tables):
    result = audit(*["right"] * 20, *["wrong"] * 5)
    assert monitor(result)["alarm"]
    assert "alarm: only questions of the index itself are answered" in result.err
    audit(*["right"] * 20, *["wrong"] * 5, *["right"] * 500)
    shown = qpr("certify", "--certificate", stored[0])
    assert shown.code == 0
    assert "alarm" in shown.out
    assert "since 20" in shown.out


def test_a_file_sorted_by_verdict_raises_no_alarm(qpr, stored, tmp_path):
    folder, digest = stored
    rows = [f"{number:03},{'right' if number % 50 else 'wrong'},Ada,{digest}" for number in range(1, 201)]
    states = []
    for order in (rows, sorted(rows, key=lambda row: "wrong" not in row)):
        (tmp_path / "audit.csv").write_text("\n".join(["request_id,verdict,labeller,certificate", *order]))
        states.append(monitor(qpr("certify", "--certificate", folder, "--audit", tmp_path / "audit.csv", "--json")))
        folder.with_name("certificate.monitor.json").unlink()
    assert states[0] == states[1]
    assert (states[0]["audits"], states[0]["wrong"], states[0]["alarm"]) == (200, 4, False)


def test_a_certificate_in_use_is_shown_without_audits_too(qpr, stored, wide_tables):
    shown = qpr("certify", "--certificate", stored[0])
    assert shown.code == 0
    for text in (
        "at most 2 % wrong with",
        "minimum probability",
        "upper bound",
        "audited answers",
        "1 (alarm at 100)",
        "none",
    ):
        assert text in shown.out


@pytest.mark.parametrize(
    ("fields", "fault"),
    [
        ({"labeller": " "}, "row 1 has a verdict and no labeller"),
        ({"request_id": ""}, "row 1 has a verdict and no request_id"),
        ({"certificate": OTHER}, "has no answer of certificate"),
        ({"verdict": "yes"}, "row 1: verdict 'yes' is none of right"),
        ({"request_id": "x"}, "row 2 contradicts another one with request_id 'x'. Correct one of them"),
    ],
)
def test_rows_that_are_no_verdicts_are_refused_and_nothing_counts(audit, stored, fields, fault):
    result = audit("right", "wrong", **fields)
    assert (result.code, fault in result.err) == (1, True), result.err
    assert not stored[0].with_name("certificate.monitor.json").exists()


def test_a_file_without_the_columns_or_no_certificate_is_refused(qpr, stored, tmp_path):
    (tmp_path / "audit.csv").write_text("question,verdict\nx,right\n")
    result = qpr("certify", "--certificate", stored[0], "--audit", tmp_path / "audit.csv")
    assert (result.code, "request_id" in result.err) == (1, True)
    result = qpr("certify", "--certificate", tmp_path / "none", "--audit", tmp_path / "audit.csv")
    assert (result.code, "none" in result.err) == (1, True)
