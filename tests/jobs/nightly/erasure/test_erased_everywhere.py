import gzip
import json
from unittest.mock import Mock

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from jobs.nightly.erasure import artefacts
from jobs.workflows import confidence
from model.confidence import fitting
from schemas.artifacts import storage
from schemas.artifacts.manifest import MANIFEST, read_manifest
from schemas.tables import CONFIDENCE
from schemas.versions import history
from schemas.versions.version import check_artefact
from tests.jobs.nightly.conftest import rows_of

FAST = ["--epochs", 1, "--dimension", 16, "--vocabulary-size", 400, "--hash-bins", 50, "--ngram-bins", 50, "--json"]
FAST += ["--split-salt", "another", "--shards", 2]
SECRET = "how do i repair the Zibeline"
WORDINGS = (SECRET, "How do I repair the zibeline?", "HOW DO I REPAIR THE ZIBELINE!")
OF_ZOE = ("how does zoe repair the quagga", "how can zoe repair the quagga", "please tell zoe how to repair the quagga")


def decoded(*folders):
    """Return names and bytes of all files, and the values of tables, in small letters; drops are left out."""
    texts = []
    for path in (path for folder in folders for path in folder.rglob("*") if path.is_file()):
        if "/events/" in str(path):
            continue
        content = path.read_bytes()
        texts += [str(path), content.decode("latin-1")]
        if content.startswith(b"PAR1"):
            texts.append(str(pq.read_table(path).to_pylist()))
        elif content.startswith(b"ARROW1"):
            texts.append(str(pa.ipc.open_file(content).read_all().to_pylist()))
        elif content.startswith(b"\x1f\x8b"):
            texts.append(gzip.decompress(content).decode())
    return " ".join(texts).lower()


def rows_with_secret(date, *, seed=0):
    rows = [{**row, "user_id": f"u{n % 20}"} for n, row in enumerate(rows_of(date, seed=seed, count=200))]
    fact = next(row for row in rows if "repair the old tractor" in row["question"])
    rows += [{**fact, "question": text, "user_id": "zoe"} for text in WORDINGS]
    rows += [{**fact, "question": text, "user_id": "zoe"} for text in OF_ZOE]
    return [
        *rows,
        {"question": SECRET, "answer": None, "user_id": "zoe"},
        {"question": [SECRET], "answer": "none", "user_id": "zoe"},
    ]


def night(qpr, warehouse, *options):
    outcome = qpr("nightly", "--warehouse", warehouse, *FAST, *options)
    assert outcome.code == 0, outcome.err
    return outcome


def erase(qpr, warehouse, *options):
    outcome = qpr("erase", "--warehouse", warehouse, "--json", *options)
    assert outcome.code == 0, outcome.err
    assert "zibeline" not in (outcome.out + outcome.err).lower()
    return json.loads(outcome.out)


@pytest.fixture
def key(monkeypatch):
    monkeypatch.setenv("QPR_USER_KEY", "the-secret-key-of-the-environment")


@pytest.fixture
def warehouse(tmp_path, drop, dates, qpr, key, monkeypatch):
    for module in (confidence, fitting):
        monkeypatch.setattr(module, "LEAST_QUERIES", 10)  # the log has few validation clusters
    w = tmp_path / "w"
    for day in (1, 2, 3):
        drop(str(w), dates(day), rows_with_secret(dates(day)))
    night(qpr, w, "--date", dates(1))
    night(qpr, w, "--date", dates(2))
    assert found_in(w) == ["zibeline", "quagga"]
    assert [words.count("quagga") for words in counted_words(str(w))] == [1, 1]
    return w


@pytest.mark.slow
def test_secrets_are_in_no_byte_of_a_warehouse_and_no_later_night_brings_them_back(
    qpr, warehouse, drop, dates, monkeypatch
):
    w = str(warehouse)
    folders = "datasets", "models", "indexes", "splits"
    digests = {url: read_manifest(url).digest for url in made(w, *folders)}
    given = "--question", SECRET, "--user", "zoe"
    planned = erase(qpr, w, *given, "--dry-run")
    assert {url: read_manifest(url).digest for url in digests} == digests
    assert not storage.exists(storage.join(w, "erased"))
    # a killed erasure leaves every version readable, and the next one does the rest
    with monkeypatch.context() as patched:
        patched.setattr(artefacts, "erase_from_dataset", Mock(side_effect=KeyboardInterrupt))
        assert qpr("erase", "--warehouse", w, *given).code != 0
    check_versions(qpr, w)
    assert found_in(warehouse)
    report = erase(qpr, w, *given)
    done = "indexes/", "models/"
    assert report["artefacts"] == [one for one in planned["artefacts"] if not one["path"].startswith(done)]
    assert len(planned["artefacts"]) == 9  # two of each kind and two days, but one model
    assert not found_in(warehouse)
    assert len(report["logs_with_it"]) == 3
    assert all(read_manifest(url).is_or_was(digest) for url, digest in digests.items())
    check_versions(qpr, w)
    again = erase(qpr, w, *given)
    assert (again["artefacts"], again["added_to_the_list_of_erased"]) == ([], False)
    assert json.loads(qpr("rollback", "--warehouse", w, "--to", 1, "--json").out)["version"] == 3

    # the same drops, a changed one and a new one
    drop(w, dates(1), rows_with_secret(dates(1), seed=5), name="late.jsonl")
    broken = f'{json.dumps(rows_of(dates(2), seed=3)[0])}\n{{"question": "{SECRET}", "answer"\n'
    storage.write_bytes(storage.join(w, "events", f"date={dates(2)}", "late.jsonl"), broken.encode())
    night(qpr, w, "--from", dates(1), "--to", dates(2), "--retrain", "always")
    night(qpr, w, "--date", dates(3))
    assert not found_in(warehouse)
    check_versions(qpr, w)
    day = read_manifest(storage.join(w, "daily", f"date={dates(3)}"))
    assert day.counters["rows_erased"] == len(rows_with_secret(dates(3))) - 200


def found_in(warehouse):
    texts = decoded(warehouse)
    return [secret for secret in ("zibeline", "quagga") if secret in texts]


def counted_words(warehouse):
    """Return the words that the confidence model of each index has counted."""
    found = [(url, file) for url in made(warehouse, "indexes") for file in read_manifest(url).of(CONFIDENCE)]
    return [json.loads(storage.read_bytes(storage.join(url, file.path)))["words"] for url, file in found]


def made(warehouse, *folders):
    names = [(folder, name) for folder in folders for name in storage.children(storage.join(warehouse, folder))]
    found = [storage.join(warehouse, *name) for name in names]
    return [url for url in found if storage.exists(storage.join(url, MANIFEST))]


def check_versions(qpr, warehouse):
    """Check that every version can be used as its record names it."""
    for number in history.numbers(warehouse):
        version = history.read_version(warehouse, number)
        for artefact, kind in version.artefacts.items():
            check_artefact(warehouse, artefact, kind, version=f"version {number}")
        index = storage.join(warehouse, version.index.path)
        assert "repair the" in qpr("search", "--index", index, "how do i repair the old tractor").out
