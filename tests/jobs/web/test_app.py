"""Requests and responses of the application on a few questions."""

import html
import json
import re
import threading
import urllib.parse
from concurrent.futures import ThreadPoolExecutor
from typing import get_args

import pytest

from jobs.web import state
from jobs.web.metrics import Cause
from jobs.web.versions.leases import Canary
from model.guards.registry import GUARDS
from model.search.results import Reason
from schemas.text import fold, hash64, question_id
from tests.jobs.web.conftest import FakeSearcher, make_version, row
from tests.support.waiting import wait_until


def hits(response):
    assert response.status_code == 200, response.text
    return [[hit["text"] for hit in result["hits"]] for result in response.json()["results"]]


def test_a_search_returns_hits_with_their_reasons_and_text_ids(start):
    client = start()
    found = client.get("/search", params={"q": "pay my bill", "k": 2}).json()
    assert found["version"] == "one"
    [result] = found["results"]
    assert result["question"] == "pay my bill"
    assert [hit["rank"] for hit in result["hits"]] == [1, 2]
    first = result["hits"][0]
    assert first["question_id"] == str(question_id("pay my bill"))
    assert (first["answer"], first["answer_id"], first["cluster_id"]) == ("in the app", "pay", "7")
    assert first["why"] == {
        "shared_words": [], "dense_rank": 1, "lexical_rank": None, "contributions": {}, "guard": None,
    }  # fmt: skip


def test_a_search_can_name_another_mode_of_the_index(start):
    client = start()
    searcher = client.service.versions.current.searcher
    assert client.get("/search", params={"q": "pay", "mode": "bm25"}).status_code == 200
    assert searcher.mode == "bm25"
    assert client.post("/search", json={"question": "pay", "mode": "dense"}).status_code == 200
    assert searcher.mode == "dense"
    for response in (
        client.get("/search", params={"q": "pay", "mode": "fusion"}),
        client.post("/search", json={"question": "pay", "mode": "fusion"}),
    ):
        assert (response.status_code, response.json()) == (
            422,
            {"error": "mode: this server has dense, bm25; --mode opens others"},
        )
    assert client.get("/search", params={"q": "pay", "mode": "x"}).status_code == 422
    assert client.post("/answer", json={"question": "pay", "mode": "dense"}).status_code == 422


def test_several_questions_are_one_request_and_equal_single_ones(start):
    client = start()
    questions = ["pay my bill", "cancel flight", "nothing known", ""] * 40
    together = hits(client.post("/search", json={"questions": questions, "k": 3}))
    alone = [hits(client.post("/search", json={"question": question, "k": 3}))[0] for question in questions[:4]]
    assert together == alone * 40
    assert max(map(len, client.service.versions.current.searcher.calls)) <= 64


def test_an_answer_or_an_abstention_has_its_reason(start):
    response = start().post("/answer", json={"questions": ["Pay my bill?", "pay the bill", "unheard"]})
    answered = response.json()["results"]
    assert [(row["answered"], row["reason"], row["answer"]) for row in answered] == [
        (True, "exact", "in the app"), (False, "no_certificate", None), (False, "no_hit", None),
    ]  # fmt: skip
    assert [row["hit"] and row["hit"]["text"] for row in answered][2] is None


def test_a_question_of_the_index_does_not_wait_for_searches(start):
    client = start()
    searcher = client.service.versions.current.searcher
    searcher.gate.clear()
    answer = client.post("/answer", json={"question": "Pay my bill?"}).json()["results"][0]
    searcher.gate.set()
    assert (answer["reason"], answer["answer"], searcher.calls) == ("exact", "in the app", [])


def test_an_answer_comes_with_hits_of_the_same_search(start):
    client = start()
    calls = client.service.versions.current.searcher.calls
    [row] = client.post("/answer", json={"question": "pay my bill", "k": 3}).json()["results"]
    assert len(calls) == 1
    assert (row["reason"], row["hits"][0]["text"]) == ("exact", "pay my bill")
    [found] = client.post("/search", json={"question": "pay my bill", "k": 3}).json()["results"]
    assert row["hits"] == found["hits"]
    assert "hits" not in client.post("/answer", json={"question": "pay my bill"}).json()["results"][0]
    client.delete("/answers/pay")
    [row] = client.post("/answer", json={"question": "pay my bill", "k": 3}).json()["results"]
    assert "pay" not in {hit["answer_id"] for hit in row["hits"]}
    for k in (-1, 21, 10**9, "3", 1.5):
        assert client.post("/answer", json={"question": "pay", "k": k}).status_code == 422


def test_a_question_and_a_cluster_are_found_by_their_ids(start):
    client = start()
    found = client.get(f"/questions/{question_id('change my flight')}").json()
    assert (found["text"], found["cluster_id"]) == ("change my flight", "-8")
    assert found["answer_id"] == str(hash64(fold("At the  desk")))
    cluster = client.get("/clusters/-8").json()
    assert cluster["size"] == 2
    assert {row["text"] for row in cluster["questions"]} == {"cancel my flight", "change my flight"}


@pytest.mark.parametrize("path", [f"/questions/{question_id('pay my bill')}", "/clusters/7"])
def test_a_look_up_keeps_the_version_on_which_it_began(start, path):
    client = start()
    service = client.service
    index = service.versions.current.searcher.index
    began, may_end = threading.Event(), threading.Event()
    read = index.questions

    def read_slowly(rows):
        began.set()
        assert may_end.wait(10)
        return read(rows)

    index.questions = read_slowly
    with ThreadPoolExecutor(1) as pool:
        response = pool.submit(client.get, path)
        assert began.wait(10)
        service.swap(make_version("two"))
        opened = service.versions.opened
        may_end.set()
    assert (opened, service.versions.opened) == (2, 1)
    assert response.result().json()["version"] == "one"


@pytest.mark.parametrize("path", ["questions", "clusters"])
@pytest.mark.parametrize(
    "number", ["0", "12", "x", "9" * 19, "9" * 30, "-9223372036854775808", "٣", "9223372036854775807"]
)
def test_an_unknown_id_is_not_found(start, path, number):
    assert start().get(f"/{path}/{number}").status_code == 404


def test_a_blocked_answer_is_in_no_later_response_nor_after_a_restart(start):
    client = start()
    assert client.delete("/answers/pay").json() == {"blocked": "pay"}
    for again in (client, start()):
        assert "in the app" not in again.get("/search", params={"q": "pay my bill"}).text
        [row] = again.post("/answer", json={"question": "pay my bill"}).json()["results"]
        assert (row["answered"], row["reason"], row["hit"]) == (False, "blocked", None)
        assert "in the app" not in again.get("/clusters/7").text


def test_hits_behind_blocked_ones_move_up(start):
    client = start()
    client.delete("/answers/pay")
    [texts] = hits(client.get("/search", params={"q": "pay my bill", "k": 1}))
    assert texts in (["cancel my flight"], ["change my flight"])


def test_an_answer_without_an_id_is_blocked_by_the_id_that_hits_show(start):
    client = start()
    [hit] = client.get("/search", params={"q": "change flight", "k": 1}).json()["results"][0]["hits"]
    client.delete(f"/answers/{hit['answer_id']}")
    assert "At the" not in client.get("/search", params={"q": "change flight"}).text


@pytest.mark.parametrize("answer_id", [
    "a/b", "mail/1/", "/", "two words", "größe 日本", "a\nb", "a\n", "?x=1#y", "%", "x" * 5000, "healthz",
])  # fmt: skip
def test_an_answer_with_any_id_can_be_blocked(start, tmp_path, answer_id):
    client = start(version=make_version(rows=[row("pay my bill", "in the app", answer_id)]))
    found = client.get("/search", params={"q": "pay my bill"}).json()["results"][0]["hits"]
    assert [hit["answer_id"] for hit in found] == [answer_id]
    address = "/answers/" + urllib.parse.quote(answer_id, safe="")
    response = client.delete(address)
    assert (response.status_code, response.json()) == (200, {"blocked": answer_id})
    assert json.loads((tmp_path / "state/blocked.json").read_text()) == [answer_id]
    assert hits(client.get("/search", params={"q": "pay my bill"})) == [[]]
    assert client.get(address).status_code == 405


def test_an_id_of_no_answer_is_not_found_and_a_blocked_one_stays_blocked(start, tmp_path):
    client = start()
    for unknown in ("pya", "PAY", "1", "-8", "in the app", "pay/"):
        response = client.delete(f"/answers/{unknown}")
        assert (response.status_code, [*response.json()]) == (404, ["error"])
    assert not (tmp_path / "state/blocked.json").exists()
    for path in ("/answers", "/answers/"):
        assert client.delete(path, follow_redirects=False).status_code in (404, 405)
    assert client.delete("/answers/pay").status_code == 200
    client.service.swap(make_version("two", [row("what is this", "that")]))
    assert client.delete("/answers/pay").status_code == 200
    assert client.delete("/answers/cancel").status_code == 404


def test_a_full_list_of_blocked_answers_takes_no_more(start, monkeypatch):
    client = start()
    monkeypatch.setattr(state, "MOST_BLOCKED", 20)
    assert client.delete("/answers/pay").status_code == 200
    assert client.delete("/answers/cancel").status_code == 409
    assert "by phone" in client.get("/search", params={"q": "cancel my flight"}).text


def test_a_block_that_could_not_be_written_is_written_by_the_next_request(start, tmp_path, capsys):
    client, path = start(), tmp_path / "state/blocked.json"
    path.mkdir()  # as any failure to write
    response = client.delete("/answers/pay")
    expected = f"{path}: is a folder, not a file"
    assert (response.status_code, response.json()["error"].partition(". ")[0]) == (503, expected)
    assert f"error: {expected}" in capsys.readouterr().err
    assert "in the app" not in client.get("/search", params={"q": "pay my bill"}).text  # it is hidden at once
    assert "qpr_blocked_answers 1.0" in client.get("/metrics").text
    assert client.delete("/answers/pay").status_code == 503
    path.rmdir()
    assert client.delete("/answers/pay").json() == {"blocked": "pay"}
    assert json.loads(path.read_text()) == ["pay"]
    assert "in the app" not in start().get("/search", params={"q": "pay my bill"}).text


def test_a_block_is_confirmed_only_when_it_is_written(start, tmp_path, monkeypatch):
    client, path = start(), tmp_path / "state/blocked.json"
    began, may_end, confirmed = threading.Event(), threading.Event(), []
    write = state.write_atomically

    def write_slowly(name):
        began.set()
        assert may_end.wait(10)
        return write(name)

    monkeypatch.setattr(state, "write_atomically", write_slowly)

    def block():
        client.service.state.block("pay")
        confirmed.append(path.exists())

    threads = [threading.Thread(target=block) for _ in range(2)]
    for thread in threads:
        thread.start()
        assert began.wait(10)
    threads[1].join(0.2)
    assert confirmed == []
    may_end.set()
    for thread in threads:
        thread.join()
    assert confirmed == [True, True]


@pytest.mark.parametrize("ask", [
    lambda client: client.post("/answer", json={"questions": ["pay a bill"]}),
    lambda client: client.post("/answer", json={"questions": ["pay a bill"], "k": 3}),
    lambda client: client.post("/search", json={"questions": ["pay a bill"] * 5}),
])  # fmt: skip
def test_an_answer_that_is_blocked_during_a_search_is_not_in_its_response(start, ask):
    client = start()
    searcher = client.service.versions.current.searcher
    searcher.gate.clear()
    with ThreadPoolExecutor(1) as pool:
        response = pool.submit(ask, client)
        wait_until(lambda: searcher.calls)
        assert client.delete("/answers/pay").status_code == 200
        searcher.gate.set()
    assert response.result().status_code == 200
    assert "in the app" not in response.result().text


def test_only_questions_whose_hits_are_blocked_are_searched_again(start):
    client = start()
    searcher = client.service.versions.current.searcher
    client.delete("/answers/pay")
    client.post("/search", json={"questions": ["pay my bill", "cancel flight"], "k": 1})
    assert [(len(questions), k) for questions, k in zip(searcher.calls, searcher.depths, strict=True)] == [
        (2, 1),
        (1, 1),
    ]


def test_rows_of_blocked_answers_are_looked_for_once_after_a_block(start, monkeypatch):
    client, made = start(), []
    without = FakeSearcher.without_answers
    monkeypatch.setattr(FakeSearcher, "without_answers", lambda *given: made.append(given[1]) or without(*given))
    client.delete("/answers/pay")
    for _ in range(3):
        assert hits(client.get("/search", params={"q": "pay my bill", "k": 1})) == [["cancel my flight"]]
    assert made == [{"pay"}]
    client.delete("/answers/cancel")
    assert hits(client.get("/search", params={"q": "pay my bill", "k": 1})) == [["change my flight"]]
    assert made == [{"pay"}, {"pay", "cancel"}]


def test_feedback_that_cannot_be_written_is_refused_with_the_name_of_its_file(start, tmp_path, capsys):
    client, path = start(), tmp_path / "state/feedback.jsonl"
    path.mkdir()
    response = client.post("/feedback", json={"question": "secret", "right": True})
    assert response.status_code == 503
    assert str(path) in response.json()["error"]
    err = capsys.readouterr().err
    assert str(path) in err
    assert "secret" not in err + response.text


def test_feedback_is_appended_to_a_file_and_to_nothing_else(start, tmp_path):
    client = start()
    given = {"question": "pay?", "question_id": str(question_id("pay my bill")), "right": False}
    assert client.post("/feedback", json=given).json() == {"kept": True}
    assert client.post("/feedback", json={"question": "x", "right": True, "comment": "ok"}).status_code == 200
    rows = [json.loads(line) for line in (tmp_path / "state/feedback.jsonl").read_text().splitlines()]
    assert [(row["question"], row["right"], row["version"]) for row in rows] == [
        ("pay?", False, "one"),
        ("x", True, "one"),
    ]
    assert "time" in rows[0]


def test_without_a_state_folder_feedback_and_blocking_are_refused(start):
    client = start(state=False)
    for response in (client.delete("/answers/a"), client.post("/feedback", json={"question": "x", "right": True})):
        assert response.status_code == 409
        assert "--state" in response.json()["error"]


def test_a_defect_is_reported_without_the_question(start, capsys):
    client = start(log="requests")
    response = client.get("/search", params={"q": "fail"})
    assert (response.status_code, response.json()) == (500, {"error": "a defect of the server; its log has the cause"})
    assert hits(client.get("/search", params={"q": "this"})) == [["what is this"]]
    err = capsys.readouterr().err
    assert "RuntimeError at conftest.py" in err
    assert "secret" not in err
    assert "Traceback" not in err


def test_health_readiness_and_metrics(start):
    client = start()
    assert client.get("/healthz").json() == {"alive": True}
    assert client.get("/readyz").json() == {"ready": True, "version": "one"}
    client.get("/search", params={"q": "pay"})
    client.get("/search", params={"q": "unheard"})
    client.get("/search")
    client.post("/answer", json={"question": "pay my bill"})
    shown = client.get("/metrics").text
    for line in (
        'qpr_questions_total{endpoint="search",outcome="hits"} 1.0',
        'qpr_questions_total{endpoint="search",outcome="no_hit"} 1.0',
        'qpr_questions_total{endpoint="answer",outcome="exact"} 1.0',
        'qpr_requests_total{endpoint="search",status="422"} 1.0',
        'qpr_rejects_total{cause="invalid"} 1.0',
        'qpr_swaps_total{result="swapped"} 0.0',
        'qpr_swaps_total{result="refused"} 0.0',
        'qpr_index_info{run="run-one",version="one"} 1.0',
        "qpr_index_questions 5.0",
        "qpr_in_flight 1.0",
    ):
        assert line in shown.splitlines()


def test_counters_with_known_labels_are_there_before_their_first_event(start):
    shown = start().get("/metrics").text.splitlines()
    labels = [f'rejects_total{{cause="{cause}"' for cause in get_args(Cause)]
    for endpoint, outcomes in (("search", ("hits", "no_hit")), ("answer", (*get_args(Reason), "blocked"))):
        labels += [f'questions_total{{endpoint="{endpoint}",outcome="{outcome}"' for outcome in outcomes]
    assert {f"qpr_{label}}} 0.0" for label in labels} <= set(shown)


def test_the_description_names_the_modes_of_the_version_that_answers(start):
    client, other = start(), make_version("two")
    for modes in (["dense", "bm25"], ["exact"]):
        methods = client.get("/openapi.json").json()["paths"]["/search"]
        assert methods["get"]["parameters"][2]["schema"]["enum"] == modes
        body = methods["post"]["requestBody"]["content"]["application/json"]["schema"]
        assert body["properties"]["mode"]["anyOf"][0]["enum"] == modes
        assert client.get("/docs").text.count(f"one of {', '.join(modes)}") == 2
        other.searcher.modes = ("exact",)
        client.service.swap(other)


def test_the_description_names_each_reason_and_each_guard(start):
    documents = start().get("/openapi.json").json()["components"]["schemas"]
    assert documents["AnswerDocument"]["properties"]["reason"]["enum"] == [*get_args(Reason), "blocked"]
    guard, absent = documents["WhyDocument"]["properties"]["guard"]["anyOf"]
    assert (guard["enum"], absent) == ([*GUARDS], {"type": "null"})


def test_each_refused_request_is_counted_once_by_its_cause(start, monkeypatch):
    client = start()
    asked = [("GET", "/nowhere"), ("GET", "/search/"), ("PUT", "/search"), ("GET", "/search"), ("GET", "/questions/x")]
    assert [client.request(*request).status_code for request in asked] == [404, 404, 405, 422, 404]
    monkeypatch.setattr(client.service, "question", None)
    assert client.get("/questions/1").status_code == 500
    assert client.get("/search", params={"q": "fail"}).status_code == 500
    shown = client.get("/metrics").text
    counted = re.findall(r'^qpr_rejects_total\{cause="(\w+)"\} ([1-9]\S*)$', shown, re.MULTILINE)
    assert dict(counted) == {"not_found": "3.0", "invalid": "2.0", "defect": "2.0"}


def test_head_is_answered_where_get_is(start, capsys):
    client = start(log="requests")
    for path in (
        "/healthz",
        "/readyz",
        "/",
        "/docs",
        "/metrics",
        "/search?q=pay",
        f"/questions/{question_id('pay my bill')}",
    ):
        response = client.head(path)
        assert (response.status_code, response.content) == (200, b""), path
        assert response.headers["content-type"] == client.get(path).headers["content-type"]
    assert client.head("/answer").status_code == 405
    assert '"method":"HEAD","endpoint":"healthz","status":200' in capsys.readouterr().err


def test_readiness_is_searched_once_a_second_at_most(start):
    client = start()
    calls = client.service.versions.current.searcher.calls
    assert [client.get("/readyz").status_code for _ in range(5)] == [200] * 5
    assert len(calls) == 1


def test_an_index_that_does_not_find_its_questions_is_not_ready(start):
    client = start()
    client.service.versions.current.canaries = [Canary("pay my bill", question_id("cancel my flight"))]
    assert client.get("/readyz").status_code == 503


def test_the_description_names_each_address_and_loads_nothing(start):
    client = start()
    page = client.get("/docs")
    assert page.headers["content-type"].startswith("text/html")
    for path, methods in client.get("/openapi.json").json()["paths"].items():
        for method in methods:
            assert f"<h2>{method.upper()} {path}</h2>" in page.text
    assert not re.search(r"(src|href)=.?\w+://|url\(|@import|<script", page.text)


def test_the_description_has_kinds_ranges_defaults_and_a_command_for_each_address(start):
    client = start()
    page = html.unescape(client.get("/docs", headers={"Host": "localhost:8081"}).text)
    addresses = [f"{m} {p}" for p, of in client.get("/openapi.json").json()["paths"].items() for m in of]
    assert page.count("<pre>curl ") == len(addresses) == 10
    for part in (
        '<code>k</code> <span class="faint">integer, 1 to 100, default 10</span>',
        '<code>k</code> <span class="faint">integer, 0 to 20, default 0</span>',
        '<code>q</code> <span class="faint">string, at most 2,000 characters, required</span>',
        '<code>mode</code> <span class="faint">one of dense, bm25</span>',
        '<code>right</code> <span class="faint">boolean, required</span>',
        "<pre>curl 'http://localhost:8081/search?q=how+do+I+pay+my+bill'</pre>",
        "<pre>curl -X DELETE http://localhost:8081/answers/ID</pre>",
        """<pre>curl http://localhost:8081/feedback -H 'Content-Type: application/json' -d """
        """'{"question": "how do I pay my bill", "right": true}'</pre>""",
    ):
        assert part in page, part
    assert not [part for part in ("`", "rely on", "Bearer TOKEN") if part in page]


def test_the_commands_of_the_description_have_a_token_where_it_is_needed(start):
    client = start(token="t" * 16, token_file="token")
    access = {"Authorization": f"Bearer {'t' * 16}"}
    page = html.unescape(client.get("/docs", headers=access | {"Host": "a'b\"<"}).text)
    assert "curl http://127.0.0.1:8080/metrics -H 'Authorization: Bearer TOKEN'" in page
    assert "<pre>curl http://127.0.0.1:8080/healthz</pre>" in page


@pytest.mark.parametrize("most", [1, 100])
def test_the_commands_of_the_description_run(start, most):
    client = start(limits={"max_k": most})
    for path, methods in client.get("/openapi.json").json()["paths"].items():
        for method, operation in methods.items():
            given = {one["name"]: one["example"] for one in operation.get("parameters", []) if "example" in one}
            body = operation.get("requestBody", {"content": {"application/json": {}}})["content"]["application/json"]
            address = path.format(**given)
            query = {} if "{" in path else given
            response = client.request(method, address, params=query, json=body.get("example"))
            assert response.status_code == (404 if "{" in path or path == "/reload" else 200), (path, response.text)


@pytest.mark.parametrize("has_token", [False, True])
@pytest.mark.parametrize("has_rate", [False, True])
def test_the_statuses_of_an_address_are_those_that_it_can_have(start, has_token, has_rate):
    given = {"token": "t" * 16, "token_file": "token"} if has_token else {}
    client = start(**given, limits={"rate": 1000 if has_rate else None})
    client.headers["Authorization"] = f"Bearer {'t' * 16}"
    paths = client.get("/openapi.json").json()["paths"]
    statuses = {
        f"{method} {path}": {int(one) for one in operation["responses"]}
        for path, methods in paths.items()
        for method, operation in methods.items()
    }
    open_address = {200, 400, 403, 408, 431, 503, 504} | ({421} if not has_token else set())
    rated = {429} if has_rate else set()
    own = {422} | ({401} if has_token else set())
    assert statuses["get /healthz"] == open_address
    assert statuses["get /readyz"] == open_address | rated
    assert statuses["get /metrics"] == statuses["get /readyz"] | own
    assert statuses["post /search"] == statuses["get /metrics"] | {413, 415}
    assert statuses["post /feedback"] == statuses["post /search"] | {404, 409}
    assert statuses["delete /answers/{id}"] == statuses["get /metrics"] | {404, 409}


def test_the_description_has_parts_for_a_screen_reader(start):
    page = start().get("/docs").text
    assert page.index("<main>") < page.index("<h1>")
    assert '<th scope="row">200</th>' in page
