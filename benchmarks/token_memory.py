"""Memory of the token ids of many train questions: at once, in slices, in a mapped file.

Run: python -m benchmarks.token_memory --dataset D [--questions 5000000] (Linux)

The questions are those of D, repeated. Each row is a process of its own, watched every 5 ms from when it has the
questions until their words are counted and their ids read. Anonymous memory is what the system cannot take back without
a swap; pages of a mapped file it can. Then 1,024 random questions are taken, 200 times, which reads most pages.
"""

from __future__ import annotations

import argparse
import json
import re
import select
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

from benchmarks.machine import describe_machine
from model.encoders import token_store as mapped_tokens
from model.encoders.config import EncoderSettings, Shape, SubwordSettings
from model.encoders.network import Inputs, Network, network_of
from model.text import vocabulary
from model.training.presets import PRESETS
from schemas.artifacts.dataset import open_dataset

WAYS = ("at once", "slices", "slices, mapped")
SHAPE: dict[str, Shape] = {"paper": EncoderSettings(), "default": SubwordSettings()}
_STEPS, _TAKEN, _EVERY_S = 200, 1024, 0.005


def questions(dataset: str, count: int) -> pa.Array:
    """Return the keys of so many questions, those of the dataset again and again."""
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


def one(dataset: str, *, count: int, preset: str, way: str) -> None:
    """Print a line when the questions are there and one of what reading them and taking some took."""
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
    """Run `one` in a process of its own and return what it printed, with the ``peak`` of anonymous memory."""
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


def row(preset: str, way: str, found: dict[str, Any]) -> str:
    """Return a row: what reading and taking added to the memory at most and in the end, in MB, and their speed."""
    before, after = found["before"], found["after"]
    added = (found["peak"] - before["Anon"], after["Anon"] - before["Anon"], after["File"] - before["File"])
    cells = [*(f"{size:,.0f}" for size in added), f"{found['read_s']:.1f}", f"{found['take_ms']:.2f}"]
    return f"| {preset} | {way} | {' | '.join(cells)} |"


def main() -> None:
    """Print a table, or do one row of it."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--dataset", required=True)
    parser.add_argument("--questions", type=int, default=5_000_000)
    parser.add_argument("--row", nargs=2, metavar=("PRESET", "WAY"), help="do one row in this process")
    given = parser.parse_args()
    if given.row:
        one(given.dataset, count=given.questions, preset=given.row[0], way=given.row[1])
        return
    print(f"{describe_machine()}; {given.questions:,} questions; MB of memory added")
    print("| preset | read | anonymous, peak | anonymous, after | of files, after | CPU s | CPU ms a take |")
    print("|---|---|---|---|---|---|---|")
    command = [sys.executable, "-m", "benchmarks.token_memory", "--dataset", given.dataset]
    for preset in SHAPE:
        for way in WAYS:
            found = watched([*command, "--questions", str(given.questions), "--row", preset, way])
            print(row(preset, way, found), flush=True)


if __name__ == "__main__":
    main()
