"""Latency, throughput, memory and failures of `qpr serve`, measured from another process on the same machine.

Run: python -m benchmarks.retrieval.serving --index index --rates 50,200,500 --seconds 20

Load is open loop: a request's latency counts from its place in a random timetable, so a slow response delays no later
request. Searches ask for ten hits of an indexed question without one of its words; exact questions are asked of
/answer. Swaps publish the same index again under another run, by hard links, while requests come; their memory is that
before the first one, after the last one, and the most of the time between, without that of processes that search. The
peer is a plain FastAPI program with the same encoder, or with sentence-transformers
(`benchmarks.retrieval.peers.plain_server`). A server that looks for nothing
(`benchmarks.retrieval.peers.constant_server`) shows how much of a latency is due to the machine and the web server.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import threading
import time
import urllib.error
import urllib.request
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Annotated, Any

import numpy as np
import typer

from benchmarks.cli import AsJson, Report, Seed, run
from benchmarks.measure import call_command
from benchmarks.retrieval.servers.load import Outcome, closed_loop, get, open_loop, post, shortened
from benchmarks.retrieval.servers.processes import cpu_s, forget_peak, memory_mb, peer_server, server, shared_mb

_BATCH = 64
"""Questions of a request: as many as a thread of the server takes at a time."""

_EXACT_RATE = 200.0
"""Maximum rate of exact questions, in requests a second."""


def main(
    index: Annotated[str, typer.Option(help="Local index to serve.")],
    rates: Annotated[str, typer.Option(help="Requests a second, each measured on its own.")] = "50,200,500",
    seconds: Annotated[float, typer.Option(min=1, help="Duration of each load.")] = 20,
    swaps: Annotated[int, typer.Option(min=0, help="Number of exchanges of the index under load.")] = 20,
    swap_requests: Annotated[int, typer.Option(min=1, help="Requests during the exchanges.")] = 100_000,
    swap_rate: Annotated[float, typer.Option(min=1, help="Requests a second during the exchanges.")] = 200,
    threads: Annotated[int, typer.Option(min=1, help="Threads of the server that search.")] = 2,
    processes: Annotated[int, typer.Option(min=0, help="Processes of the server that search instead.")] = 0,
    mode: Annotated[str | None, typer.Option(help="Way of searching, by default the index's.")] = None,
    peer: Annotated[bool, typer.Option(help="Measure the plain server too.")] = True,
    transformer: Annotated[
        str | None, typer.Option(help="Model of sentence-transformers for another plain one.")
    ] = None,
    peer_questions: Annotated[
        int, typer.Option(min=0, help="Questions of that one, which it encodes; 0: all, with vectors of an st: index.")
    ] = 20_000,
    seed: Seed = 0,
    as_json: AsJson = False,
) -> None:
    """Print a table for each kind of load."""
    with tempfile.TemporaryDirectory(dir=Path(index).resolve().parent) as folder:
        texts = sampled_texts(index, folder, seed)
        served = Path(folder, "index")
        publish(Path(index), served, 0)
        load = f"{os.getloadavg()[0]:.1f}"
        about = {"index": _described(index), "mode": mode, "threads": threads, "processes": processes}
        report = Report(as_json=as_json, seed=seed, load_average=load, **about)
        numbers = [float(rate) for rate in rates.split(",")]
        options = ["--threads", str(threads), "--processes", str(processes), "--poll", "0"]
        options += [] if mode is None else ["--mode", mode]
        with server([str(served), *options]) as (port, process):
            report.heading("qpr serve: search, open loop")
            _open_loops(report, port, process, texts, numbers, seconds, seed, _search)
            report.heading("qpr serve: exact questions, open loop")
            exact = [rate for rate in numbers if rate <= _EXACT_RATE]
            _open_loops(
                report, port, process, texts, exact, seconds, seed, lambda text: post("/answer", {"question": text})
            )
            report.heading("qpr serve: saturation, closed loop")
            _saturate(report, port, texts, seconds)
            report.row(resident_mb=memory_mb(process), with_processes_mb=shared_mb(process))
            report.heading("qpr serve: exchanges under load")
            if swaps:
                old = memory_mb(process)
                forget_peak(process)
                outcome, peak = _exchange(index, served, port, process, texts, swaps, swap_requests, swap_rate, seed)
                memory = {"old_mb": old, "peak_mb": peak, "new_mb": memory_mb(process)}
                report.row(swaps=swaps, requests_per_s=swap_rate, requests=swap_requests, **outcome.cells(), **memory)
        with peer_server("constant_server") as (port, process):
            report.heading("a server that sends the same bytes to all: search, open loop")
            _open_loops(report, port, process, texts, numbers, seconds, seed, _search)
        peers: list[tuple[str, list[str]]] = [("the same encoder", [])] if peer else []
        if transformer is not None:
            part = [str(peer_questions)] if peer_questions else []
            peers.append(
                (f"sentence-transformers, {f'{peer_questions:,}' if part else 'all'} questions", [transformer, *part])
            )
        for name, arguments in peers:
            with peer_server("plain_server", str(served), *arguments) as (port, process):
                report.heading(f"plain FastAPI program with {name}: search, open loop")
                _open_loops(report, port, process, texts, numbers, seconds, seed, _search)
                report.row(resident_mb=memory_mb(process))


def _search(text: str) -> bytes:
    return get("/search", shortened(text))


def _open_loops(
    report: Report,
    port: int,
    process: int,
    texts: Sequence[str],
    rates: Sequence[float],
    seconds: float,
    seed: int,
    request: Callable[[str], bytes],
) -> None:
    closed_loop(port, [request(text) for text in texts[:200]], 1)  # the first requests warm the caches of both
    for rate in rates:
        requests = [request(texts[number % len(texts)]) for number in range(int(rate * seconds))]
        before = cpu_s(process)
        outcome = open_loop(port, requests, rate, seed)
        cpu = 1000 * (cpu_s(process) - before) / len(requests)
        report.row(requests_per_s=rate, requests=len(requests), cpu_ms_each=cpu, **outcome.cells())


def _saturate(report: Report, port: int, texts: Sequence[str], seconds: float) -> None:
    """Print requests a second of single questions, and questions a second of batches."""
    singles = [get("/search", shortened(text)) for text in texts[: int(200 * seconds)]]
    for connections in (1, 8, 32):
        outcome = closed_loop(port, singles, connections)
        report.row(connections=connections, questions_each=1, **_throughput(outcome, 1))
    for size in (_BATCH, 1000):
        batches = [
            post("/search", {"questions": [shortened(text) for text in texts[start : start + size]]})
            for start in range(0, len(texts) - size, size)
        ][: max(2, int(2000 * seconds) // size)]
        outcome = closed_loop(port, batches, 2)
        report.row(connections=2, questions_each=size, **_throughput(outcome, size))


def _throughput(outcome: Outcome, size: int) -> dict[str, Any]:
    questions = size * len(outcome.seconds) / outcome.wall_s
    return {"questions_per_s": questions, "p99_ms": outcome.cells()["p99_ms"], "failures": outcome.cells()["failures"]}


def _exchange(
    index: str,
    served: Path,
    port: int,
    process: int,
    texts: Sequence[str],
    swaps: int,
    count: int,
    rate: float,
    seed: int,
) -> tuple[Outcome, float]:
    """Return the outcome of a load during which the index is exchanged, and the server's peak memory in MB."""
    requests = [get("/search", shortened(texts[number % len(texts)])) for number in range(count)]
    pause = count / rate / (swaps + 1)
    reloads: list[str] = []

    began = time.monotonic()

    def exchange() -> None:
        for number in range(1, swaps + 1):
            time.sleep(max(0.0, began + number * pause - time.monotonic()))
            publish(Path(index), served, number)
            reloads.append(_reload(port))

    with subprocess.Popen(
        call_command(_print_load, port, rate, seed), stdin=subprocess.PIPE, stdout=subprocess.PIPE
    ) as generator:
        thread = threading.Thread(target=exchange)
        thread.start()
        printed, _ = generator.communicate("\n".join(map(bytes.hex, requests)).encode())
        thread.join()
    if reloads != ["swapped"] * swaps:
        raise SystemExit(f"exchanges: {reloads}")
    load_result = json.loads(printed)
    statuses = {int(status): number for status, number in load_result["statuses"].items()}
    return Outcome(np.array(load_result["seconds"]), statuses, load_result["wall_s"]), memory_mb(process, "VmHWM")


def _reload(port: int) -> str:
    """Return the outcome of an exchange; a server at the limit of its requests refuses one, and is asked again."""
    request = urllib.request.Request(f"http://127.0.0.1:{port}/reload", method="POST")
    while True:
        try:
            return str(json.load(urllib.request.urlopen(request))["reload"])
        except urllib.error.HTTPError as error:
            if error.code != 503:
                raise
            time.sleep(1)  # as its Retry-After asks


def _print_load(port: int, rate: float, seed: int) -> None:
    """Send the requests of stdin, in hexadecimal, and print the outcome as JSON."""
    requests = [bytes.fromhex(line) for line in sys.stdin]
    outcome = open_loop(port, requests, rate, seed)
    statuses = {str(status): count for status, count in outcome.statuses.items()}
    print(json.dumps({"seconds": outcome.seconds.tolist(), "statuses": statuses, "wall_s": outcome.wall_s}))


def sampled_texts(index: str, folder: str, seed: int) -> list[str]:
    """Return 20,000 questions of an index, read in another process, whose memory is free afterwards."""
    path = Path(folder, "texts.json")
    subprocess.run(call_command(_write_texts, index, str(path), seed), check=True)
    texts: list[str] = json.loads(path.read_text())
    return texts


def _write_texts(index: str, path: str, seed: int) -> None:
    from model.search.searcher import open_searcher

    opened = open_searcher(index).index
    rows = np.random.default_rng(seed).choice(len(opened), min(20_000, len(opened)), replace=False)
    texts = opened.questions(rows)["text"].to_pylist()
    Path(path).write_text(json.dumps(texts * (20_000 // len(texts))))


def publish(index: Path, served: Path, number: int) -> None:
    """Publish an index at another place under a run of its own, by hard links, and remove the run before it."""
    manifest = json.loads((index / "manifest.json").read_text())
    run_id = manifest["run_id"]
    manifest.pop("checksum", None)  # is of the first run's name; without one a manifest is read as well
    new = re.sub(r"[0-9a-f]{4}$", f"{number:04x}", run_id)
    shutil.copytree(index / run_id, served / new, copy_function=os.link)
    text = json.dumps(manifest).replace(f'"{run_id}', f'"{new}')
    older = [path for path in served.iterdir() if path.is_dir() and path.name != new]
    (served / "manifest.new").write_text(text)
    (served / "manifest.new").replace(served / "manifest.json")
    for path in older:
        shutil.rmtree(path)


def _described(index: str) -> str:
    settings = json.loads(Path(index, "manifest.json").read_text())["configuration"]
    return f"{settings['questions']:,} questions, {settings['factory']}, {settings['probes']} probes"


if __name__ == "__main__":
    run(main)
