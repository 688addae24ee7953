"""Addresses without parameters are answered past the layers of FastAPI, with the same faults."""

import pytest
from fastapi import FastAPI

QUESTION = {"question": "pay my bill"}


@pytest.fixture
def layers(monkeypatch):
    """Return the paths of requests that pass through the layers of FastAPI."""
    paths, call = [], FastAPI.__call__

    async def watched(app, scope, receive, send):
        if scope["type"] == "http":
            paths.append(scope["path"])
        await call(app, scope, receive, send)

    monkeypatch.setattr(FastAPI, "__call__", watched)
    return paths


def test_addresses_without_parameters_pass_no_layers(start, layers):
    client = start()
    assert client.get("/search", params={"q": "pay my bill"}).status_code == 200
    assert client.post("/search", json=QUESTION).status_code == 200
    assert client.post("/answer", json=QUESTION).status_code == 200
    assert client.get("/healthz").json() == {"alive": True}
    assert layers == []
    assert client.get("/questions/1").status_code == 404
    assert client.delete("/search").status_code == 405
    assert client.get("/nowhere").status_code == 404
    assert layers == ["/questions/1", "/search", "/nowhere"]


def test_a_fault_is_a_response_and_counted(start, layers):
    client = start()
    response = client.get("/search")
    assert (response.status_code, response.json()) == (422, {"error": "q: the question is missing"})
    assert client.post("/answer", content=b"{", headers={"Content-Type": "application/json"}).status_code == 400
    assert client.get("/questions/x").status_code == 404
    text = client.get("/metrics").text
    assert 'qpr_rejects_total{cause="invalid"} 2.0' in text
    assert 'qpr_rejects_total{cause="not_found"} 1.0' in text
    assert layers == ["/questions/x"]


def test_a_defect_gets_one_sentence(start, capsys):
    response = start().post("/search", json={"question": "fail"})
    assert response.status_code == 500
    assert "secret" not in response.text + capsys.readouterr().err
