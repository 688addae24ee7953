"""Memory for the token ids of many train questions: all at once, in slices, in a mapped file.

Run: python -m benchmarks.training.token_memory --dataset quora --questions 600000

Linux only. The questions of the dataset are repeated. Each row is its own process, sampled every 5 ms from when it has
the questions until their words are counted and their ids read. Anonymous memory cannot be taken back without a swap;
pages of a mapped file can. Then 1,024 random questions are taken, 200 times, which reads most pages.
"""

from __future__ import annotations

import json
import re
import select
import subprocess
import sys
import time
from pathlib import Path
from typing import Annotated, Any

import numpy as np
import pyarrow as pa
import typer

from benchmarks.cli import AsJson, Report, run
from benchmarks.measure import call_command
from model.encoders import token_store as mapped_tokens
from model.encoders.cnn.settings import CnnSettings
from model.encoders.config import Shape
from model.encoders.network import Inputs, Network
from model.encoders.new_network import network_of
from model.encoders.subword.settings import SubwordSettings
from model.text import vocabulary
from model.training.presets import PRESETS
from schemas.artifacts.dataset import open_dataset

WAYS = ("at once", "slices", "slices, mapped")
SHAPE: dict[str, Shape] = {"paper": CnnSettings(), "default": SubwordSettings()}
_STEPS, _TAKEN, _EVERY_S = 200, 1024, 0.005


def questions(dataset: str, count: int) -> pa.Array:
    """Return the keys of the questions of the dataset, repeated to ``count``."""
    keys = open_dataset(dataset).table("questions", columns=["key"])["key"].combine_chunks()
    whole, rest = divmod(count, len(keys))
    return pa.concat_arrays([*[keys] * whole, keys.slice(0, rest)])


def read(network: Network, keys: pa.Array, way: str) -> Inputs:
    """Learn the vocabulary of the questions and return their inputs, in one of `WAYS`."""
    if way == "at once":
        vocabulary.SLICE = len(keys)
    if way != "slices, mapped":
        mapped_tokens.MAPPED_BYTES = sys.maxsize
    vocabulary.Vocabulary.learn(keys)
    return network.read(keys)


def memory(pid: str | int = "self") -> dict[str, float]:
    """Return the megabytes of a process, anonymous and of files."""
    status = Path(f"/proc/{pid}/status").read_text()
    return {kind: int(size) / 1024 for kind, size in re.findall(r"Rss(Anon|File):\s+(\d+) kB", status)}


def measure_row(dataset: str, count: int, preset: str, way: str) -> None:
    """Print a line when the questions are in memory, and one with the memory and time of reading and taking them."""
    keys, chosen = questions(dataset, count), PRESETS[preset]
    learned = vocabulary.Vocabulary.learn(keys.slice(0, 100_000), words=chosen.training.vocabulary_size)
    network = network_of(learned, SHAPE[preset], dropout=chosen.training.dropout)
    pa.default_memory_pool().release_unused()
    before = memory()
    print("ready", flush=True)
    started = time.process_time()
    inputs = read(network, keys, way)
    read_s = time.process_time() - started
    random = np.random.default_rng(0)
    started = time.process_time()
    for _ in range(_STEPS):
        inputs.take(random.integers(len(keys), size=_TAKEN))
    take_ms = 1000 * (time.process_time() - started) / _STEPS
    print(json.dumps({"before": before, "after": memory(), "read_s": read_s, "take_ms": take_ms}))


def watched(command: list[str]) -> dict[str, Any]:
    """Run `measure_row` in its own process and return its output, with the ``peak`` of anonymous memory."""
    peak = 0.0
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout
        process.stdout.readline()
        while not select.select([process.stdout], [], [], _EVERY_S)[0]:
            peak = max(peak, memory(process.pid)["Anon"])
        printed = process.stdout.read()
    if process.returncode:
        raise SystemExit(f"{' '.join(command)} failed")
    return {**json.loads(printed), "peak": peak}


def main(
    dataset: Annotated[str, typer.Option(help="Dataset with questions.")],
    count: Annotated[int, typer.Option("--questions", help="Number of questions.")] = 5_000_000,
    as_json: AsJson = False,
) -> None:
    """Measure each preset and each way to read its questions; memory in MB, added to that of the questions."""
    report = Report(as_json=as_json, questions=count)
    for preset in SHAPE:
        for way in WAYS:
            measured = watched(call_command(measure_row, dataset, count, preset, way))
            before, after = measured["before"], measured["after"]
            memory_mb = {
                "anonymous_mb_peak": measured["peak"] - before["Anon"],
                "anonymous_mb_after": after["Anon"] - before["Anon"],
                "mb_of_files_after": after["File"] - before["File"],
            }
            times = {"cpu_s": measured["read_s"], "cpu_ms_a_take": measured["take_ms"]}
            report.row(preset=preset, read=way, **memory_mb, **times)


if __name__ == "__main__":
    run(main)
