"""Cost of building and searching an index: predicted and measured memory, disk and time, recall and latency.

Run: python -m benchmarks.retrieval.index --model model --questions 500000 --folder scale

Questions are those of a simulated log with two events for each, really encoded by the model. Every program runs in a
process of its own. The searched index has all its pages read before its memory is measured. One plain FAISS index of
the same vectors and, where it is installed, autofaiss with the same memory are searched for the same queries; their
recall is measured against the same exact search.
"""

from __future__ import annotations

import json
import shutil
import time
from pathlib import Path
from typing import Annotated, Any

import faiss
import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import typer

from benchmarks.cli import AsJson, Report, Seed, run
from benchmarks.measure import measure_call, measure_qpr, resident_mb, simulate
from model.index.sizing.recall import DEPTH, recall_of, sample_of
from model.search.opening import open_index
from schemas.text_arrays import key_all

SINGLE = 500


def main(
    model: Annotated[str, typer.Option(help="Model that encodes the questions.")],
    folder: Annotated[Path, typer.Option(help="Folder for the log and the indexes; each index is removed.")],
    questions: Annotated[list[int], typer.Option(min=1_000, help="Number of questions; repeatable.")],
    factory: Annotated[list[str] | None, typer.Option(help="Factory; repeatable. Without one: by size.")] = None,
    memory_mb: Annotated[int | None, typer.Option(help="Bound of memory.")] = None,
    bm25: Annotated[bool, typer.Option(help="Build BM25 too.")] = True,
    peers: Annotated[bool, typer.Option(help="Compare with FAISS and autofaiss.")] = True,
    seed: Seed = 0,
    as_json: AsJson = False,
) -> None:
    """Print predicted and measured costs of an index for each number of questions and factory."""
    report = Report(as_json=as_json, seed=seed, model=model, memory_mb=memory_mb, bm25=bm25)
    folder.mkdir(parents=True, exist_ok=True)
    for count in questions:
        asked = str(folder / f"questions-{count}-{seed}.parquet")
        if not Path(asked).exists():
            write_questions(simulate(folder, events=2 * count + 100_000, seed=seed), asked, count)
        for name in factory or [""]:
            url = str(folder / "index")
            given = ["--questions", asked, "--model", model, "--output", url, "--json"]
            given += ["--factory", name] if name else []
            given += ["--memory-mb", str(memory_mb)] if memory_mb else []
            given += [] if bm25 else ["--no-bm25"]
            plan = json.loads(measure_qpr("index", *given, "--dry-run").output)
            built = measure_qpr("index", *given, "--overwrite")
            figures = json.loads(measure_call(search_index, url).output)
            report.row(
                questions=figures.pop("questions"),
                factory=figures.pop("factory"),
                build_cpu_min=built.cpu_s / 60,
                predicted_cpu_min=plan["cpu_minutes"],
                build_wall_min=built.wall_s / 60,
                build_mb=built.memory_mb,
                predicted_build_mb=plan["build_mb"],
                disk_mb=size_of(url) / 2**20,
                predicted_disk_mb=plan["disk_mb"],
                search_mb=figures.pop("resident_mb"),
                predicted_search_mb=plan["search_mb"],
            )
            report.row(program="qpr", **figures)
        if peers:
            measured = measure_call(search_faiss, url)
            report.row(program="one FAISS index", **json.loads(measured.output))
            if report.has_peer("autofaiss"):
                report.row(program="autofaiss", **json.loads(measure_call(search_autofaiss, url).output))
        shutil.rmtree(folder / "index")


def write_questions(log: str, path: str, count: int) -> None:
    """Write the first questions of a log with different keys.

    Raises:
        SystemExit: the log has too few.
    """
    texts = pq.read_table(log, columns=["question"])["question"].combine_chunks()
    keys = key_all(texts).dictionary_encode().indices.to_numpy()
    chosen = np.sort(np.unique(keys, return_index=True)[1])[:count]
    if len(chosen) < count:
        raise SystemExit(f"{log}: has {len(chosen):,} different questions, {count:,} are to be indexed")
    pq.write_table(pa.table({"question": texts.take(pa.array(chosen))}), path)


def size_of(url: str) -> int:
    """Return the bytes of the files of a folder."""
    return sum(path.stat().st_size for path in Path(url).rglob("*") if path.is_file())


def search_index(url: str) -> None:
    """Print the figures of searches of an index as JSON."""
    everything = open_index(url, exact=True)
    texts = everything.questions(np.arange(len(everything)))["text"]
    everything.rank_vectors(everything.encoder.encode(texts.slice(0, 4)), DEPTH)
    resident = resident_mb()
    index = open_index(url)
    sample = sample_of(index)
    figures = timed(lambda vectors: index.rank_vectors(vectors, DEPTH), sample.vectors)
    settings, probes = index.settings, index.probes
    stored = sum(len(shard.content) for shard in index.shards)
    recall = recall_of(index, sample, probes) if probes else 1.0
    print(
        json.dumps(
            {
                "questions": len(index),
                "factory": settings.factory,
                "probes": probes,
                "bytes_a_vector": stored / len(index),
                "recall_at_10": recall,
                **figures,
                "resident_mb": resident,
            }
        )
    )


def search_faiss(url: str) -> None:
    """Print the figures of one plain FAISS index with the same lists and probes."""
    index = open_index(url)
    vectors = index.encoder.encode(index.questions(np.arange(len(index)))["text"])
    started = time.process_time()
    plain: Any = faiss.index_factory(vectors.shape[1], index.settings.factory)
    plain.train(vectors[:: max(1, len(vectors) // 200_000)])
    plain.add(vectors)
    report_peer(url, plain, index.probes, started)


def search_autofaiss(url: str) -> None:
    """Print the figures of the index that autofaiss makes for the memory of ours."""
    from autofaiss import build_index

    index = open_index(url)
    vectors = index.encoder.encode(index.questions(np.arange(len(index)))["text"])
    memory = f"{max(1, sum(len(shard.content) for shard in index.shards) // 2**20)}MB"
    started = time.process_time()
    made, _ = build_index(
        vectors,
        save_on_disk=False,
        max_index_memory_usage=memory,
        current_memory_available="8GB",
        metric_type="l2",
        max_index_query_time_ms=5.0,
        verbose=30,
    )
    report_peer(url, made, None, started)


def report_peer(url: str, made: Any, probes: int | None, started: float) -> None:
    """Print recall and latency of a FAISS index of all questions in the order of our rows, as JSON."""
    cpu = time.process_time() - started
    if probes:
        made.nprobe = probes
    index = open_index(url)
    sample = sample_of(index)
    rows = made.search(sample.vectors, DEPTH + 1)[1]
    ids = np.concatenate(index.question_ids)
    found = []
    for row, own, vector, bound in zip(rows, sample.ids, sample.vectors, sample.bounds, strict=True):
        others = row[(row >= 0) & (ids[row] != own)][:DEPTH]
        exact = index.encoder.encode(index.questions(others)["text"]) if len(others) else np.zeros((0, len(vector)))
        distances = ((exact - vector) ** 2).sum(axis=1)
        found.append((distances <= bound + 4e-6 * (vector**2).sum()).sum() / DEPTH)
    size = faiss.serialize_index(made).nbytes / len(index)
    figures = timed(lambda vectors: made.search(vectors, DEPTH), sample.vectors)
    print(
        json.dumps(
            {
                "probes": getattr(made, "nprobe", None),
                "bytes_a_vector": size,
                "recall_at_10": float(np.mean(found)),
                **figures,
                "build_cpu_min": cpu / 60,
            }
        )
    )


def timed(search: Any, vectors: np.ndarray) -> dict[str, float]:
    """Return the CPU and wall milliseconds of single searches, and the queries a CPU second of a batch."""
    search(vectors[:8])
    cpu, wall = [], []
    for vector in vectors[:SINGLE]:
        clocks = time.process_time(), time.perf_counter()
        search(vector[None])
        cpu.append(1_000 * (time.process_time() - clocks[0]))
        wall.append(1_000 * (time.perf_counter() - clocks[1]))
    started = time.process_time()
    search(vectors)
    batch = time.process_time() - started
    return {
        "p50_cpu_ms": float(np.median(cpu)),
        "p99_cpu_ms": float(np.percentile(cpu, 99)),
        "p99_wall_ms": float(np.percentile(wall, 99)),
        "queries_a_cpu_s": len(vectors) / batch,
    }


if __name__ == "__main__":
    run(main)
