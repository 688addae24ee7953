"""Cost of building and searching an index: predicted and measured memory, disk and time, recall and latency.

Run: python -m benchmarks.retrieval.index --model encoder --questions 500000 --folder scale

Questions are made from templates and names, all different, and really encoded by the model. Every program runs in a
process of its own. The searched index has all its pages read before its memory is measured. One plain FAISS index of
the same vectors and, where it is installed, here or for another Python (`--autofaiss`), an index of autofaiss with the
same memory are searched for the same queries; their recall is measured against the same exact search.
"""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Annotated, Any

import faiss
import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import typer

from benchmarks.cli import AsJson, Report, Seed, run
from benchmarks.measure import measure_call, measure_qpr, resident_mb
from benchmarks.retrieval.distinct_questions import distinct_questions
from benchmarks.retrieval.peers import autofaiss_index
from benchmarks.retrieval.peers.plain_faiss import prepared
from model.index.factory import sample_size
from model.index.index import Index
from model.index.sizing.recall import DEPTH, recall_of, sample_of
from model.search.opening import open_index

SINGLE = 500
"""Queries that are searched one at a time."""

_BLOCK = 100_000
"""Questions that are read or encoded at a time; it bounds the memory."""


def main(
    model: Annotated[str, typer.Option(help="Model that encodes the questions.")],
    folder: Annotated[Path, typer.Option(help="Folder for questions and indexes, which are removed.")],
    questions: Annotated[list[int], typer.Option(min=1_000, help="Number of questions; repeatable.")],
    factory: Annotated[list[str] | None, typer.Option(help="Factory; repeatable. Without one: by size.")] = None,
    memory_mb: Annotated[int | None, typer.Option("--memory-mb", help="Bound of memory.")] = None,
    bm25: Annotated[bool, typer.Option(help="Build BM25 too.")] = True,
    peers: Annotated[bool, typer.Option(help="Compare with FAISS and autofaiss.")] = True,
    autofaiss: Annotated[str | None, typer.Option(help="Python that has autofaiss, if this one has not.")] = None,
    seed: Seed = 0,
    as_json: AsJson = False,
) -> None:
    """Print predicted and measured costs of an index for each number of questions and factory."""
    report = Report(as_json=as_json, seed=seed, model=model, memory_mb=memory_mb, bm25=bm25)
    folder.mkdir(parents=True, exist_ok=True)
    for count in questions:
        asked = str(folder / f"questions-{count}-{seed}.parquet")
        write_questions(asked, count, seed=seed)
        for name in factory or [""]:
            url = str(folder / "index")
            given = ["--questions", asked, "--model", model, "--output", url, "--json", "--overwrite"]
            given += ["--factory", name] if name else []
            given += ["--memory-mb", str(memory_mb)] if memory_mb else []
            given += [] if bm25 else ["--no-bm25"]
            plan = json.loads(measure_qpr("index", *given, "--dry-run").output)
            built = measure_qpr("index", *given)
            print(f"built {count:,} in {built.wall_s:.0f} s, {built.memory_mb:.0f} MB", file=sys.stderr, flush=True)
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
            if autofaiss is not None or report.has_peer("autofaiss"):
                measured = measure_call(search_autofaiss, url, autofaiss or sys.executable)
                report.row(program="autofaiss", **json.loads(measured.output))
        shutil.rmtree(folder / "index")
        Path(asked).unlink()


def write_questions(path: str, count: int, *, seed: int) -> None:
    """Write different questions to a Parquet file."""
    schema = pa.schema([pa.field("question", pa.string(), nullable=False)])
    with pq.ParquetWriter(path, schema) as writer:
        for texts in distinct_questions(count, seed=seed):
            writer.write_table(pa.table([texts], schema=schema))


def size_of(url: str) -> int:
    """Return the bytes of the files of a folder."""
    return sum(path.stat().st_size for path in Path(url).rglob("*") if path.is_file())


def search_index(url: str) -> None:
    """Print the figures of searches of an index as JSON."""
    everything = open_index(url, exact=True)
    everything.rank_vectors(next(encoded(everything))[:4], DEPTH)
    for start in range(0, len(everything), _BLOCK):
        everything.questions(np.arange(start, min(start + _BLOCK, len(everything))))
    resident = resident_mb()
    index = open_index(url)
    sample = sample_of(index)
    figures = timed(lambda vectors: index.rank_vectors(vectors, DEPTH), sample.vectors)
    settings, probes = index.settings, index.probes
    stored = stored_bytes(index)
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


def stored_bytes(index: Index) -> int:
    """Return the bytes of the vectors and codes of an index."""
    return sum(len(shard.content) for shard in (*index.shards, *(codes.shard for codes in index.codes)))


def search_faiss(url: str) -> None:
    """Print the figures of one plain FAISS index with the same lists and probes."""
    index = open_index(url)
    vectors_to_train = max(sample_size(index.settings.factory), 1_000)
    sample = np.arange(0, len(index), max(1, len(index) // vectors_to_train))
    vectors = index.encoder.encode(index.questions(sample)["text"])
    plain: Any = faiss.index_factory(vectors.shape[1], index.settings.factory)
    started = time.process_time()
    plain.train(vectors)
    spent = time.process_time() - started
    del vectors
    for block in encoded(index):
        started = time.process_time()
        plain.add(block)
        spent += time.process_time() - started
    with tempfile.TemporaryDirectory(dir=Path(url).parent) as folder:  # in memory it would be there twice
        faiss.write_index(plain, f"{folder}/made.faiss")
        size = size_of(folder)
    report_peer(url, plain, index.probes, cpu_s=spent, size=size)


def encoded(index: Index) -> Iterator[np.ndarray]:
    """Yield the vectors of all questions of an index, in order of its rows."""
    for start in range(0, len(index), _BLOCK):
        yield index.encoder.encode(index.questions(np.arange(start, min(start + _BLOCK, len(index))))["text"])


def search_autofaiss(url: str, python: str) -> None:
    """Print the figures of the index that autofaiss makes for the memory of ours."""
    index = open_index(url)
    memory = str(max(1, stored_bytes(index) // 2**20))
    with tempfile.TemporaryDirectory(dir=Path(url).parent) as folder:
        made = f"{folder}/made.faiss"
        for number, block in enumerate(encoded(index)):
            np.save(f"{folder}/{number:05}.npy", block)
        command = [python, str(Path(autofaiss_index.__file__)), folder, made, memory]
        printed = subprocess.run(command, check=True, capture_output=True, text=True).stdout
        cpu_s, size = float(printed.splitlines()[-1]), Path(made).stat().st_size
        report_peer(url, faiss.read_index(made), None, cpu_s=cpu_s, size=size)


def report_peer(url: str, made: Any, probes: int | None, *, cpu_s: float, size: int) -> None:
    """Print recall and latency of a FAISS index of all questions in the order of our rows, as JSON.

    Args:
        url: of our index.
        made: the other one.
        probes: number of lists to search; None: as it is set.
        cpu_s: CPU seconds of its build.
        size: bytes of its file.
    """
    prepared(made, probes, DEPTH + 1)
    index = open_index(url)
    sample = sample_of(index)
    rows = made.search(sample.vectors, DEPTH + 1)[1]
    ids = np.concatenate(index.question_ids)
    shares = []
    for row, own, vector, bound in zip(rows, sample.ids, sample.vectors, sample.bounds, strict=True):
        others = row[(row >= 0) & (ids[row] != own)][:DEPTH]
        exact = index.encoder.encode(index.questions(others)["text"]) if len(others) else np.zeros((0, len(vector)))
        distances = ((exact - vector) ** 2).sum(axis=1)
        # the tolerance of `model.index.sizing.recall`
        shares.append((distances <= bound + 4e-6 * (vector**2).sum()).sum() / DEPTH)
    figures = timed(lambda vectors: made.search(vectors, DEPTH), sample.vectors)
    print(
        json.dumps(
            {
                "probes": getattr(made, "nprobe", None),
                "bytes_a_vector": size / len(index),
                "recall_at_10": float(np.mean(shares)),
                **figures,
                "build_cpu_min": cpu_s / 60,
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
