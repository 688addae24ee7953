"""Requests that the gate refuses, and the log of those it lets through."""

import asyncio
import json
from concurrent.futures import ThreadPoolExecutor

import pytest

from jobs.web.protection.gate import Rates
from tests.support.waiting import wait_until

TOKEN = "a-token-of-24-characters"


def search(client, **more):
    return client.get("/search", params={"q": "pay my bill"}, **more)


def test_a_request_without_the_token_is_refused_except_for_health(start):
    client = start(token=TOKEN)
    for given in ({}, {"Authorization": "Bearer x"}, {"Authorization": TOKEN}, {"Authorization": f"Basic {TOKEN}"}):
        for path in ("/search?q=x", "/metrics", "/docs", "/openapi.json", "/nothing", "/healthz/"):
            response = client.get(path, headers=given)
            assert (response.status_code, response.headers["www-authenticate"]) == (401, "Bearer"), path
        assert client.delete("/answers/a", headers=given).status_code == 401
    assert client.get("/healthz").status_code == 200
    assert client.get("/readyz").status_code == 200
    for scheme in ("Bearer", "bearer", "BEARER", "Bearer "):  # RFC 9110, section 11.4
        assert search(client, headers={"Authorization": f"{scheme} {TOKEN}"}).status_code == 200
        assert search(client, headers={"Authorization": f"{scheme} {TOKEN.upper()}"}).status_code == 401


@pytest.mark.parametrize(
    ("given", "message"),
    [
        (None, "a bearer token is needed; send the header Authorization: Bearer TOKEN"),
        (TOKEN, "a bearer token is needed; send the header Authorization: Bearer TOKEN"),
        (f"Basic {TOKEN}", "a bearer token is needed; send the header Authorization: Bearer TOKEN"),
        (f"Bearer {TOKEN}x", "the bearer token is wrong; use the content of --token-file"),
        ("bearer ", "the bearer token is wrong; use the content of --token-file"),
    ],
)
def test_a_wrong_token_has_another_message_than_none(start, given, message):
    response = search(start(token=TOKEN), headers={} if given is None else {"Authorization": given})
    assert (response.status_code, response.json()) == (401, {"error": message})


@pytest.mark.parametrize("host", [
    "evil.example", "evil.example:8080", "127.0.0.1.evil.example", "", "[::2]", "localhost:evil.com", "localhost:80:80",
    "localhost..", "evil.localhost", "localhost@evil.com", "::1", "[localhost]", "127.0.0.1]", "[127.0.0.1", "0.0.0.0",
    "128.0.0.1", "127.1", "localhost:\u0663",
])  # fmt: skip
def test_a_name_that_leads_here_is_no_local_name(start, host):
    assert search(start(), headers={"Host": host.encode()}).status_code == 421


@pytest.mark.parametrize("host", [
    "localhost", "localhost:8080", "127.0.0.1", "[::1]:8080", "[::1]", "LocalHost:8080", "localhost.", "localhost.:80",
    "127.0.0.2:8080", "127.255.1.1", "[0:0:0:0:0:0:0:1]", "localhost:",
])  # fmt: skip
def test_local_names_are_served(start, host):
    assert search(start(), headers={"Host": host}).status_code == 200


def test_a_server_with_a_token_answers_requests_to_any_name(start):
    headers = {"Authorization": f"Bearer {TOKEN}", "Host": "search.example.org"}
    assert search(start(token=TOKEN), headers=headers).status_code == 200


def test_a_page_of_another_site_is_refused_and_gets_no_permission(start):
    client = start()
    assert search(client, headers={"Origin": "http://127.0.0.1:8080"}).status_code == 200
    for origin in ("http://evil.example", "null", "http://127.0.0.1:9090"):
        response = search(client, headers={"Origin": origin})
        assert response.status_code == 403
        assert not any(name.startswith("access-control") for name in response.headers)
    preflight = {"Origin": "http://evil.example", "Access-Control-Request-Method": "POST"}
    assert client.options("/search", headers=preflight).status_code == 403


@pytest.mark.parametrize("site", ["cross-site", "same-site"])
@pytest.mark.parametrize(
    ("mode", "dest"),
    [("no-cors", "object"), ("no-cors", "image"), ("cors", "empty"), ("navigate", "iframe"), ("no-cors", "document")],
)
def test_a_page_of_another_site_loads_nothing_without_an_origin_either(start, site, mode, dest):
    client = start()
    headers = {"Sec-Fetch-Site": site, "Sec-Fetch-Mode": mode, "Sec-Fetch-Dest": dest}
    for path in ("/", "/search?q=pay", "/questions/1", "/healthz", "/docs"):
        response = client.get(path, headers=headers)
        assert (response.status_code, response.json()) == (
            403,
            {"error": "pages of other sites may not use this server"},
        )
    assert client.service.versions.current.searcher.calls == []


def test_links_of_other_sites_and_requests_of_the_own_page_are_served(start):
    client = start()
    link = {"Sec-Fetch-Site": "cross-site", "Sec-Fetch-Mode": "navigate", "Sec-Fetch-Dest": "document"}
    assert client.get("/?q=pay", headers=link).status_code == 200
    for site in ("same-origin", "none"):
        assert search(client, headers={**link, "Sec-Fetch-Site": site, "Sec-Fetch-Mode": "cors"}).status_code == 200


def test_more_requests_at_a_time_than_allowed_are_refused_with_a_time_to_come_back(start):
    client = start(limits={"concurrency": 2})
    searcher = client.service.versions.current.searcher
    searcher.gate.clear()
    with ThreadPoolExecutor(2) as pool:
        running = [pool.submit(search, client) for _ in range(2)]
        wait_until(lambda: searcher.calls and client.service.metrics.in_flight._value.get() == 2)
        busy = search(client)
        assert (busy.status_code, busy.headers["retry-after"]) == (503, "1")
        assert client.get("/healthz").status_code == 200
        assert client.get("/metrics").status_code == 200
        assert client.post("/reload").status_code not in (503, 504)  # an operator may help a busy server
        assert client.delete("/answers/0").status_code != 503
        assert client.get("/answers/0").status_code == 503
        searcher.gate.set()
    assert [request.result().status_code for request in running] == [200, 200]
    assert search(client).status_code == 200
    assert 'qpr_rejects_total{cause="concurrency"} 2.0' in client.get("/metrics").text


def test_a_request_that_takes_too_long_is_given_up_and_its_place_is_free_again(start):
    client = start(limits={"timeout": 0.2, "concurrency": 1}, threads=1)
    gate = client.service.versions.current.searcher.gate
    gate.clear()
    assert search(client).status_code == 504
    assert search(client).json() == {"error": "not done after 0.2 s; repeat the request later or ask fewer questions"}
    gate.set()
    assert search(client).status_code == 200
    assert client.service.versions.current.leases == 0


def test_a_look_for_a_new_version_may_take_longer(start):
    class Exchange:
        def __init__(self, _):
            pass

        async def watch(self):
            pass

        async def reload(self):
            await asyncio.sleep(0.3)
            return "unchanged"

    assert start(limits={"timeout": 0.1}, exchange=Exchange).post("/reload").json() == {"reload": "unchanged"}


def test_a_client_above_its_rate_is_refused(start):
    client = start(limits={"rate": 0.5})
    assert search(client).status_code == 200
    refused = search(client)
    assert (refused.status_code, refused.headers["retry-after"]) == (429, "2")


def test_the_rate_holds_before_the_token_and_for_readiness_not_for_health(start):
    client = start(limits={"rate": 1}, token="t" * 16)
    assert search(client).status_code == 401
    assert search(client).status_code == 429
    assert client.get("/readyz").status_code == 429
    assert [client.get("/healthz").status_code for _ in range(3)] == [200] * 3


def test_rates_refill_with_time_and_are_kept_for_each_client():
    now = [0.0]
    rates = Rates(2, lambda: now[0])
    assert [rates.wait("a") for _ in range(3)] == [0, 0, 0.5]
    assert rates.wait("b") == 0
    now[0] = 0.5
    assert rates.wait("a") == 0
    assert rates.wait("a") == 0.5
    now[0] = 1000
    assert [rates.wait("a") for _ in range(3)] == [0, 0, 0.5]


def test_of_more_than_ten_thousand_clients_the_one_that_was_silent_longest_is_forgotten():
    rates = Rates(1, lambda: 0.0)
    assert [rates.wait(client) for client in ("first", "second", "first")] == [0, 0, 1]
    for number in range(9_999):
        rates.wait(str(number))
    assert (rates.wait("first"), rates.wait("second")) == (1, 0)


def test_an_address_that_is_too_long_is_refused(start):
    assert start().get("/search?q=" + "x" * 30_000).status_code == 422


@pytest.mark.parametrize(("log", "logged"), [("none", False), ("requests", True), ("questions", True)])
def test_questions_are_logged_only_on_request(start, capsys, log, logged):
    client = start(log=log)
    search(client)
    client.post("/answer", json={"questions": ["cancel", "my flight"]})
    client.get("/unknown/address")
    client.get("/search?q=" + "secret" * 1000)
    err = capsys.readouterr().err
    lines = [json.loads(line) for line in err.splitlines()]
    assert len(lines) == (4 if logged else 0)
    assert "secret" not in err
    assert "unknown" not in err
    assert ("pay my bill" in err) == ("my flight" in err) == (log == "questions")
    if logged:
        assert [(line["endpoint"], line["status"], line.get("asked")) for line in lines] == [
            ("search", 200, 1), ("answer", 200, 2), ("other", 404, None), ("search", 422, None),
        ]  # fmt: skip
