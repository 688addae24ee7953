import json

import pytest

from schemas.artifacts.content_digest import content_digest
from schemas.artifacts.dataset import open_dataset
from schemas.artifacts.manifest import read_manifest
from tests.support.engine_servers import ROOT

pytestmark = [pytest.mark.engine, pytest.mark.xdist_group("engines")]

FAILS_ONCE = (ROOT / "tests" / "engines" / "fails_once.py",)


@pytest.fixture
def run(qpr_process, logs):
    """Return a function that runs `qpr clusters` on an engine, in a process where two steps fail once if asked."""

    def clusters(url, engine, *, failing, check=True):
        flags = [f for f in engine.flags if not f.startswith("--environment_")]
        if len(flags) < len(engine.flags):
            flags.append("--environment_type=LOOPBACK")  # what fails must live in the process that submits
        given = ("clusters", logs, "--output", url, "--shards", 2, "--overwrite", "--json")
        script = {"script": FAILS_ONCE} if failing else {}
        return qpr_process(*given, flags=flags, check=check, **script)

    return clusters


@pytest.mark.slow
def test_a_step_that_fails_after_it_wrote_is_tried_again_and_no_row_is_doubled(run, written, spark_cluster, tmp_path):
    url = str(tmp_path / "dataset")
    done = run(url, spark_cluster, failing=True)
    assert "failed once: ['questions', 'rejected']" in done.stderr
    digest, counters = written("clusters", "in_memory")
    assert json.loads(done.stdout)["counters"] == counters
    assert content_digest(open_dataset(url)) == digest


@pytest.mark.parametrize("name", ["in_memory", "prism"])
def test_an_engine_that_never_tries_again_fails_and_the_old_dataset_stays(run, request, tmp_path, name):
    url = str(tmp_path / "dataset")
    run(url, request.getfixturevalue("in_memory"), failing=False)
    old = read_manifest(url)
    done = run(url, request.getfixturevalue(name), failing=True, check=False)
    assert done.returncode == 1
    assert done.stdout == ""
    assert "the worker is lost after" in done.stderr
    assert read_manifest(url) == old
    assert all(content_digest(open_dataset(url)).values())  # every file is there and verified
