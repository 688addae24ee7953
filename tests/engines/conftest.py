"""Engines to run on, started once and stopped, and small inputs for the commands that write datasets and indexes."""

import importlib.metadata
import json
import shutil
import subprocess
import sys
import venv

import pytest

from benchmarks import engine_servers
from benchmarks.engine_servers import ROOT, Engine, MissingEngineError
from benchmarks.kill_commands import write_pairs
from schemas.dataset import open_dataset
from schemas.digest import content_digest
from schemas.manifest import read_manifest

PACKAGES = ("schemas", "pipelines", "model", "jobs")


def or_skip(start):
    """Return what ``start`` returns; skip the test if the engine is not here."""
    try:
        return start()
    except MissingEngineError as missing:
        pytest.skip(str(missing))


def command(*arguments, flags=(), check=True, script=("-m", "jobs")):
    """Run ``qpr`` as a process of its own, Beam's flags last."""
    given = [sys.executable, *script, *map(str, arguments), *(["--", *flags] if flags else [])]
    done = subprocess.run(given, cwd=ROOT, capture_output=True, text=True, timeout=240, check=False)
    if check:
        assert done.returncode == 0, done.stderr[-3000:]
    return done


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
def bare_python(tmp_path_factory):
    """Make an environment with our wheel and its extra ``beam``, nothing else, and return its Python."""
    folder = tmp_path_factory.mktemp("bare")
    for package in PACKAGES:  # a copy, so that the build leaves nothing in the repository
        shutil.copytree(ROOT / package, folder / "tree" / package, ignore=shutil.ignore_patterns("__pycache__"))
    for name in ("setup.py", "pyproject.toml"):
        shutil.copy(ROOT / name, folder / "tree" / name)
    pip = [sys.executable, "-m", "pip", "wheel", "-q", "--no-deps", "--no-build-isolation", "-w", str(folder)]
    subprocess.run([*pip, str(folder / "tree")], check=True, capture_output=True)
    [wheel] = folder.glob("*.whl")
    venv.create(folder / "venv", with_pip=True, symlinks=True)
    python = folder / "venv" / "bin" / "python"
    same_versions = folder / "constraints.txt"
    same_versions.write_text("".join(f"{d.name}=={d.version}\n" for d in importlib.metadata.distributions()))
    install = [python, "-m", "pip", "install", "-q", f"{wheel}[beam]", "-c", same_versions]
    done = subprocess.run(install, capture_output=True, text=True, check=False)
    if done.returncode and "No matching distribution" in done.stderr:
        pytest.skip(f"no package index to install from: {done.stderr.strip().splitlines()[-1]}")
    assert done.returncode == 0, done.stderr
    return python


@pytest.fixture(scope="session")
def logs(tmp_path_factory):
    """Write 20,000 log rows in two formats and 60 lines that are no rows."""
    folder = tmp_path_factory.mktemp("logs")
    for seed, name in enumerate(("logs.parquet", "logs.jsonl")):
        command("simulate", "--output", folder / name, "--events", 10_000, "--seed", seed)
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
    command("clusters", "--logs", logs, "--output", url, "--shards", 3)
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
                ("--logs", request.getfixturevalue("logs"))
                if name == "clusters"
                else ("--pairs", request.getfixturevalue("pairs"), "--held-out-pairs", 300)
            )
        # another number of shards is another layout, not another content; FAISS shards are what they are
        shards = 3 if name == "index" or flags[0].endswith("FnApiRunner") else 2
        done = command(name, *given, "--output", url, "--shards", shards, "--json", flags=flags)
        counters = json.loads(done.stdout)["counters"]
        if name == "index":
            return read_manifest(str(url), "index").digest, counters
        return content_digest(open_dataset(str(url))), counters

    return write
