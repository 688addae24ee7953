"""A served index that varies by columns: values in requests, answers of others never."""

import dataclasses
import datetime
import json
import shutil

import pytest
from starlette.testclient import TestClient

from jobs.web.app import create_app
from jobs.web.exchange import Exchange
from jobs.web.service import Service
from jobs.web.settings import Serving
from jobs.web.state import State
from jobs.web.versions.leases import Versions
from jobs.web.versions.opening import open_version
from jobs.workflows.warehouses.version_reading import Readable
from model.search.searcher import open_searcher
from schemas.artifacts.manifest import read_manifest
from tests.support.csv_files import write_csv

NOW = datetime.datetime(2026, 11, 23, 12, tzinfo=datetime.UTC)
TEXTS = ("pay my bill", "cancel my flight", "rent a car")
ROWS = [
    {"question": text, "answer": f"{tenant}: {text}", "cluster_id": n, "tenant": tenant, "ends": ends}
    for tenant in ("acme", "globex", "<b>")
    for n, (text, ends) in enumerate(zip(TEXTS, ("", "2026-11-23T13:00Z", ""), strict=True))
]


def build(qpr, folder, name, rows, *options):
    file = write_csv(folder / f"{name}.csv", rows)
    files = ("--questions", file, "--model", folder / "model", "--output", folder / name)
    assert qpr("index", *files, "--shards", 2, *options).code == 0
    return folder / name


@pytest.fixture
def index(folder, make_model, qpr):
    if not (folder / "index").exists():
        make_model(folder / "model", encoder="subword")
        build(qpr, folder, "index", ROWS, "--vary-by", "tenant", "--valid-until", "ends")
    return folder / "index"


@pytest.fixture
def times():
    """Return the times that the clock has shown; the last one is the present."""
    return [NOW]


@pytest.fixture
def client(index, times):
    service = Service(
        Serving(log="none", poll=0), Versions(open_version(Readable(str(index)), clocked(times))), State(None)
    )
    with TestClient(create_app(service), raise_server_exceptions=False) as opened:
        opened.service = service
        yield opened


def clocked(times):
    return lambda url, *, certificate: dataclasses.replace(open_searcher(url), clock=lambda: times[-1])


def answers(response):
    assert response.status_code == 200, response.text
    return [{hit["answer"] for hit in result["hits"]} for result in response.json()["results"]]


def test_requests_of_a_tenant_find_its_own_answers(client):
    for tenant in ("acme", "globex", "<b>"):
        own = {f"{tenant}: {text}" for text in TEXTS}
        asked = {"filters": {"tenant": tenant}, "k": 9}
        assert answers(client.get("/search", params={"q": "pay my bill", "k": 9, "tenant": tenant})) == [own]
        assert answers(client.post("/search", json={"questions": [*TEXTS], **asked})) == [own] * 3
        [row] = client.post("/answer", json={"question": "Pay my BILL?", **asked}).json()["results"]
        assert (row["reason"], row["answer"]) == ("exact", f"{tenant}: pay my bill")
        assert {hit["answer"] for hit in row["hits"]} == own


@pytest.mark.parametrize(
    ("filters", "status"),
    [({}, 422), ({"tenant": "initech"}, 404), ({"tenant": ""}, 404), ({"colour": "red"}, 422)],
)
def test_values_that_are_missing_or_unknown_are_refused(client, filters, status):
    for response in (
        client.get("/search", params={"q": "pay my bill", **filters}),
        client.post("/search", json={"question": "pay my bill", "filters": filters}),
        client.post("/answer", json={"question": "pay my bill", "filters": filters}),
        client.get("/questions/1", params=filters),
        client.get("/clusters/1", params=filters),
    ):
        assert response.status_code == status
        assert [*response.json()] == ["error"]
        assert "acme" not in response.text


@pytest.mark.parametrize("filters", [None, [], "acme", {"tenant": None}, {"tenant": 1}, {"tenant": "\ud800"}])
def test_filters_of_another_type_are_refused(client, filters):
    content = '{"question": "pay", "filters": FILTERS}'.replace("FILTERS", json.dumps(filters))
    response = client.post("/answer", content=content, headers={"Content-Type": "application/json"})
    assert response.status_code in (400, 422)
    assert client.post("/answer", json={"question": "pay"}).status_code == 422


def test_questions_and_clusters_of_other_tenants_are_not_shown(client):
    [hit] = client.get("/search", params={"q": "pay my bill", "k": 1, "tenant": "acme"}).json()["results"][0]["hits"]
    address = f"/questions/{hit['question_id']}"
    assert client.get(address, params={"tenant": "acme"}).json()["answer"] == "acme: pay my bill"
    assert client.get(address, params={"tenant": "globex"}).status_code == 404
    cluster = client.get("/clusters/0", params={"tenant": "globex"}).json()
    assert [row["answer"] for row in cluster["questions"]] == ["globex: pay my bill"]
    assert client.get("/clusters/77", params={"tenant": "globex"}).status_code == 404


@pytest.mark.parametrize("address", ["/questions/1", "/clusters/1"])
def test_an_address_has_no_other_parameters_than_columns(client, address):
    refused = client.get(address, params={"tenant": "acme", "colour": "red"})
    assert (refused.status_code, refused.json()["error"]) == (422, "unknown parameter 'colour'; there is tenant")


def test_an_answer_ends_while_the_server_runs(client, times):
    asked = {"question": "cancel my flight", "filters": {"tenant": "acme"}, "k": 9}
    assert client.post("/answer", json=asked).json()["results"][0]["answered"]
    times.append(NOW + datetime.timedelta(hours=1))
    [row] = client.post("/answer", json=asked).json()["results"]
    assert (row["answered"], len(row["hits"])) == (False, 2)
    assert client.get("/clusters/1", params={"tenant": "acme"}).status_code == 404
    assert client.get("/readyz").json()["ready"]


def test_the_description_names_the_columns(client):
    paths = client.get("/openapi.json").json()["paths"]
    for path in ("/search", "/questions/{id}", "/clusters/{id}"):
        assert {"tenant"} <= {p["name"] for p in paths[path]["get"]["parameters"] if p["required"]}
    for path in ("/search", "/answer"):
        body = paths[path]["post"]["requestBody"]["content"]["application/json"]["schema"]
        assert body["properties"]["filters"]["required"] == ["tenant"]


def test_the_page_lists_values_unless_a_token_protects_them(client, index):
    assert '<option value="&lt;b&gt;">&lt;b&gt;</option>' in client.get("/").text
    settings = Serving(log="none", poll=0, token_file="token")  # a name; the gate reads the file
    service = Service(settings, Versions(open_version(Readable(str(index)), open_searcher)), State(None))
    with TestClient(create_app(service)) as protected:
        page = protected.get("/").text
    assert "globex" not in page
    assert 'data-filter="tenant"' in page


async def test_a_version_with_other_columns_is_refused(index, folder, qpr):
    place = folder / "served"
    shutil.copytree(index, place)
    readable = Readable(str(place))
    service = Service(Serving(log="none", poll=0), Versions(open_version(readable, open_searcher)), State(None))
    rows = [{"question": text, "answer": "same"} for text in TEXTS]
    shutil.copytree(build(qpr, folder, "plain", rows), place, dirs_exist_ok=True)
    outcome = await Exchange(service, readable, open_searcher).reload()
    assert "the new version varies by no column, the served one by tenant" in outcome
    service.batcher.close()
    assert read_manifest(str(place)).configuration.get("vary_by") is None
