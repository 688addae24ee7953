"""Indexes that vary by columns, of datasets whose folders name the values."""

import json

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pytest

from model.confidence.examples import examples
from model.evaluation.relevance import judgements, with_row_ids
from model.search.searcher import open_searcher
from schemas.artifacts.dataset import open_dataset
from schemas.artifacts.manifest import read_manifest
from schemas.filters import MAX_VALUE_CHARACTERS, values_of_folders
from tests.jobs.commands.indexes.test_confidence import CLUSTERS, THINGS
from tests.support.csv_files import write_csv

TENANTS = {"acme": CLUSTERS, "b/s": [*CLUSTERS[: len(CLUSTERS) // 2], ["pay for a router", "buy a router"]]}
"""The second one shares all its clusters but one with the first."""

NAMES = ("--vary-by", "tenant", "--vary-by", "locale")


@pytest.fixture
def place(folder, make_model, make_dataset, qpr):
    """Return a folder with a model, two datasets, and their index."""
    if not (folder / "index").exists():
        make_model(folder / "model", words=("pay", "cancel", "find", *THINGS), encoder="subword", dimension=16)
        for tenant, clusters in TENANTS.items():
            make_dataset(dataset(folder, tenant), clusters, split="validation")
        dataset(folder, "new").mkdir(parents=True)
        done = qpr("index", "--questions", folder / "data/*/*", *common(folder), "--output", folder / "index", *NAMES)
        assert done.code == 0, done.err
        (folder / "index.err").write_text(done.err)
    return folder


def common(folder):
    return "--model", folder / "model", "--factory", "Flat", "--shards", 2, "--json"


def dataset(folder, tenant):
    return folder / "data" / f"tenant={tenant.replace('/', '%2F')}" / "locale=de"


def contents(url):
    index = open_searcher(str(url)).index
    [table] = index.tables(1_000_000)
    return table.sort_by("question_id")


def test_questions_have_the_values_of_their_folders_as_those_of_a_table(place, tmp_path, qpr):
    rows = []
    for tenant in TENANTS:
        for row in open_dataset(str(dataset(place, tenant))).table("questions").to_pylist():
            names = ("text", "answer", "answer_id", "cluster_id", "events")
            rows.append({name: row[name] for name in names} | {"tenant": tenant, "locale": "de"})
    table = write_csv(tmp_path / "faq.csv", rows)
    assert qpr("index", "--questions", table, *common(place), "--output", tmp_path / "index", *NAMES).code == 0
    found, expected = contents(place / "index"), contents(tmp_path / "index")
    assert len(found) == len(rows)
    assert found.equals(expected.select(found.column_names))
    unfinished = f"{dataset(place, 'new')}: not indexed: it has no manifest.json, so no run has completed there"
    assert unfinished in (place / "index.err").read_text()
    inputs = read_manifest(str(place / "index")).inputs
    assert [source.url for source in inputs[:-1]] == [str(dataset(place, tenant)) for tenant in TENANTS]


def test_searches_find_their_tenant_alone_and_have_probabilities(place):
    searcher = open_searcher(str(place / "index"))
    for tenant in TENANTS:
        hits = searcher.search(CLUSTERS[0][0], 400, filters={"tenant": tenant, "locale": "de"})
        expected = {text for texts in TENANTS[tenant] for text in texts} - {"buy a router"}  # shares no word
        assert {hit.text for hit in hits} == expected
        assert all(hit.probability is not None for hit in hits)


def test_the_confidence_model_learns_from_validation_clusters_within_their_values(place):
    manifest = read_manifest(str(place / "index"))
    queries = sum(len(texts) for clusters in TENANTS.values() for texts in clusters)
    assert manifest.counters["confidence_queries"] == queries
    assert "confidence_answers" not in manifest.counters
    searcher = open_searcher(str(place / "index"))
    tables = [
        with_row_ids(open_dataset(str(dataset(place, tenant))).table("clusters"), ("de", tenant)) for tenant in TENANTS
    ]
    judged = judgements(pa.concat_tables(tables))
    assert len(judged) == queries
    found = examples(searcher.index, judged, searcher.confidence.counts)
    of_text = {}
    for text, group in zip(judged.texts.to_pylist(), found.groups[:queries].tolist(), strict=True):
        of_text.setdefault(text, set()).add(group)
    assert {len(groups) for groups in of_text.values()} == {1}  # equal questions of both tenants are in one group
    assert np.unique(found.groups).tolist() == list(range(len(CLUSTERS) + 1))


@pytest.mark.parametrize("tenant", [*TENANTS])
def test_an_evaluation_searches_with_the_values_of_the_dataset(place, tmp_path, qpr, tenant):
    one = dataset(place, tenant)
    assert qpr("index", "--questions", one, *common(place), "--output", tmp_path / "alone").code == 0
    options = ("--split", "validation", "--mode", "dense", "--json")
    whole = qpr("evaluate", "--dataset", one, "--index", place / "index", *options)
    alone = qpr("evaluate", "--dataset", one, "--index", tmp_path / "alone", *options)
    assert (whole.code, alone.code) == (0, 0), whole.err + alone.err
    found, expected = json.loads(whole.out), json.loads(alone.out)
    for name in ("queries", "pairs", "relevant", "per_question", "per_pair"):
        assert found[name] == pytest.approx(expected[name])
    assert found["relevant_missing"] == 0


def test_a_dataset_is_added_with_the_values_of_its_folders(place, tmp_path, qpr):
    made = qpr("index", "--questions", dataset(place, "acme"), *common(place), "--output", tmp_path / "index", *NAMES)
    assert made.code == 0
    assert qpr("index", "--output", tmp_path / "index", "--add", dataset(place, "b/s")).code == 0
    searcher = open_searcher(str(tmp_path / "index"))
    assert searcher.answer("buy a router", filters={"tenant": "b/s", "locale": "de"}).reason == "exact"
    assert len(searcher.index) == len(open_searcher(str(place / "index")).index)


def test_a_dataset_without_the_values_is_refused_with_the_way_out(place, tmp_path, make_dataset, qpr):
    make_dataset(tmp_path / "data", [["a", "b"]])
    for command in (
        ("index", "--questions", tmp_path / "data", *common(place), "--output", tmp_path / "i", *NAMES),
        ("index", "--output", place / "index", "--add", tmp_path / "data"),
        ("evaluate", "--dataset", tmp_path / "data", "--index", place / "index"),
    ):
        done = qpr(*command)
        assert done.code == 1
        assert "the index varies by locale, tenant, but no folder of its path is named locale=VALUE" in done.err
        assert "Put it into folders such as locale=VALUE/tenant=VALUE" in done.err


@pytest.mark.parametrize(
    ("path", "expected"),
    [
        ("/a/tenant=acme/locale=de-AT/dataset", ("de-AT", "acme")),
        ("bucket/locale=de/tenant=a%2Fb%20c=d", ("de", "a/b c=d")),
        ("/locale=en/locale=de/tenant= x ", ("de", "x")),
        ("/locale=de/Tenant=x", "no folder of its path is named tenant=VALUE"),
        ("/locale=/tenant=x", "the value of locale in its path has 0 or over 200 characters"),
        (f"/locale=de/tenant={'x' * (MAX_VALUE_CHARACTERS + 1)}", "the value of tenant in its path has 0 or over 200"),
    ],
)
def test_values_of_folders(path, expected):
    if isinstance(expected, tuple):
        assert values_of_folders(path, ("locale", "tenant")) == expected
        return
    with pytest.raises(ValueError, match=expected):
        values_of_folders(path, ("locale", "tenant"))


def test_a_glob_of_files_beside_folders_reads_the_files(place, tmp_path, qpr):
    (tmp_path / "in" / "older").mkdir(parents=True)
    write_csv(tmp_path / "in" / "faq.csv", [{"question": "pay my bill", "answer": "By card."}])
    done = qpr("index", "--questions", tmp_path / "in/*", *common(place), "--output", tmp_path / "index")
    assert done.code == 0, done.err
    assert pc.unique(contents(tmp_path / "index")["text"]).to_pylist() == ["pay my bill"]


def test_datasets_of_a_remote_store_have_the_values_of_their_folders(place, memory, make_dataset, qpr):
    for tenant in ("acme", "globex"):
        make_dataset(f"{memory}/data/tenant={tenant}/locale=de", CLUSTERS[:2])
    done = qpr("index", "--questions", f"{memory}/data/*/*", *common(place), "--output", f"{memory}/index", *NAMES)
    assert done.code == 0, done.err
    table = contents(f"{memory}/index")
    assert sorted(set(table["tenant"].to_pylist())) == ["acme", "globex"]
    assert len(table) == 12
