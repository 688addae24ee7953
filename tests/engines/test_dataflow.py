"""Dataflow as far as it goes without an account: what is staged, what workers unpickle, and the job of its API."""

import json
import subprocess
import tarfile

import pytest
from apache_beam.portability import common_urns
from apache_beam.portability.api import beam_runner_api_pb2

from tests.support.engine_servers import ROOT

FOLDER = ROOT / "tests" / "engines"
FLAGS = [
    "--runner=DataflowRunner",
    "--project=project",
    "--region=europe-west1",
    "--temp_location=gs://bucket/temp",
    "--staging_location=gs://bucket/staging",
    "--machine_type=n2-highmem-4",
    "--max_num_workers=32",
    "--disk_size_gb=100",
    "--worker_zone=europe-west1-b",
    "--no_use_public_ips",
    "--experiments=use_runner_v2",
]

pytestmark = [pytest.mark.engine, pytest.mark.xdist_group("engines")]


def as_worker(python, *arguments):
    """Run a script in the worker's environment, outside the repository."""
    done = subprocess.run([python, *arguments], cwd="/", capture_output=True, text=True, check=False, timeout=120)
    assert done.returncode == 0, done.stderr[-3000:]
    return done.stdout


def files_of(archive):
    return {name.partition("/")[2] for name in archive.getnames()}


def leaves(pipeline):
    """Return what an engine runs of a pipeline, and how: (name, kind)."""
    kinds = {common_urns.primitives.PAR_DO.urn: "ParDo", common_urns.primitives.GROUP_BY_KEY.urn: "GroupByKey"}
    found = {(t.unique_name, kinds.get(t.spec.urn)) for t in pipeline.components.transforms.values()}
    return {(name, kind) for name, kind in found if kind and "/CombinePerKey" not in name}


def test_the_staged_package_holds_every_module_and_every_learned_weight(staged_package):
    with tarfile.open(staged_package) as archive:
        staged = files_of(archive)
    ours = [p for package in ("schemas", "pipelines", "model", "jobs", "qpr") for p in (ROOT / package).rglob("*")]
    wanted = {str(p.relative_to(ROOT)) for p in ours if p.suffix in (".py", ".json", ".typed")}
    assert any(name.endswith(".json") for name in wanted)
    assert wanted <= staged


@pytest.mark.slow
@pytest.mark.parametrize("name", ["clusters", "fellegi-sunter", "quora"])
def test_steps_unpickle_where_only_beam_and_the_staged_package_are(submitted, bare_python, tmp_path, name):
    pipeline = submitted(name, "--runner=PortableRunner", "--environment_type=EXTERNAL", "--environment_config=x:1")
    (tmp_path / "job").write_bytes(pipeline.pipeline.SerializeToString())
    found = json.loads(as_worker(bare_python, FOLDER / "rebuild_steps.py", tmp_path / "job"))
    assert found["functions"] > 20
    assert found["coders"] > 5
    assert {"pipelines.graphs.dataset", "pipelines.writing.parquet", "pipelines.linkage.linker"} <= found[
        "modules"
    ].keys()
    elsewhere = [path for path in found["modules"].values() if not path.startswith(str(bare_python.parent.parent))]
    assert elsewhere == []
    listed = "import importlib.metadata as m; print(*(d.name for d in m.distributions()), sep='\\n')"
    installed = as_worker(bare_python, "-c", listed).lower().split()
    assert not {"torch", "faiss-cpu", "scikit-learn", "matplotlib"} & set(installed)


@pytest.fixture(scope="module")
def job(bare_python, setup_file, tmp_path_factory):
    """Return a function: name of a pipeline, more flags -> the job for Dataflow's API, the pipeline, what is staged."""

    def translate(name, *flags):
        folder = tmp_path_factory.mktemp(name)
        as_worker(bare_python, FOLDER / "dataflow_job.py", name, folder, *FLAGS, f"--setup_file={setup_file}", *flags)
        pipeline = beam_runner_api_pb2.Pipeline.FromString((folder / "pipeline.pb").read_bytes())
        return json.loads((folder / "template.json").read_text()), pipeline, folder

    return translate


@pytest.mark.slow
@pytest.mark.parametrize("name", ["clusters", "quora"])
def test_the_graph_translates_to_a_job_of_dataflow_with_the_documented_options(job, submitted, staged_package, name):
    described, pipeline, folder = job(name)
    pool = described["environment"]["workerPools"][0]
    assert described["type"] in (1, "JOB_TYPE_BATCH")
    assert (pool["machineType"], pool["diskSizeGb"], pool["autoscalingSettings"]["maxNumWorkers"]) == (
        "n2-highmem-4",
        100,
        32,
    )
    assert pool["sdkHarnessContainerImages"][0]["containerImage"].endswith(":2.77.0")
    assert "workflow.tar.gz" in {package["name"] for package in pool["packages"]}
    with tarfile.open(folder / "workflow.tar.gz") as sent, tarfile.open(staged_package) as built:
        assert files_of(sent) == files_of(built)
    flink = submitted(name, "--runner=FlinkRunner", "--environment_type=EXTERNAL", "--environment_config=x:1")
    assert leaves(pipeline) == leaves(flink.pipeline)


@pytest.mark.slow
def test_a_worker_image_takes_the_place_of_the_staged_package(job):
    image = "europe-docker.pkg.dev/project/repository/qpr-worker:1"
    described, pipeline, _ = job("clusters", f"--sdk_container_image={image}", "--sdk_location=container")
    [used] = described["environment"]["workerPools"][0]["sdkHarnessContainerImages"]
    assert used["containerImage"] == image
    assert {e.urn for e in pipeline.components.environments.values()} == {common_urns.environments.DOCKER.urn}
