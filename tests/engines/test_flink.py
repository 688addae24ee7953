"""The whole chain on Flink inside one JVM, where somebody has the jar of Beam's Flink job server."""

import json
import os

import pytest

from schemas.artifacts.content_digest import content_digest
from schemas.artifacts.dataset import open_dataset
from schemas.artifacts.manifest import read_manifest

pytestmark = [pytest.mark.engine, pytest.mark.slow, pytest.mark.xdist_group("engines")]

JAR = "QPR_FLINK_JOB_SERVER_JAR"
TINY = ("--epochs", 1, "--batch-size", 64, "--dimension", 16, "--vocabulary-size", 500, "--hash-bins", 50)


@pytest.fixture
def flink():
    if not os.environ.get(JAR):
        pytest.skip(f"{JAR} names no jar of Beam's Flink job server")
    jar = f"--flink_job_server_jar={os.environ[JAR]}"
    return ["--runner=FlinkRunner", "--flink_master=[local]", jar, "--parallelism=2", "--environment_type=LOOPBACK"]


def test_the_whole_chain_on_embedded_flink_gives_what_it_gives_in_memory(qpr_process, logs, flink, tmp_path):
    found = {}
    for name, flags in {"memory": ["--runner=FnApiRunner"], "flink": flink}.items():
        dataset, model, index = (str(tmp_path / name / kind) for kind in ("dataset", "model", "index"))
        qpr_process("clusters", logs, "--output", dataset, "--shards", 2, flags=flags)
        qpr_process("train", "--dataset", dataset, "--output", model, *TINY)
        given = ("--questions", dataset, "--model", model, "--output", index, "--shards", 2)
        counters = json.loads(qpr_process("index", *given, "--json", flags=flags).stdout)["counters"]
        found[name] = content_digest(open_dataset(dataset)), read_manifest(index, "index").digest, counters
    assert found["flink"] == found["memory"]
