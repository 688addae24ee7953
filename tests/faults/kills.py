"""The state of every output after SIGKILL at random moments of the command that writes it.

Run: python -m tests.faults.kills [--kills 200] [--command clusters] [--seed 0]

Each command replaces a complete artefact by another, or makes the first. A third of the kills come at a moment drawn
from its usual duration, the others just before a file system operation on its output, all of them in turn: those
moments matter most, and the clock rarely hits them. Then the output is read and verified, the command is run again to
its end (``resume``: a training that goes on from its checkpoints), and its output is read again. A command is a process
forked from one that has imported all libraries, so that no kill is wasted on an import.
"""

from __future__ import annotations

import collections
import dataclasses
import hashlib
import importlib
import itertools
import multiprocessing.sharedctypes
import os
import random
import shutil
import signal
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

import typer

from schemas.artifacts.manifest import read_manifest, read_verified
from schemas.errors import QprError
from tests.faults.reporting import report
from tests.support.kill_commands import COMMANDS, Command, prepare

LIBRARIES = (
    "apache_beam.runners.portability.fn_api_runner",
    "faiss",
    "jobs.cli",
    "jobs.display.html_report",
    "jobs.display.terminal_tables",
    "matplotlib.pyplot",
    "model.index.shard_builder",
    "model.training.trainer",
    "pipelines.graphs.from_logs",
    "pipelines.graphs.from_pairs",
    "pipelines.graphs.index",
    "pipelines.graphs.publish",
    "pipelines.simulation.generator",
)
_CHANGES = {"os.rename", "os.remove", "os.rmdir", "os.mkdir"}


@dataclasses.dataclass(frozen=True)
class Run:
    """How a process ended: its exit code (negative: killed), seconds, and operations on its output."""

    code: int
    seconds: float
    operations: int


def run(arguments: list[str], output: Path, *, after_s: float | None = None, before: int | None = None) -> Run:
    """Run ``qpr`` in a process of its own; kill it after some seconds, or before its n-th operation on the output."""
    operations = multiprocessing.sharedctypes.RawValue("q", 0)
    start = time.monotonic()
    pid = os.fork()
    if pid == 0:
        _child(arguments, output, operations, before)
    if after_s is not None:
        time.sleep(after_s)
        os.kill(pid, signal.SIGKILL)  # of a process that has ended but was not waited for, this does nothing
    _, status = os.waitpid(pid, 0)
    return Run(os.waitstatus_to_exitcode(status), time.monotonic() - start, operations.value)


def _child(arguments: list[str], output: Path, operations: object, before: int | None) -> None:
    def watch(event: str, details: tuple[object, ...]) -> None:
        written = event == "open" and isinstance(details[2], int) and details[2] & (os.O_WRONLY | os.O_RDWR)
        if not (written or event in _CHANGES) or not _concerns(output, details):
            return
        operations.value += 1  # type: ignore[attr-defined]
        if operations.value == before:  # type: ignore[attr-defined]
            os.kill(os.getpid(), signal.SIGKILL)

    from jobs.cli import main

    code = 1
    try:
        quiet = os.open(output.parent / "log", os.O_WRONLY | os.O_CREAT | os.O_TRUNC)
        for stream in (1, 2):
            os.dup2(quiet, stream)
        sys.addaudithook(watch)
        main(arguments)
    except SystemExit as stopped:
        code = int(stopped.code or 0)
    finally:
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(code)


def _concerns(output: Path, details: tuple[object, ...]) -> bool:
    """Tell whether an operation touches the output; removing a tree names files relative to an open folder."""
    relative = isinstance(details[-1], int) and details[-1] > 2 and len(details) == 2
    return relative or any(isinstance(path, str) and path.startswith(str(output)) for path in details)


def state(command: Command) -> str:
    """Return the digest of what a reader gets, every file verified; "" if there is nothing.

    Raises:
        QprError: there is something that cannot be read.
    """
    if command.kind is None:
        return hashlib.sha256(command.output.read_bytes()).hexdigest() if command.output.exists() else ""
    if not (command.output / "manifest.json").exists():
        return ""
    manifest = read_manifest(str(command.output), command.kind)
    for file in manifest.files:
        read_verified(str(command.output), file)
    return manifest.digest


def litter(command: Command) -> list[str]:
    """Return what lies in the output's place beside a complete artefact."""
    if command.kind is None:
        allowed, folder = {command.output.name, "log", "saved"}, command.output.parent
    else:
        allowed, folder = {"manifest.json", read_manifest(str(command.output)).run_id}, command.output
    return sorted(path.name for path in folder.iterdir() if path.name not in allowed)


def kill_often(command: Command, *, kills: int, seed: int) -> dict[str, int | str]:
    """Kill a command so often and count what was found: the old version, the new one, nothing, or what must not be."""
    assert run(command.old, command.output).code == 0
    old, saved = state(command), command.output.with_name("saved")
    (shutil.copytree if command.output.is_dir() else shutil.copy)(command.output, saved)
    whole = run(command.new, command.output)
    new = state(command)
    assert whole.code == 0, (command.output.parent / "log").read_text()
    assert old != new
    _put_back(command, None)
    first = run(command.new, command.output)
    assert first.code == 0
    counts = collections.Counter(dict.fromkeys(("killed", "old", "new", "nothing", "broken", "rerun_differs"), 0))
    counts["litter_after_rerun"] = 0
    for fresh, after_s, before in moments(first, whole, kills=kills, draw=random.Random(f"{command.name} {seed}")):
        _put_back(command, None if fresh else saved)
        killed = run(command.new, command.output, after_s=after_s, before=before)
        counts["killed"] += killed.code == -signal.SIGKILL
        counts.update(_found(command, {new: "new", "": "nothing"} if fresh else {new: "new", old: "old"}))
        again = run(command.again or command.new, command.output)
        counts["rerun_differs"] += again.code != 0 or _found(command, {new: "new"}) != ["new"]
        counts["litter_after_rerun"] += bool(again.code == 0 and litter(command))
    return {"command": command.name, "kills": kills, "operations": whole.operations, **counts}


def moments(
    first: Run, whole: Run, *, kills: int, draw: random.Random
) -> Iterator[tuple[bool, float | None, int | None]]:
    """Yield whether there is nothing before, and when to kill: after some seconds, or before an operation's number."""
    operations = [(of is first, number) for of in (whole, first) for number in range(1, of.operations + 1)]
    draw.shuffle(operations)
    turns = itertools.cycle(operations)
    for kill in range(kills):
        if kill % 3 == 0:
            yield draw.random() < 0.25, draw.uniform(0, first.seconds), None
        else:
            fresh, number = next(turns)
            yield fresh, None, number


def _found(command: Command, allowed: dict[str, str]) -> list[str]:
    try:
        return [allowed.get(state(command), "broken")]
    except (QprError, OSError, ValueError) as error:
        print(f"{command.name}: {error}", file=sys.stderr)
        return ["broken"]


def _put_back(command: Command, saved: Path | None) -> None:
    folder = command.output.parent
    for path in folder.iterdir():
        if path.name.startswith(command.output.name):
            shutil.rmtree(path) if path.is_dir() else path.unlink()
    if saved is not None:
        (shutil.copytree if saved.is_dir() else shutil.copy)(saved, command.output)


def load_libraries() -> None:
    """Import what commands use, so that no forked command has to; PyTorch computes in one thread."""
    os.environ |= {"OMP_NUM_THREADS": "1", "OMP_WAIT_POLICY": "passive"}
    for library in LIBRARIES:
        importlib.import_module(library)


def measure(*, kills: int = 200, command: list[str] | None = None, seed: int = 0) -> Iterator[dict[str, int | str]]:
    """Yield the counts of each command, by default of all."""
    if unknown := set(command or ()) - set(COMMANDS):
        raise typer.BadParameter(f"--command {min(unknown)}: is not one of {', '.join(COMMANDS)}")
    load_libraries()
    with tempfile.TemporaryDirectory() as folder:
        inputs = prepare(Path(folder), lambda arguments: run(arguments, Path(folder) / "log").code)
        for name in command or COMMANDS:
            (Path(folder) / name).mkdir()
            yield kill_often(COMMANDS[name](inputs, Path(folder) / name), kills=kills, seed=seed)


if __name__ == "__main__":
    report(measure)
