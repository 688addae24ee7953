import json
import os
import sys

import fsspec
import pytest

from schemas.artifacts import storage
from schemas.artifacts.content_digest import content_digest
from schemas.artifacts.dataset import open_dataset
from schemas.artifacts.manifest import REPORTS, read_manifest, read_verified

pytestmark = pytest.mark.xdist_group("remote_storage")  # one worker runs the chain on the local disk
TINY = ("--epochs", 1, "--batch-size", 64, "--dimension", 16, "--vocabulary-size", 500, "--hash-bins", 50)


@pytest.fixture
def written_locally():
    """Give a function that starts to list local files opened for writing, by any code of this process."""
    found, listening = [], []

    def hear(event, given):
        if listening and event == "open" and isinstance(given[0], str) and writes(given):
            found.append(given[0])

    sys.addaudithook(hear)  # it cannot be removed, so it is silenced

    def listen():
        listening.append(True)
        return found

    yield listen
    listening.clear()


def writes(opened):
    _, mode, flags = opened
    return bool(set(mode) & set("wax+")) if mode else bool(flags & (os.O_WRONLY | os.O_RDWR))


def chain(qpr, place, *flags):
    """Run every command from nothing to an answered question and return what was written and answered."""
    beam = ("--", *flags) if flags else ()
    for arguments in (
        ("simulate", "--output", f"{place}/logs.parquet", "--events", 1500),
        ("clusters", f"{place}/*.parquet", "--output", f"{place}/dataset", "--shards", 2, *beam),
        ("train", "--dataset", f"{place}/dataset", "--output", f"{place}/model", *TINY),
        ("index", "--questions", f"{place}/dataset", "--model", f"{place}/model", "--output", f"{place}/index", *beam),
    ):
        outcome = qpr(*arguments)
        assert outcome.code == 0, outcome.err
    outcome = qpr("search", "--index", f"{place}/index", "--json", "--k", 3, "who wrote it")
    assert outcome.code == 0, outcome.err
    return content_digest(open_dataset(f"{place}/dataset")), json.loads(outcome.out)


@pytest.fixture(scope="module")
def local():
    """Keep what the chain gave on the local disk."""
    return {}


@pytest.mark.parametrize("store", ["memory", "s3"])
def test_the_whole_chain_on_a_remote_store_gives_what_it_gives_on_disk_and_writes_nothing_there(
    qpr, request, written_locally, tmp_path, local, store
):
    place = request.getfixturevalue(store)
    local["chain"] = local.get("chain") or chain(qpr, tmp_path)  # what is imported and cached once is there now
    written = written_locally()
    dataset, found = chain(qpr, place)
    if store == "memory":  # the server of the other one may write in this process
        (tmp_path / "heard").write_text("")
        assert written == [str(tmp_path / "heard")]
    assert dataset == local["chain"][0]
    assert found["hits"] == local["chain"][1]["hits"]
    assert len(found["hits"]) == 3


@pytest.mark.engine
@pytest.mark.slow
def test_workers_in_other_processes_find_the_store_by_its_url(qpr, s3, tmp_path, local):
    local["chain"] = local.get("chain") or chain(qpr, tmp_path)
    found = chain(qpr, s3, "--direct_running_mode=multi_processing", "--direct_num_workers=2")
    assert (found[0], found[1]["hits"]) == (local["chain"][0], local["chain"][1]["hits"])


def sizes(url):
    return open_dataset(url).table("clusters")["size"].to_pylist()


def test_a_remote_dataset_is_replaced_and_swept(qpr, s3):
    for seed in (1, 2):
        assert qpr("simulate", "--output", f"{s3}/{seed}.jsonl.gz", "--events", 300, "--seed", seed).code == 0
    given = ("clusters", "--output", f"{s3}/dataset")
    assert qpr(*given, f"{s3}/1.jsonl.gz").code == 0
    first = read_manifest(f"{s3}/dataset")
    refused = qpr(*given, f"{s3}/2.jsonl.gz")
    assert (refused.code, read_manifest(f"{s3}/dataset")) == (1, first)
    assert qpr(*given, f"{s3}/2.jsonl.gz", "--overwrite").code == 0
    second = read_manifest(f"{s3}/dataset")
    assert second.digest != first.digest
    assert storage.children(f"{s3}/dataset") == [second.run_id, "manifest.json"]
    page = read_verified(f"{s3}/dataset", second.of(REPORTS)[0]).decode()
    assert second.run_id in page
    assert second.distributions["size"]["max"] == max(sizes(f"{s3}/dataset"))
    before = storage.children(f"{s3}/dataset")
    assert qpr(*given, f"{s3}/*.jsonl.gz", "--overwrite", "--dry-run").code == 0
    assert storage.children(f"{s3}/dataset") == before


@pytest.mark.parametrize("store", ["memory", "s3"])
def test_a_remote_place_that_is_missing_is_an_error_that_names_it(qpr, request, store):
    place = request.getfixturevalue(store)
    outcome = qpr("clusters", f"{place}/none.jsonl", "--output", f"{place}/dataset")
    assert outcome.code == 1
    assert f"{place}/none.jsonl: no file matches" in outcome.err
    outcome = qpr("search", "--index", f"{place}/index", "who")
    assert (outcome.code, f"{place}/index: not an index: it does not exist" in outcome.err) == (1, True)


@pytest.mark.parametrize(
    "reading",
    [
        ("search", "--index", "s3://bukcet/index", "who"),
        ("clusters", "s3://bukcet/*.jsonl", "--output", "here"),
        ("calibrate", "s3://bukcet", "--output", "here"),
        ("index", "--questions", "s3://bukcet", "--model", "model", "--output", "here"),
        ("train", "--dataset", "s3://bukcet/dataset", "--output", "here"),
        ("versions", "--warehouse", "s3://bukcet/warehouse"),
        ("gc", "--warehouse", "s3://bukcet"),
    ],
    ids=lambda arguments: arguments[0],
)
def test_a_reader_of_a_mistyped_bucket_is_not_advised_to_make_what_it_reads(qpr, s3, reading):
    outcome = qpr(*reading)
    assert outcome.code == 1
    assert "there is no such bucket. Create it, or correct the URL" in outcome.err


def test_a_mistyped_bucket_is_an_error_and_is_not_made(qpr, s3, tmp_path):
    (tmp_path / "log.jsonl").write_text('{"question": "how do I pay", "answer": "At the desk."}\n')
    for arguments in (
        ("simulate", "--events", 50, "--output", "s3://bukcet/log.jsonl"),
        ("clusters", tmp_path / "log.jsonl", "--output", "s3://bukcet/dataset"),
    ):
        outcome = qpr(*arguments)
        assert (outcome.code, "error: s3://bukcet/" in outcome.err) == (1, True)
        assert "there is no such bucket. Create it, or correct the URL" in outcome.err
    assert fsspec.filesystem("s3").ls("", refresh=True) == ["bucket"]
