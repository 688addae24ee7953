"""A certified server beside semantic caches behind HTTP: latency, and wrong answers among hits at one hit rate.

Run: python -m benchmarks.certificates.cached_answers --folder made --transformer MODEL

The requests are those that `benchmarks.certificates.certify commands` left for this (help desk, same seed), sent one
after the other on one connection. A cache is a plain FastAPI program (`benchmarks.retrieval.peers.plain_server`):
embedding, nearest question, and its answer where the distance is below a threshold, as GPTCache and RedisVL do it. Its
threshold is the one with the hit rate of the certificate on these very requests, which is only found in hindsight.
"""

from __future__ import annotations

import http.client
import json
import random
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Annotated, Any
from urllib.parse import quote

import numpy as np
import typer

from benchmarks.certificates.certified_requests import JUDGED, Request, help_desk
from benchmarks.cli import AsJson, Report, Seed, run
from benchmarks.retrieval.servers.processes import cpu_s, peer_server, server
from schemas.text import fold

_WARMING = 50
_ALL = "1000000000"

Asked = tuple[str, str, bytes | None]
"""Method, address and body of a request."""


def main(
    folder: Annotated[Path, typer.Option(help="Folder that `certify commands` made.")],
    index: Annotated[str, typer.Option(help="Name of the certified index in the folder.")] = "index",
    transformer: Annotated[str | None, typer.Option(help="Model of sentence-transformers of a cache.")] = None,
    alpha: Annotated[float, typer.Option(help="Promised share of wrong answers of the certificate.")] = 0.05,
    seed: Seed = 0,
    as_json: AsJson = False,
) -> None:
    """Print hit rate, share of wrong hits, latency and CPU time of a certified server and of caches."""
    rng = random.Random(seed)  # no secret
    requests, _ = help_desk(folder, rng)
    rng.shuffle(requests)
    rest = requests[int(JUDGED * len(requests)) :]
    url, certificate = str(folder / index), str(folder / f"certificate-{index}-{alpha:g}")
    report = Report(as_json=as_json, index=index, requests=len(rest), alpha=alpha, seed=seed)
    with server([url, "--certificate", certificate, "--poll", "0"]) as (port, process):
        rows, times = _sent(port, process, rest, _answer)
        given = [row["results"][0]["answer"] for row in rows]
    hits = sum(answer is not None for answer in given)
    report.row(system="qpr serve, certificate", **figures(rest, given), **times)
    for name, model in (("the index's encoder", []), ("sentence-transformers", [transformer, _ALL])):
        if None in model:
            continue
        with peer_server("plain_server", url, *map(str, model)) as (port, process):
            rows, times = _sent(port, process, rest, _search)
        distances = np.array([row["hits"][0]["distance"] if row["hits"] else np.inf for row in rows])
        threshold = np.sort(distances)[max(hits - 1, 0)]
        given = [
            row["hits"][0]["answer"] if far <= threshold else None for row, far in zip(rows, distances, strict=True)
        ]
        report.row(system=f"cache, {name}", **figures(rest, given), **times)


def _answer(question: str) -> Asked:
    return "POST", "/answer", json.dumps({"question": question}).encode()


def _search(question: str) -> Asked:
    return "GET", f"/search?k=1&q={quote(question)}", None


def _sent(
    port: int, process: int, requests: Sequence[Request], asked: Callable[[str], Asked]
) -> tuple[list[Any], dict[str, float]]:
    """Return the responses to requests, and their latency and CPU time."""
    connection = http.client.HTTPConnection("127.0.0.1", port)
    rows, seconds, before = list[Any](), list[float](), 0.0
    for number, question in enumerate(request.question for request in [*requests[:_WARMING], *requests]):
        if number == _WARMING:
            rows, seconds, before = [], [], cpu_s(process)
        method, address, body = asked(question)
        began = time.perf_counter()
        connection.request(method, address, body, {"Content-Type": "application/json"})
        content = connection.getresponse().read()
        seconds.append(time.perf_counter() - began)
        rows.append(json.loads(content))
    p50, p99 = (1000 * float(np.quantile(seconds, share)) for share in (0.5, 0.99))
    return rows, {"p50_ms": p50, "p99_ms": p99, "cpu_ms_each": 1000 * (cpu_s(process) - before) / len(requests)}


def figures(requests: Sequence[Request], given: Sequence[str | None]) -> dict[str, float]:
    """Return the hit rate, and the share of wrong answers among the hits."""
    hits = [(answer, request.right) for answer, request in zip(given, requests, strict=True) if answer is not None]
    wrong = sum(right is None or fold(answer) != fold(right) for answer, right in hits)
    return {"hit_rate": len(hits) / len(requests), "wrong_of_hits": wrong / max(len(hits), 1)}


if __name__ == "__main__":
    run(main)
