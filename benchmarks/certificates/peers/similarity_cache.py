"""A semantic cache as GPTCache builds it: embedding, nearest question, answer where the distance is below a threshold.

Run: python -m benchmarks.certificates.peers.similarity_cache --folder made --alpha 0.05

It compares with the answers of `qpr answer` on the requests that `benchmarks.certificates.certify commands` left for
that (help desk, same seed). GPTCache is skipped where it is not installed (pip install gptcache sqlalchemy). Both have
the index's encoder and questions, and run in one process on one thread. The threshold is the one with the hit rate of
the certificate on these very requests, which is only found in hindsight.
"""

from __future__ import annotations

import atexit
import random
import shutil
import tempfile
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Annotated, Any

import faiss
import numpy as np
import pyarrow as pa
import typer

from benchmarks.certificates.certified_requests import JUDGED, Request, help_desk
from benchmarks.cli import AsJson, Report, Seed, run
from model.search.searcher import open_searcher
from schemas.text import fold

FARTHEST = 4.0
"""Squared distance of opposite unit vectors, for which GPTCache's similarity is 0."""


def main(
    folder: Annotated[Path, typer.Option(help="Folder that `certify commands` made.")],
    alpha: Annotated[float, typer.Option(help="Promised share of wrong answers of the certificate.")] = 0.05,
    index: Annotated[str, typer.Option(help="Name of the index in the folder.")] = "index",
    seed: Seed = 0,
    as_json: AsJson = False,
) -> None:
    """Print hit rate, share of wrong hits and latency of a certified index and of the cache."""
    rng = random.Random(seed)
    requests, _ = help_desk(folder, rng)
    rng.shuffle(requests)
    rest = requests[int(JUDGED * len(requests)) :]
    faiss.omp_set_num_threads(1)
    searcher = open_searcher(str(folder / index), certificate=str(folder / f"certificate-{index}-{alpha:g}"))
    report = Report(as_json=as_json, requests=len(rest), alpha=alpha, seed=seed)

    def certified(question: str) -> str | None:
        answer = searcher.answer(question)
        return answer.hit.answer if answer.hit is not None and answer.answered else None

    cells, hits = _asked(certified, rest)
    report.row(system="qpr, certificate", **cells)
    if report.has_peer("gptcache"):
        opened = searcher.index
        vectors = opened.encoder.encode(pa.array([request.question for request in rest], pa.string()))
        distances = np.sort(-opened.rank_vectors(vectors, 1).scores[:, 0])
        temporary = Path(tempfile.mkdtemp())
        atexit.register(shutil.rmtree, temporary)  # GPTCache writes its files once more at the end
        cache = _gptcache(opened, temporary, float(distances[max(hits - 1, 0)]))
        report.row(system="GPTCache, threshold of the same hit rate", **_asked(cache, rest)[0])


def _asked(ask: Callable[[str], str | None], requests: Sequence[Request]) -> tuple[dict[str, Any], int]:
    """Return the figures of a system, and its number of hits."""
    for request in requests[:20]:
        ask(request.question)
    hits, wrong, seconds = 0, 0, []
    for request in requests:
        began = time.perf_counter()
        answer = ask(request.question)
        seconds.append(time.perf_counter() - began)
        if answer is not None:
            hits += 1
            wrong += request.right is None or fold(answer) != fold(request.right)
    p50, p99 = (1000 * float(np.quantile(seconds, share)) for share in (0.5, 0.99))
    return {"hit_rate": hits / len(requests), "wrong_of_hits": wrong / max(hits, 1), "p50_ms": p50, "p99_ms": p99}, hits


def _gptcache(opened: Any, folder: Path, distance: float) -> Callable[[str], str | None]:
    """Return the look-up of a cache of all questions of an index; answers are farther than ``distance`` never."""
    from gptcache import Cache, Config
    from gptcache.adapter.api import get
    from gptcache.manager import CacheBase, VectorBase, get_data_manager
    from gptcache.processor.pre import get_prompt
    from gptcache.similarity_evaluation.distance import SearchDistanceEvaluation

    def embed(text: str, **_: object) -> Any:
        return opened.encoder.encode(pa.array([text], pa.string()))[0]

    table = opened.questions(np.arange(len(opened)))
    dimension = opened.settings.dimension
    stores = CacheBase("sqlite", sql_url=f"sqlite:///{folder}/cache.db")
    near = VectorBase("faiss", dimension=dimension, index_path=f"{folder}/faiss.index")
    manager = get_data_manager(stores, near, max_size=10 * len(opened))
    questions, answers = table["text"].to_pylist(), table["answer"].to_pylist()
    vectors = [*opened.encoder.encode(table["text"].combine_chunks())]
    manager.import_data(questions, answers, vectors, [None] * len(questions))
    cache = Cache()
    cache.init(
        pre_embedding_func=get_prompt,
        embedding_func=embed,
        data_manager=manager,
        similarity_evaluation=SearchDistanceEvaluation(max_distance=FARTHEST),
        config=Config(similarity_threshold=1 - distance / FARTHEST),
    )
    return lambda question: get(question, cache_obj=cache)


if __name__ == "__main__":
    run(main)
