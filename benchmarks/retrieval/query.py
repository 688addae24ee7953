"""Time to open an index and to answer queries, beside FAISS alone with the same encoder.

Run: python -m benchmarks.retrieval.query --index index --dataset dataset --queries 1000

Each program runs in a process of its own. An index is opened with an empty cache of digests, again, and once more as
`qpr serve` opens it, with compiled walks (the first run on a machine compiles them); the peer reads one FAISS file of
the same vectors. CPU times are the best of three rounds over all queries, after one that warms up.
``unrepeated_cpu_ms`` is that first round, in which most words and pages are new; ``new_cpu_ms`` is of as many other
questions after all rounds, as in a server that has been asked before; ``paused_cpu_ms`` is of the first ones with
pauses of 5 ms, in which other programs take the caches; ``batch_64_cpu_ms`` is of batches as a server makes them. Hits
of `qpr` include texts and probabilities, the peer's are row numbers. ``reasons_cpu_ms`` is a search alone whose reasons
are all read, ``answer_cpu_ms`` the answer to a question with one more word, ``exact_cpu_ms`` to a question of the
index. Memory is resident, less that of the imports: after the opening, after all queries one at a time, at the end.
"""

from __future__ import annotations

import json
import os
import tempfile
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from types import MappingProxyType
from typing import Annotated, Any

import faiss
import numpy as np
import typer

from benchmarks.cli import AsJson, Report, Seed, run
from benchmarks.measure import cpu_ms, measure_call, resident_mb
from benchmarks.retrieval.peers.plain_faiss import prepared
from model.encoders.loading import load_encoder
from model.index.segments.layout import in_order
from model.search.searcher import open_searcher
from schemas.artifacts import storage
from schemas.artifacts.dataset import open_dataset
from schemas.artifacts.manifest import read_manifest
from schemas.tables import CODES, MODEL, SHARDS

ROUNDS = 3
"""Rounds after the first one, which warms up; the fastest counts, on a machine with other work."""

_BATCH = 64
"""Questions of a batch: as many as a thread of a server takes at a time."""

_PAUSE_S = 0.005
"""Seconds in which other programs take the caches of the processor."""


def main(
    index: Annotated[str, typer.Option(help="Index to search, on this machine.")],
    dataset: Annotated[str, typer.Option(help="Dataset whose questions are the queries.")],
    queries: Annotated[int, typer.Option(min=1, help="Number of queries.")] = 1_000,
    k: Annotated[int, typer.Option(min=1, help="Hits of a query.")] = 20,
    mode: Annotated[str | None, typer.Option(help="Way of searching, by default the index's.")] = None,
    seed: Seed = 0,
    as_json: AsJson = False,
) -> None:
    """Print opening times, memory, and the time of a query alone and in a batch."""
    texts = open_dataset(dataset).table("questions", columns=["text"])["text"]
    chosen = np.random.default_rng(seed).permutation(len(texts))[: 2 * queries]
    settings = read_manifest(index, "index").configuration
    vectors_mb = settings["questions"] * settings["dimension"] * 4 / 2**20
    about = {"questions": settings["questions"], "factory": settings["factory"], "vectors_mb": vectors_mb}
    report = Report(as_json=as_json, seed=seed, queries=len(chosen) // 2, k=k, mode=mode, **about)
    with tempfile.TemporaryDirectory() as folder:
        os.environ["XDG_CACHE_HOME"] = folder
        asked, peer = f"{folder}/queries.json", f"{folder}/one.faiss"
        Path(asked).write_text(json.dumps(texts.take(chosen).to_pylist()))
        write_peer(index, peer)
        time.sleep(3)  # files that have just changed are not remembered
        for name, function, given in (
            ("qpr, first opening", search_index, (index, mode, False)),
            ("qpr, opened before", search_index, (index, mode, False)),
            ("qpr, compiled", search_index, (index, mode, True)),
            ("faiss.read_index", search_peer, (index, peer)),
        ):
            report.row(program=name, **json.loads(measure_call(function, *given, asked, k).output))


def write_peer(url: str, path: str) -> None:
    """Write the vectors of an index as one FAISS file."""
    manifest = read_manifest(url, "index")
    shards: list[Any] = [faiss.read_index(str(Path(url, file.path))) for file in in_order(manifest.of(SHARDS))]
    whole = shards[0]
    for shard in shards[1:]:
        whole.merge_from(shard, whole.ntotal if hasattr(whole, "nlist") else 0)
    for file in manifest.of(CODES):
        codes = faiss.read_index(str(Path(url, file.path)))
        whole = faiss.IndexRefineFlat(codes, whole.get_xb())
    faiss.write_index(whole, path)


def search_index(url: str, mode: Any, compiled: bool, asked: str, k: int) -> None:
    """Print the figures of a searcher as JSON."""

    def read_reasons(opened: Any, texts: list[str]) -> None:
        for hits in opened.search_many(texts, k):
            for hit in hits:
                _ = hit.why.shared_words, hit.why.contributions

    report_on(
        lambda: open_searcher(url, mode=mode, compiled=compiled),
        lambda opened, texts: opened.search_many(texts, k),
        asked,
        {
            "reasons_cpu_ms": read_reasons,
            "answer_cpu_ms": lambda opened, texts: opened.answer(f"{texts[0]} please"),
            "exact_cpu_ms": lambda opened, texts: opened.answer(texts[0]),
        },
    )


def search_peer(url: str, path: str, asked: str, k: int) -> None:
    """Print the figures of FAISS as JSON."""
    manifest = read_manifest(url, "index")

    def opened() -> tuple[Any, Any]:
        index = prepared(faiss.read_index(path), manifest.configuration["probes"], k)
        return load_encoder(storage.join(url, manifest.run_id, MODEL)), index

    report_on(opened, lambda pair, texts: pair[1].search(pair[0].encode(texts), k), asked)


Search = Callable[[Any, list[str]], object]


def report_on(
    start: Callable[[], Any], search: Search, asked: str, others: Mapping[str, Search] = MappingProxyType({})
) -> None:
    """Print opening time, memory, and milliseconds of CPU a query as JSON; of ``others`` for one query at a time."""
    before, clocks = resident_mb(), (time.perf_counter(), time.process_time())
    opened = start()
    figures = {
        "opening_s": time.perf_counter() - clocks[0],
        "opening_cpu_s": time.process_time() - clocks[1],
        "opened_mb": resident_mb() - before,
    }
    given = json.loads(Path(asked).read_text())
    texts, new = given[: len(given) // 2], given[len(given) // 2 :]
    figures["first_cpu_ms"] = cpu_ms(lambda: search(opened, texts[:1]))
    one_by_one = [each_ms(search, opened, texts) for _ in range(ROUNDS + 1)]
    figures["queried_mb"] = resident_mb() - before
    figures["new_cpu_ms"] = each_ms(search, opened, new)
    figures["paused_cpu_ms"] = paused_ms(search, opened, texts)
    together = [cpu_ms(lambda: search(opened, texts)) / len(texts) for _ in range(ROUNDS + 1)]
    some = [cpu_ms(lambda: _in_batches(search, opened, texts)) / len(texts) for _ in range(ROUNDS)]
    figures |= {"unrepeated_cpu_ms": one_by_one[0], "single_cpu_ms": min(one_by_one[1:])}
    figures |= {"batch_64_cpu_ms": min(some), "batch_cpu_ms": min(together[1:])}
    for name, other in others.items():
        figures[name] = min([each_ms(other, opened, texts) for _ in range(ROUNDS + 1)][1:])
    print(json.dumps(figures | {"searched_mb": resident_mb() - before}))


def _in_batches(search: Search, opened: Any, texts: list[str]) -> None:
    for start in range(0, len(texts), _BATCH):
        search(opened, texts[start : start + _BATCH])


def each_ms(search: Search, opened: Any, texts: list[str]) -> float:
    """Return the CPU time of a query, searched one at a time."""
    return cpu_ms(lambda: [search(opened, [text]) for text in texts]) / len(texts)


def paused_ms(search: Search, opened: Any, texts: list[str]) -> float:
    """Return the CPU time of a query that is searched some time after the one before; the pauses are not counted."""
    spent = 0.0
    for text in texts:
        time.sleep(_PAUSE_S)
        started = time.process_time()
        search(opened, [text])
        spent += time.process_time() - started
    return 1_000 * spent / len(texts)


if __name__ == "__main__":
    run(main)
