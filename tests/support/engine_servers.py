"""Starting the engines that tests and benchmarks run pipelines on, and stopping all they started.

name of an engine -> a running server -> the flags that `qpr … --` takes to use it

The folder with Prism and Spark is ``$QPR_ENGINES``, or ``shared/tools`` beside the repository. ``$QPR_SPARK_JARS`` is a
folder with all jars of Spark 3.5, such as ``pyspark/jars`` of ``pip install pyspark==3.5.1``, for what that Spark may
lack of Kryo.
"""

from __future__ import annotations

import contextlib
import os
import shutil
import signal
import socket
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

from tests.support.ports import free_ports
from tests.support.waiting import wait_until

ROOT = Path(__file__).resolve().parents[2]
_JVM = "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC -XX:-UsePerfData"
"""Java here moves bytes between Python workers: optimising compilers cost more than they give back. $JAVA_TOOL_OPTIONS
replaces this."""

_KRYO_JARS = ("chill-java", "minlog", "objenesis", "avro")
_KRYO = " -Dspark.serializer=org.apache.spark.serializer.KryoSerializer -Dspark.kryoserializer.buffer.max=512m"


class Engine(NamedTuple):
    """Flags for ``qpr … --`` and the process to watch, None where the command starts the engine itself."""

    flags: list[str]
    pid: int | None = None


class MissingEngineError(Exception):
    """Something outside this project that an engine needs is not here; the message says what."""


def tools_folder() -> Path:
    """Return the folder that holds the engines."""
    return Path(os.environ.get("QPR_ENGINES") or ROOT.parent / "shared" / "tools")


def in_memory() -> Engine:
    """Return Beam's in-process runner."""
    return Engine(["--runner=FnApiRunner"])


def prism() -> Engine:
    """Return Beam's portable runner, which the command starts and stops.

    Raises:
        MissingEngineError: its file is not there.
    """
    return Engine(["--runner=PrismRunner", f"--prism_location={_tool('prism')}"])


@contextlib.contextmanager
def spark(
    logs: Path,
    *,
    worker_python: Path | None = None,
    cluster: bool = False,
    memory: str = "1g",
    parallelism: int | None = None,
) -> Iterator[Engine]:
    """Run Spark with Beam's job server: in one JVM, or as a cluster of processes.

    Args:
        logs: the folder of its logs and of what it spills.
        worker_python: the environment whose workers run our code; the submitting process by default.
        cluster: master, worker and executor are processes of their own.
        memory: of the driver and of an executor, as Java writes it.
        parallelism: into how many tasks a step is divided; as many as there are cores by default.

    With Kryo, which Beam's job server needs for that, what several steps read is kept on disk instead of in memory.

    Raises:
        MissingEngineError: Spark or Java is not there.
    """
    start, kryo = _with_kryo(_tool("spark/start"), logs)
    if shutil.which("java") is None:
        raise MissingEngineError("no java on PATH")
    names = ("JOB_PORT", "ARTIFACT_PORT", "MASTER_PORT", "POOL_PORT")
    environment = dict(zip(names, map(str, free_ports(len(names))), strict=True))
    environment |= {"DRIVER_MEMORY": memory, "EXECUTOR_MEMORY": memory, "SPARK_LOGS": str(logs)}
    environment["WORKER_PYTHON"] = str(worker_python or sys.executable)
    tasks = f" -Dspark.default.parallelism={parallelism}" if parallelism else ""
    kept = f" -Djava.io.tmpdir={logs}"  # a Java that is killed leaves its temporary files
    java = os.environ.get("JAVA_TOOL_OPTIONS", _JVM) + kept + tasks + (_KRYO if kryo else "")
    environment |= {"JAVA_TOOL_OPTIONS": java, "TMPDIR": str(logs)}
    command = [str(start), "cluster" if cluster else "local"]
    with serving(command, environment, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as process:
        assert process.stdout is not None
        ready = process.stdout.readline().decode().split()
        if ready[:1] != ["READY"]:
            raise RuntimeError(f"{start} did not start; see {logs}")
        wanted = ("job_endpoint", "artifact_endpoint") + (("environment_config",) if worker_python else ())
        found = [word for word in ready[1:] if word.split("=")[0] in wanted]
        kind = "EXTERNAL" if worker_python else "LOOPBACK"
        flags = ["--runner=PortableRunner", f"--environment_type={kind}", *(f"--{word}" for word in found)]
        yield Engine([*flags, *(["--storage_level=DISK_ONLY"] if kryo else [])], process.pid)


@contextlib.contextmanager
def job_service(folder: Path, *, worker_python: Path | None = None) -> Iterator[Engine]:
    """Run Beam's own job service, and a pool of workers of another environment where one is given."""
    port_file = folder / "port"
    command = [sys.executable, "-m", "apache_beam.runners.portability.local_job_service_main", "--port=0"]
    log = (folder / "job-service.log").open("wb")
    with contextlib.ExitStack() as stack:
        stack.enter_context(log)
        service = [*command, f"--port_file={port_file}"]
        own = {"TMPDIR": str(folder)}  # a server that is killed leaves its temporary files
        process = stack.enter_context(serving(service, own, stdout=log, stderr=log))
        wait_until(lambda: port_file.exists() and bool(port_file.read_text()))
        flags = ["--runner=PortableRunner", f"--job_endpoint=localhost:{port_file.read_text()}"]
        if worker_python is None:
            flags += ["--environment_type=LOOPBACK"]
        else:
            [port] = free_ports(1)
            pool = [str(worker_python), "-m", "apache_beam.runners.worker.worker_pool_main", f"--service_port={port}"]
            path = f"{worker_python.parent}{os.pathsep}{os.environ['PATH']}"  # the pool starts plain `python`
            stack.enter_context(serving(pool, own | {"PATH": path}, stdout=log, stderr=log))
            wait_until(lambda: _listens(port))
            flags += ["--environment_type=EXTERNAL", f"--environment_config=localhost:{port}"]
        yield Engine(flags, process.pid)


def _tool(name: str) -> Path:
    path = tools_folder() / name
    if not path.exists():
        raise MissingEngineError(f"no {path}; set QPR_ENGINES to the folder of engines")
    return path.resolve()


def _with_kryo(start: Path, folder: Path) -> tuple[Path, bool]:
    """Return the script that starts Spark, a copy beside more jars if there are some, and whether there are."""
    whole = os.environ.get("QPR_SPARK_JARS")
    added = [jar for name in _KRYO_JARS for jar in Path(whole).glob(f"{name}-[0-9]*.jar")] if whole else []
    if not added:
        return start, False
    copied = folder / "spark" / start.name
    (copied.parent / "jars").mkdir(parents=True)
    shutil.copy(start, copied)
    for jar in {jar.name: jar.resolve() for jar in (*added, *(start.parent / "jars").glob("*.jar"))}.values():
        (copied.parent / "jars" / jar.name).symlink_to(jar)
    return copied, True


@contextlib.contextmanager
def serving(command: list[str], environment: dict[str, str], **streams: Any) -> Iterator[subprocess.Popen[bytes]]:
    """Run a server in a process group of its own, outside the repository, and end the whole group."""
    process = subprocess.Popen(command, cwd="/", env=os.environ | environment, start_new_session=True, **streams)
    try:
        yield process
    finally:
        if process.stdin:
            process.stdin.close()  # what Spark's script waits for, so that it ends what it started
            with contextlib.suppress(subprocess.TimeoutExpired):
                process.wait(timeout=10)
        with contextlib.suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
        process.wait()


def _listens(port: int) -> bool:
    with socket.socket() as one:
        return one.connect_ex(("127.0.0.1", port)) == 0
