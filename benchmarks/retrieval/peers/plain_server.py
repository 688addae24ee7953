"""A search service as tutorials write it: FastAPI, pydantic, a ``def`` endpoint, one FAISS index in memory.

Run: python -m benchmarks.retrieval.peers.plain_server INDEX PORT

It encodes with the index's own encoder, which is faster than any model of sentence-transformers, and searches one IVF
index with as many lists and probes as the shards of the index. It has no version, limits, log or metrics.
"""

from __future__ import annotations

import sys

import faiss
import numpy as np
import pyarrow as pa
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


def main(url: str, port: int) -> None:
    """Load an index of this package, copy it into one of FAISS, and serve it."""
    opened = open_searcher(url).index
    table = opened.questions(np.arange(len(opened)))
    texts, answers = table["text"].to_pylist(), table["answer"].to_pylist()
    encoder, settings, probes = opened.encoder, opened.settings, opened.probes
    vectors = np.concatenate(
        [encoder.encode(pa.array(texts[start : start + 10_000], pa.string())) for start in range(0, len(texts), 10_000)]
    )
    del opened, table
    index = faiss.index_factory(settings.dimension, settings.factory)
    index.train(vectors[np.random.default_rng(0).permutation(len(vectors))[:100_000]])
    index.add(vectors)
    del vectors
    prepared(index, probes, 10)
    app = FastAPI()

    @app.get("/search")
    def search(q: str, k: int = 10) -> Found:
        distances, rows = index.search(encoder.encode(pa.array([q], pa.string())), k)
        pairs = zip(rows[0].tolist(), distances[0].tolist(), strict=True)
        hits = [FoundQuestion(text=texts[row], answer=answers[row], distance=far) for row, far in pairs if row >= 0]
        return Found(hits=hits)

    uvicorn.run(app, port=port, log_level="error")


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]))
