"""Nights of a warehouse on S3 (moto's server) give the versions of one on the local disk."""

import json

import pytest

from schemas.artifacts import storage
from schemas.versions import history
from schemas.versions.version import check_artefact
from tests.faults.reporting import output_of
from tests.jobs.nightly.conftest import rows_of

FAST = ["--epochs", 1, "--dimension", 16, "--vocabulary-size", 200, "--hash-bins", 50, "--ngram-bins", 50]
FAST += ["--split-salt", "another", "--shards", 2, "--json"]
NAMES = ("dataset", "model", "index", "splits", "report", "test")


def nights(qpr, warehouse, drop, dates):
    """Run two nights and a late drop of the first, and return the digests of each version."""
    for day in (1, 2, 1):
        seed = 5 if history.numbers(warehouse) == [1, 2] else 0
        drop(warehouse, dates(day), rows_of(dates(day), seed=seed, count=200), name=f"log-{seed}.jsonl")
        outcome = qpr("nightly", "--warehouse", warehouse, "--date", dates(day), *FAST)
        assert outcome.code == 0, outcome.err
        assert json.loads(outcome.out)["published"]
    versions = [history.read_version(warehouse, number) for number in history.numbers(warehouse)]
    return [[getattr(version, name).digest for name in NAMES] + [version.metrics] for version in versions]


@pytest.mark.fault
@pytest.mark.slow
@pytest.mark.xdist_group("remote_storage")
def test_nights_on_s3_make_the_versions_of_the_local_disk(qpr, s3, tmp_path, drop, dates):
    remote = storage.join(s3, "w")
    found = nights(qpr, remote, drop, dates)
    assert found == nights(qpr, str(tmp_path / "w"), drop, dates)
    assert len(found) == 3
    again = qpr("nightly", "--warehouse", remote, "--date", dates(2), *FAST)
    assert json.loads(again.out)["unchanged"]
    last = history.read_version(remote, 3)
    assert qpr("rollback", "--warehouse", remote, "--to", 1).code == 0
    swept = json.loads(qpr("gc", "--warehouse", remote, "--keep", 1, "--grace-hours", 0, "--delete", "--json").out)
    assert {last.dataset.path, last.index.path} <= set(swept["folders"])
    number, version = history.current(remote)
    for artefact, kind in version.artefacts.items():
        check_artefact(remote, artefact, kind, version=f"version {number}")
    found = qpr("search", "--warehouse", remote, "how do i open the garden gate")
    assert "open the garden gate" in found.out


@pytest.mark.fault
@pytest.mark.slow
@pytest.mark.xdist_group("kills")
def test_of_nights_on_s3_that_begin_together_one_publishes():
    pytest.importorskip("s3fs", reason="s3fs is not installed")
    pytest.importorskip("moto.server", reason="moto's server is not installed")
    [counts] = output_of("night_races", "--races", 2, timeout_s=300)
    assert (counts["one_winner"], counts["wrong"], counts["unclear"]) == (2, 0, 0)
