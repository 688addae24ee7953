import datetime
import itertools

import pytest

from model.certificates.requests import Request, check_requests, check_verdicts, labelled_digest, read_verdict
from schemas.errors import QprError

DAY = datetime.datetime(2026, 10, 1, tzinfo=datetime.UTC)
NOW = DAY + datetime.timedelta(days=40)
HOUR = datetime.timedelta(hours=1)


def request(row, **fields):
    given = {"question": f"question {row}", "asked_at": DAY + row * HOUR, "verdict": "right", "labeller": "Ada"}
    return Request(row, **(given | fields))


def check(*requests, made=DAY, log_until=None):
    check_requests("requests.csv", requests, made=made, log_until=log_until, now=NOW)


def test_a_sample_of_later_requests_passes_and_questions_may_repeat():
    check(request(0), request(2, question="question 0"), request(3, verdict=None, labeller=None))
    check(request(1, request_id="a"), request(1, request_id="b"))


@pytest.mark.parametrize(
    ("requests", "fault"),
    [
        pytest.param([request(1), request(2, asked_at=DAY - HOUR)], "row 2: asked before 2026-10-01", id="older"),
        pytest.param([request(1, asked_at=NOW + 30 * HOUR)], "row 1: asked in the future", id="future"),
        pytest.param(
            [request(1), request(2), request(3, question="question 1", asked_at=DAY + HOUR)],
            "rows 1 and 3: the same request",
            id="repeated",
        ),
        pytest.param(
            [request(1, request_id="a"), request(2, request_id="a")], "rows 1 and 2: the same request", id="same id"
        ),
        pytest.param([request(1, labeller="")], "row 1: judged without a labeller", id="nobody"),
        pytest.param(
            [request(1), request(2, question="question 1", verdict="unclear")],
            "rows 1 and 2 contradict each other about one question: right, unclear",
            id="contradiction",
        ),
    ],
)
def test_what_is_no_sample_of_later_traffic_is_refused(requests, fault):
    with pytest.raises(QprError, match=r"^requests\.csv: ") as refused:
        check(*requests)
    assert fault in str(refused.value)


def test_the_last_day_of_the_log_decides_where_it_is_given_and_is_named_as_the_cause():
    requests = [request(row, asked_at=DAY + (23 + row) * HOUR) for row in (0, 1)]
    check(*requests, made=NOW, log_until=DAY.date() - datetime.timedelta(days=1))
    with pytest.raises(QprError, match=r"row 0: asked by the end of 2026-10-01 \(UTC\), .* by --log-until") as refused:
        check(*requests, made=NOW, log_until=DAY.date())
    assert "when the index was made" not in str(refused.value)
    check(*requests, made=None)


def test_a_long_list_of_rows_is_shortened():
    with pytest.raises(QprError, match="rows 1, 2, 3, 4, 5 and 1,995 more: asked before"):
        check(*(request(row, asked_at=DAY) for row in range(1, 2_001)), made=NOW)


def test_all_requests_from_the_lowest_probability_on_need_a_verdict():
    missing = [request(row, verdict=None) for row in (7, 3)]
    with pytest.raises(QprError, match=r"2 requests, rows 3 and 7: without a verdict .* at least 0\.4"):
        check_verdicts("requests.csv", [request(1, verdict="wrong")], missing, lowest=0.4)


def test_a_file_without_a_wrong_answer_is_suspicious():
    judged = [request(1), request(2, verdict="unclear")]
    with pytest.raises(QprError, match=r"none of 2 verdicts is wrong\. .* Draw requests at random"):
        check_verdicts("requests.csv", judged, [], lowest=0)
    check_verdicts("requests.csv", [*judged, request(3, verdict="wrong")], [], lowest=0)


@pytest.mark.parametrize(
    ("text", "verdict"),
    [
        ("right", "right"),
        (" Wrong ", "wrong"),
        ("UNCLEAR", "unclear"),
        ("cannot  tell", "unclear"),
        (" ", None),
    ],
)
def test_verdicts_are_read_in_any_case(text, verdict):
    assert read_verdict(text) == verdict


@pytest.mark.parametrize("text", ["ok", "1", "right wrong", "yes"])
def test_other_verdicts_are_unknown(text):
    with pytest.raises(ValueError, match=r"is none of right, wrong, unclear$"):
        read_verdict(text)


def test_the_digest_is_of_the_verdicts_in_any_order():
    rows = [request(row) for row in range(1, 4)]
    digests = {labelled_digest(order) for order in itertools.permutations(rows)}
    assert len(digests) == 1
    assert labelled_digest([*rows[:2], rows[2]._replace(verdict="wrong")]) not in digests
    assert labelled_digest([*rows[:2], rows[2]._replace(labeller="Bob")]) not in digests
    assert labelled_digest([*rows[:2], rows[2]._replace(row=99)]) in digests
