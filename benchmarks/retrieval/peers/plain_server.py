"""A search service as tutorials write it: FastAPI, pydantic, a ``def`` endpoint, one FAISS index in memory.

Run: python -m benchmarks.retrieval.peers.plain_server PORT INDEX
     python -m benchmarks.retrieval.peers.plain_server PORT INDEX MODEL
     python -m benchmarks.retrieval.peers.plain_server PORT INDEX MODEL QUESTIONS

It encodes with the index's own encoder, or with a model of sentence-transformers, and searches one FAISS index of the
same factory and probes. It has no version, limits, log or metrics. To encode all questions with a transformer takes
many minutes, so it can have a part of them, or take the exact vectors of an index of ``st:MODEL``.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from typing import Any

import faiss
import numpy as np
import uvicorn
from fastapi import FastAPI
from pydantic import BaseModel

from benchmarks.retrieval.peers.plain_faiss import prepared
from model.search.searcher import open_searcher


class FoundQuestion(BaseModel):
    """A question with its distance."""

    text: str
    answer: str | None
    distance: float


class Found(BaseModel):
    """The nearest questions."""

    hits: list[FoundQuestion]


def main(port: int, url: str, model: str | None = None, questions: int | None = None) -> None:
    """Load an index of this package, copy it into one of FAISS, and serve it."""
    opened = open_searcher(url).index
    stored = model is not None and questions is None
    if stored and (opened.settings.model_url != f"st:{model}" or not all(shard.is_flat for shard in opened.shards)):
        raise SystemExit(f"{url}: has no exact vectors of st:{model}. Give a number of questions to encode")
    rows = np.arange(len(opened))
    if questions is not None and questions < len(rows):
        rows = np.sort(np.random.default_rng(0).choice(rows, questions, replace=False))
    table = opened.questions(rows)
    texts, answers = table["text"].to_pylist(), table["answer"].to_pylist()
    settings, probes = opened.settings, opened.probes
    encode: Callable[[Sequence[str]], Any] = opened.encoder.encode
    if model is not None:
        from sentence_transformers import SentenceTransformer

        transformer = SentenceTransformer(model, device="cpu")
        encode = lambda asked: transformer.encode(list(asked), normalize_embeddings=True)  # noqa: E731
    starts = range(0, 0 if stored else len(texts), 10_000)
    parts = [shard.vectors for shard in opened.shards] if stored else []
    vectors = np.concatenate([*parts, *(encode(texts[start : start + 10_000]) for start in starts)])
    del opened, table, parts
    index = faiss.index_factory(vectors.shape[1], settings.factory)
    index.train(vectors[np.random.default_rng(0).permutation(len(vectors))[:100_000]])
    index.add(vectors)
    del vectors
    prepared(index, probes, 10)
    app = FastAPI()

    @app.get("/search")
    def search(q: str, k: int = 10) -> Found:
        distances, rows = index.search(encode([q]), k)
        pairs = zip(rows[0].tolist(), distances[0].tolist(), strict=True)
        hits = [FoundQuestion(text=texts[row], answer=answers[row], distance=far) for row, far in pairs if row >= 0]
        return Found(hits=hits)

    uvicorn.run(app, port=port, log_level="error")


if __name__ == "__main__":
    if not 3 <= len(sys.argv) <= 5:
        raise SystemExit(__doc__)
    model, questions = [*sys.argv[3:], None, None][:2]
    main(int(sys.argv[1]), sys.argv[2], model, None if questions is None else int(questions))
