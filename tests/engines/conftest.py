"""Engines to run on, started once and stopped, and small inputs for the commands that write datasets and indexes."""

import concurrent.futures
import functools
import importlib.metadata
import json
import subprocess
import sys

import grpc
import pytest
from apache_beam.portability.api import beam_job_api_pb2, beam_job_api_pb2_grpc
from apache_beam.runners.portability.stager import Stager

from schemas.artifacts.content_digest import content_digest
from schemas.artifacts.dataset import open_dataset
from schemas.artifacts.manifest import read_manifest
from tests.support import engine_servers, worker_environment
from tests.support.engine_servers import ROOT, Engine, MissingEngineError
from tests.support.kill_commands import write_pairs
from tests.support.worker_environment import NoPackageIndexError, make_environment


def or_skip(start):
    """Return what ``start`` returns; skip the test if what it needs is not here."""
    try:
        return start()
    except (MissingEngineError, NoPackageIndexError) as missing:
        pytest.skip(str(missing))


def command(*arguments, flags=(), check=True, script=("-m", "jobs")):
    """Run ``qpr`` as a process of its own, Beam's flags last."""
    given = [sys.executable, *script, *map(str, arguments), *(["--", *flags] if flags else [])]
    done = subprocess.run(given, cwd=ROOT, capture_output=True, text=True, timeout=240, check=False)
    if check:
        assert done.returncode == 0, done.stderr[-3000:]
    return done


class Recorder(beam_job_api_pb2_grpc.JobServiceServicer):
    """A job service that keeps the last job it was asked to prepare, and refuses it."""

    job = None

    def DescribePipelineOptions(self, request, context):  # noqa: N802
        return beam_job_api_pb2.DescribePipelineOptionsResponse()

    def Prepare(self, request, context):  # noqa: N802
        self.job = request
        context.abort(grpc.StatusCode.FAILED_PRECONDITION, "it was recorded")


@pytest.fixture(scope="session")
def submitted(builds):
    """Return a function: name of a pipeline, Beam's flags -> the job that is handed to the engine's job server."""
    from pipelines.engine.runner import parse_options, run
    from schemas.errors import QprError

    recorder = Recorder()
    server = grpc.server(concurrent.futures.ThreadPoolExecutor(1))
    beam_job_api_pb2_grpc.add_JobServiceServicer_to_server(recorder, server)
    port = server.add_insecure_port("127.0.0.1:0")
    server.start()

    @functools.cache
    def submit(name, *flags):
        recorder.job = None
        with pytest.raises(QprError, match="did not run the pipeline"):
            run(builds[name], parse_options([*flags, f"--job_endpoint=127.0.0.1:{port}"]))
        assert recorder.job is not None
        return recorder.job

    with pytest.MonkeyPatch.context() as patched:  # else `pip freeze` runs in a process for each job
        patched.setattr(Stager, "_create_stage_submission_env_dependencies", staticmethod(lambda _: []))
        yield submit
    server.stop(None)


@pytest.fixture(scope="session")
def builds():
    """Return the pipelines as they are built: a name -> what adds its steps; no input is read."""
    from jobs.workflows.worker_encoder import WorkerEncoder
    from model.index.shard_builder import ShardBuilder
    from pipelines.graphs import from_logs as clusters
    from pipelines.graphs import from_pairs as quora
    from pipelines.graphs import index
    from pipelines.graphs.settings import Assembly, ClustersConfig, QuoraConfig
    from pipelines.linkage.settings import Linking
    from pipelines.privacy.settings import Privacy
    from pipelines.reading.index_inputs import TableFile
    from pipelines.reading.sources import Source

    questions = [TableFile(Source("/questions.parquet", 1, "parquet"), ())]
    sharded = index.ShardedQuestions(questions, 2, WorkerEncoder("/model", "digest"), ShardBuilder(256))
    known = {"run_url": "/out/run", "sources": [Source("/logs.parquet", 1, "parquet")]}

    def linked(method, kind=None, encode=None, **privacy):
        linking = Linking(method=method, encoder_kind=kind)
        config = ClustersConfig(shards=2, assembly=Assembly(linking=linking), privacy=Privacy(**privacy))
        return lambda pipeline: clusters.build(pipeline, config=config, encode=encode, **known)

    return {
        "clusters": linked("boosted"),
        "fellegi-sunter": linked("fellegi-sunter"),
        "static": linked("boosted", "static", WorkerEncoder("/model", "digest")),
        "users": linked("boosted", min_users=2, max_answer_events_of_user=9),
        "quora": lambda p: quora.build(p, config=QuoraConfig(shards=2), **known),
        "index": lambda p: index.build(p, run_url="/run", sharded=sharded),
    }


@pytest.fixture(scope="session")
def qpr_process():
    return command


@pytest.fixture(scope="session")
def in_memory():
    return engine_servers.in_memory()


@pytest.fixture(scope="session")
def every_bundle_twice():
    return Engine(["--runner=FnApiRunner", "--direct_runner_bundle_repeat=1"])


@pytest.fixture(scope="session")
def multi_processing():
    return Engine(["--runner=FnApiRunner", "--direct_running_mode=multi_processing", "--direct_num_workers=2"])


@pytest.fixture(scope="session")
def prism():
    return or_skip(engine_servers.prism)


@pytest.fixture(scope="session")
def job_service(tmp_path_factory):
    with engine_servers.job_service(tmp_path_factory.mktemp("job_service")) as engine:
        yield engine


@pytest.fixture(scope="session")
def job_service_elsewhere(tmp_path_factory, bare_python):
    with engine_servers.job_service(tmp_path_factory.mktemp("job_service"), worker_python=bare_python) as engine:
        yield engine


@pytest.fixture(scope="session")
def spark_local(tmp_path_factory):
    server = engine_servers.spark(tmp_path_factory.mktemp("spark"))
    engine = or_skip(server.__enter__)
    yield engine
    server.__exit__(None, None, None)


@pytest.fixture(scope="session")
def spark_cluster(tmp_path_factory, bare_python):
    server = engine_servers.spark(tmp_path_factory.mktemp("spark"), worker_python=bare_python, cluster=True)
    engine = or_skip(server.__enter__)
    yield engine
    server.__exit__(None, None, None)


@pytest.fixture(scope="session")
def setup_file(tmp_path_factory):
    return worker_environment.copy_packages(tmp_path_factory.mktemp("tree"))


@pytest.fixture(scope="session")
def staged_package(tmp_path_factory, setup_file):
    return worker_environment.stage(setup_file, tmp_path_factory.mktemp("staged"))


@pytest.fixture(scope="session")
def bare_python(tmp_path_factory, staged_package):
    """Make an environment with Beam and the staged package without any extra, and return its Python.

    Google's two libraries are those that Beam's runner for Dataflow needs to write a job.
    """
    google = ("google-cloud-dataflow-client", "google-cloud-storage")
    return or_skip(lambda: make_environment(tmp_path_factory.mktemp("bare") / "venv", staged_package, *google))


@pytest.fixture(scope="session")
def faiss_beside(bare_python):
    """Add to that environment what the steps of `qpr index` need besides: the extra `index`."""
    needs = importlib.metadata.requires("question-paraphrase-retrieval")
    wanted = [need.split(";")[0].strip() for need in needs if need.endswith('extra == "index"')]
    or_skip(lambda: worker_environment.install(bare_python, *wanted))


@pytest.fixture(scope="session")
def logs(tmp_path_factory):
    """Write 10,000 log rows in two formats and 60 lines that are no rows."""
    folder = tmp_path_factory.mktemp("logs")
    for seed, name in enumerate(("logs.parquet", "logs.jsonl")):
        command("simulate", "--output", folder / name, "--events", 5_000, "--seed", seed)
    with (folder / "logs.jsonl").open("a") as file:
        file.writelines('{"question": "?", "answer": "x"}\n' if n % 2 else "{broken\n" for n in range(60))
    return folder / "logs.*"


@pytest.fixture(scope="session")
def pairs(tmp_path_factory):
    file = tmp_path_factory.mktemp("pairs") / "pairs.tsv"
    write_pairs(file, seed=1, count=6_000)
    return file


@pytest.fixture(scope="session")
def dataset(tmp_path_factory, logs):
    url = str(tmp_path_factory.mktemp("dataset") / "dataset")
    command("clusters", logs, "--output", url, "--shards", 3)
    return url


@pytest.fixture(scope="session")
def model(tmp_path_factory, make_model):
    url = str(tmp_path_factory.mktemp("model") / "model")
    make_model(url)
    return url


@pytest.fixture(scope="session")
def written(tmp_path_factory, request):
    """Return a function: command and engine -> digest of what it writes there; the command runs once an engine."""
    known = {}

    def write(name, engine_name):
        if (name, engine_name) not in known:
            engine = request.getfixturevalue(engine_name)
            known[name, engine_name] = digest_of_run(tmp_path_factory.mktemp(name) / "out", name, engine.flags)
        return known[name, engine_name]

    def digest_of_run(url, name, flags):
        if name == "index":
            given = ("--questions", request.getfixturevalue("dataset"), "--model", request.getfixturevalue("model"))
        else:
            given = (
                (request.getfixturevalue("logs"),)
                if name == "clusters"
                else (request.getfixturevalue("pairs"), "--held-out-pairs", 300)
            )
        # another number of shards is another layout, not another content; FAISS shards are what they are
        shards = 3 if name == "index" or flags[0].endswith("FnApiRunner") else 2
        done = command(name, *given, "--output", url, "--shards", shards, "--json", flags=flags)
        counters = json.loads(done.stdout)["counters"]
        if name == "index":
            return read_manifest(str(url), "index").digest, counters
        return content_digest(open_dataset(str(url))), counters

    return write
