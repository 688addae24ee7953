"""Bodies and parameters that do not fit: a status below 500 and one plain sentence."""

import gzip
import json

import pydantic
import pytest

from jobs.web.messages.bodies import asked_model, feedback_model
from jobs.web.messages.known_names import check_known, unknown_name
from jobs.web.review.app import Judged
from jobs.web.settings import Limits

JSON = {"Content-Type": "application/json"}


def post(client, content, path="/search", **headers):
    return client.post(path, content=content, headers=JSON | headers)


@pytest.mark.parametrize(("content", "status", "message"), [
    (b"", 400, "Invalid JSON"), (b"{", 400, "Invalid JSON"), (b"\xff", 400, "Invalid JSON"),
    (b'{"question": "\\ud800"}', 400, "Invalid JSON"),
    (b"[" * 100_000, 400, "JSON"),
    (b"[]", 422, "object"), (b"null", 422, "object"), (b'"x"', 422, "object"),
    (b"{}", 422, "either question or questions"),
    (b'{"question": "a", "questions": ["b"]}', 422, "either question or questions"),
    (b'{"question": 5}', 422, "question"), (b'{"question": null}', 422, "question"),
    (b'{"questions": "a"}', 422, "questions"), (b'{"questions": []}', 422, "questions"),
    (b'{"questions": ["a", 1]}', 422, "questions.1"),
    (b'{"question": "a", "limit": 3}', 422, "limit"),
    (b'{"question": "a", "k": 0}', 422, "greater than or equal to 1"),
    (b'{"question": "a", "k": -1}', 422, "k"),
    (b'{"question": "a", "k": 1000000000}', 422, "less than or equal to 100"),
    (b'{"question": "a", "k": "5"}', 422, "k"), (b'{"question": "a", "k": 2.5}', 422, "k"),
    (b'{"question": "a", "k": 1, "k": 2}', 422, "a name is given twice"),
    (b'{"question": "a", "question": "b"}', 422, "a name is given twice"),
    (b'{"question": "a", "\\u006b": 1, "k": 2}', 422, "a name is given twice"),
    (b'{"question": "a", "k": ' + b"9" * 4000 + b', "k": 2}', 422, "a name is given twice"),
    (b'{"question": "a", "k": true}', 422, "k"), (b'{"question": "a", "k": ' + b"9" * 5000 + b"}", 400, "JSON"),
])  # fmt: skip
def test_a_wrong_body_is_refused_with_a_sentence(start, content, status, message):
    response = post(start(), content)
    assert response.status_code == status, response.text
    assert list(response.json()) == ["error"]
    assert message in response.json()["error"]


@pytest.mark.parametrize("path", ["/search", "/answer"])
def test_questions_with_more_hits_together_than_one_response_may_have_are_refused(start, path):
    client = start(limits={"max_hits": 6})
    for k, status in ((2, 200), (3, 422)):
        response = client.post(path, json={"questions": ["a", "b", "c"], "k": k})
        assert response.status_code == status, response.text
    assert response.json()["error"] == "body: 3 questions with k 3 would have 9 hits, over the maximum of 6"
    assert client.post(path, json={"questions": ["a"] * 7}).status_code == (422 if path == "/search" else 200)
    assert client.post(path, json={"question": "a", "k": 7}).status_code == 422
    assert client.get("/search", params={"q": "a"}).status_code == 200
    assert client.get("/search", params={"q": "a", "k": 7}).json()["error"] == "k: has to be a number from 1 to 6"


def test_answers_with_all_their_hits_are_within_the_default_limits():
    model = asked_model(Limits(), (), of="answers")
    assert len(model.model_validate({"questions": ["a"] * 1000, "k": 20}).texts) == 1000
    with pytest.raises(pydantic.ValidationError, match="1,000 questions with k 100 would have 100,000 hits"):
        asked_model(Limits(), (), of="hits").model_validate({"questions": ["a"] * 1000, "k": 100})


def test_feedback_with_two_verdicts_is_refused(start):
    response = post(start(), b'{"question": "a", "right": false, "right": true}', path="/feedback")
    assert (response.status_code, response.json()["error"]) == (422, "body: a name is given twice")


@pytest.mark.parametrize("question", ["", " ", "?!", "😀", "a\0b", "\u202e", "x" * 2000, "ﷺ" * 111, "\n" * 50])
def test_any_text_is_a_question(start, question):
    client = start()
    for path in ("/search", "/answer"):
        response = client.post(path, json={"question": question})
        assert response.status_code == 200
        assert response.json()["results"][0]["question"] == question
    assert client.get("/search", params={"q": question}).status_code == 200


def test_a_whole_number_is_one_however_it_is_written(start):
    response = post(start(), b'{"question": "pay my bill", "k": 2.0}')
    assert len(response.json()["results"][0]["hits"]) == 2


def test_limits_of_lengths_and_numbers(start):
    client = start(limits={"max_characters": 10, "max_questions": 2, "max_k": 3})
    for body in ({"question": "x" * 11}, {"questions": ["a"] * 3}, {"question": "a", "k": 4}):
        assert client.post("/search", json=body).status_code == 422
    assert client.post("/search", json={"questions": ["x" * 10] * 2, "k": 3}).status_code == 200
    assert client.get("/search", params={"q": "x" * 11}).status_code == 422


def test_a_question_is_measured_as_it_is_searched(start):
    client, longer = start(), "ﷺ" * 112  # each becomes 18 characters by NFKC
    for response in (
        client.post("/search", json={"question": longer}),
        client.post("/answer", json={"questions": ["a", longer]}),
        client.get("/search", params={"q": longer}),
    ):
        assert response.status_code == 422
        assert "a question has at most 2,000 characters, also in Unicode's normal form NFKC" in response.json()["error"]
    for question in ("é" * 2000, "e\u0301" * 1000, "語" * 2000):
        assert client.post("/answer", json={"question": question}).status_code == 200


def test_a_large_body_is_refused_before_it_is_read(start):
    client = start(limits={"max_body_kb": 2})
    response = post(client, json.dumps({"question": "x" * 3000}).encode())
    assert (response.status_code, "send fewer or shorter texts" in response.json()["error"]) == (413, True)
    sent = []

    def endless():
        while len(sent) < 1000:
            sent.append(1)
            yield b"x" * 1000

    assert post(client, endless()).status_code == 413
    for length in ("-1", "x", "9" * 30):
        assert post(client, b"{}", **{"Content-Length": length}).status_code == 413


@pytest.mark.parametrize("kind", ["text/plain", "application/x-www-form-urlencoded", "multipart/form-data", ""])
def test_a_body_of_another_type_is_refused(start, kind):
    assert start().post("/answer", content=b'{"question": "a"}', headers={"Content-Type": kind}).status_code == 415


@pytest.mark.parametrize("query", [
    "", "q", "k=3", "q=a&k=0", "q=a&k=-1", "q=a&k=1000000000", "q=a&k=x", "q=a&k=1.0", "q=a&k=", "q=a&k=٣", "q=a&k=+1",
    "q=a&q=b", "q=a&limit=3", "q=a&" + "k=1&" * 2,
])  # fmt: skip
def test_a_wrong_query_is_refused(start, query):
    response = start().get(f"/search?{query}")
    if query == "q":  # an empty question
        assert response.status_code == 200
    else:
        assert response.status_code == 422
        assert list(response.json()) == ["error"]


@pytest.mark.parametrize("body", [
    {}, {"question": "a"}, {"question": "", "right": True}, {"question": "a", "right": 1},
    {"question": "a", "right": True, "question_id": 5}, {"question": "a", "right": True, "question_id": "x"},
    {"question": "a", "right": True, "user": "x"}, {"question": "a", "right": True, "comment": "x" * 3000},
])  # fmt: skip
def test_wrong_feedback_is_refused(start, body):
    assert start().post("/feedback", json=body).status_code == 422


def test_an_unknown_address_or_method_has_a_sentence_too(start):
    client = start()
    for response, status in (
        (client.get("/nothing"), 404),
        (client.put("/search"), 405),
        (client.post("/healthz"), 405),
    ):
        assert response.status_code == status
        assert list(response.json()) == ["error"]
    refused = client.put("/search")
    assert refused.headers["allow"] == "GET, HEAD, POST"
    assert refused.json() == {"error": "this address takes GET, HEAD, POST only"}
    assert client.get("/nothing").json() == {"error": "there is no such address"}


@pytest.mark.parametrize("path", ["/search/?q=a", "/docs/", "/questions/1/", "/healthz/"])
def test_an_address_with_a_slash_too_many_is_unknown_and_redirects_nowhere(start, path):
    assert start().get(path, follow_redirects=False).status_code == 404


@pytest.mark.parametrize("query", ["q=caf%E9", "q=%FF", "q=%ED%A0%80", "q=a&%FF=1", "q=a&k=%FF"])
def test_a_query_in_another_encoding_is_refused(start, query):
    response = start().get(f"/search?{query}")
    assert (response.status_code, response.json()) == (422, {"error": "a parameter is no UTF-8"})


def test_a_replacement_character_and_every_other_text_is_one(start):
    for text in ("\ufffd", "a\0b", "é#&=+ %E9", "\U0001f600"):
        [result] = start().get("/search", params={"q": text}).json()["results"]
        assert result["question"] == text


def test_a_compressed_body_is_refused_by_its_header(start):
    client = start()
    refused = post(client, gzip.compress(b'{"question": "a"}'), **{"Content-Encoding": "gzip"})
    assert (refused.status_code, refused.headers["accept-encoding"]) == (415, "identity")
    assert refused.json() == {"error": "send the body without compression"}
    assert post(client, b'{"question": "a"}', **{"Content-Encoding": "Identity"}).status_code == 200


def test_unknown_parameters_are_named_with_those_that_there_are(start):
    client = start()
    assert client.get("/search?q=a&x=1").json()["error"] == "unknown parameter 'x'; there are q, k and mode"
    assert client.get("/questions/1?x=1").json()["error"] == "unknown parameter 'x'; there is none"


MANY = {f"a{number}": 1 for number in range(1000)}


@pytest.mark.parametrize(
    ("model", "body", "message"),
    [
        (asked_model(Limits(), (), of="hits"), {"question": "a", **MANY}, "field 'a0'; there are question, questions"),
        (asked_model(Limits(), (), of="answers"), {"question": "a", **MANY}, "'a0'; there are question, questions"),
        (asked_model(Limits(), ("tenant",), of="answers"), {"question": "a", "filters": MANY}, "'a0'; there is tenant"),
        (feedback_model(Limits()), MANY, "unknown field 'a0'"),
        (Judged, MANY, "unknown field 'a0'"),
    ],
)
def test_of_many_unknown_names_one_is_described(model, body, message):
    with pytest.raises(pydantic.ValidationError, match=message) as refused:
        model.model_validate_json(json.dumps(body))
    assert refused.value.error_count() == 1  # each of them costs 3 µs, in which no other request is answered


def test_unknown_fields_are_named_with_those_that_there_are(start):
    refused = start().post("/answer", json={"question": "a", "text": "b", "filter": "c"})
    assert refused.status_code == 422
    assert refused.json()["error"] == "body: unknown field 'filter'; there are question, questions and k"


def of_1_mb(part, name="questions", ends="[]"):
    return f'{{"{name}": {ends[0]}{",".join([part] * (2**20 // (len(part) + 2)))}{ends[1]}}}'.encode()


@pytest.mark.parametrize(
    "content",
    [
        *(of_1_mb(part) for part in ("[]", '""', "{}", "1")),
        of_1_mb("[]", "question"),
        of_1_mb("[]", "text"),
        of_1_mb('"a":[]', "filters", "{}"),
        b'"' * 2**20,  # no JSON
    ],
)
def test_a_body_of_more_values_than_a_request_has_is_refused_before_it_is_read(start, monkeypatch, content):
    client = start()
    monkeypatch.setattr(pydantic.BaseModel, "model_validate_json", None)
    refused = post(client, content, path="/answer")
    assert refused.status_code == 422
    assert refused.json() == {"error": "body: has more than 1,100 values. Send fewer"}


@pytest.mark.parametrize("text", ["a, b, ", '",', "\\", '\\",', "\\\\\\", "é,\n"])
def test_commas_and_quotes_in_questions_are_no_values(start, text):
    questions = [text * 60] * 1000
    response = post(start(), json.dumps({"questions": questions, "k": 1}).encode())
    assert (response.status_code, len(response.json()["results"])) == (200, 1000)


@pytest.mark.parametrize(
    ("given", "known", "fault"),
    [
        ([], [], None),
        (["q"], ["q", "k"], None),
        (["b", "a"], [], "unknown field 'a'; there is none"),
        (["q", "x"], ["q"], "unknown field 'x'; there is q"),
        (["x"], ["q", "k"], "unknown field 'x'; there are q and k"),
        (["x"], ["q", "k", "mode"], "unknown field 'x'; there are q, k and mode"),
        (["ä" + "x" * 80], ["q"], f"unknown field '\\xe4{'x' * 59}'; there is q"),
    ],
)
def test_the_smallest_unknown_name_is_shown_with_those_that_there_are(given, known, fault):
    assert unknown_name(given, known, "field") == fault
    named = dict.fromkeys(given)
    if fault is None:
        assert check_known(named, known, "field") is named
    else:
        with pytest.raises(ValueError, match="unknown field"):
            check_known(named, known, "field")
    assert check_known(given, known, "field") is given  # pydantic refuses what is no object
