"""An index of questions: opened through its manifest, searched as if its shards were one.

index URL -> open_index -> Index.search(question) -> list of Hit; Index.rank(texts) -> Ranking, arrays
"""

from __future__ import annotations

import dataclasses
import functools
import os
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Annotated

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pydantic

from model.addresses import checked_address
from model.encoding import Encoder
from model.hits import Hit, Ranking, check_question, check_questions, hits_of
from model.index_files import AGAIN, IdTable, check_dimension, check_ids, check_parts
from model.inference import load_encoder
from model.nearest import Ints, nearest
from model.reranking.reranker import Reranker
from model.reranking.saved import load_reranker
from model.sentence_folder import PREFIX
from model.settings import Distance
from model.shards import Matrix, Shard, checked_factory, open_shard
from schemas import storage
from schemas.errors import QprError, UsageError
from schemas.manifest import MANIFEST, REPORTS, File, Manifest, read_manifest, read_settings, read_verified
from schemas.text import key, words

SHARDS, IDS, MODEL = "shards", "ids", "model"
"""The tables of an index: FAISS files, the questions in the order of their rows, the files of the model."""


class IndexSettings(pydantic.BaseModel, frozen=True, extra="forbid"):
    """The configuration in an index's manifest.

    Attributes:
        model_digest: the model that encoded the questions; queries need the same.
        factory: FAISS factory string of every shard.
        probes: lists searched for a query; 0 where the factory has no lists.
        dimension: numbers a vector.
        questions: how many are indexed.
        shards: how many parts they were dealt to; one without a question has no file.
        distance: what the model was trained to compare by; the ranking is always that of the Euclidean one.
        model_url: where the model is, if the index does not hold it.
    """

    model_digest: str
    factory: Annotated[str, pydantic.AfterValidator(checked_factory)]
    probes: int = pydantic.Field(ge=0)
    dimension: int = pydantic.Field(ge=1)
    questions: int = pydantic.Field(ge=1)
    shards: int = pydantic.Field(ge=1)
    distance: Distance
    model_url: str | None = pydantic.Field(default=None, pattern=f"^{PREFIX}")


@dataclasses.dataclass(frozen=True)
class Index:
    """An opened index.

    Attributes:
        url: where it is.
        settings: how it was built.
        probes: lists searched for a query.
        encoder: the model that encoded the questions.
        shards: the opened FAISS indexes.
        question_ids: of each shard, ascending.
        reranker: orders the nearest questions of a text anew.
    """

    url: str
    settings: IndexSettings
    probes: int
    encoder: Encoder
    shards: tuple[Shard, ...]
    question_ids: tuple[Ints, ...]
    _id_tables: tuple[IdTable, ...] = dataclasses.field(repr=False)
    reranker: Reranker | None = None

    def __len__(self) -> int:
        return self.settings.questions

    def search(self, question: str, k: int = 10) -> list[Hit]:
        """Return the questions nearest to one question, the best first.

        There are k of them, or all where the index has fewer, or fewer where the lists searched hold fewer; for a
        question without a word the list is empty. Equal scores rank by question id.

        >>> index = open_index("index")
        >>> [hit.rank for hit in index.search("how do I pay my bill", k=2)]
        [1, 2]

        Raises:
            UsageError: ``question`` is no str, or k is under 1.
        """
        return self.search_many([check_question(question)], k)[0]

    def search_many(self, questions: Sequence[str], k: int = 10) -> list[list[Hit]]:
        """Return what `search` returns for each of several questions, which takes less time than one by one.

        Raises:
            UsageError: ``questions`` is one str, holds something else than str, or k is under 1.
        """
        ranking = self.rank(check_questions(questions), min(k, len(self)))
        return hits_of(ranking, self.questions(ranking.rows[ranking.found]))

    def rank(self, texts: pa.Array | Sequence[str], k: int, exclude: npt.ArrayLike | None = None) -> Ranking:
        """Return the k questions nearest to each text as arrays; equal scores rank by question id.

        A text without a word has no hits. With a reranker its order is that of the first ones.

        Args:
            texts: queries, as they were asked.
            k: how many hits of each.
            exclude: one question id a query that it must not find, such as its own.

        Raises:
            UsageError: k is under 1.
        """
        asked = texts if isinstance(texts, pa.Array) else pa.array(texts, pa.string())
        more = max(k, min(self.reranker.depth, len(self))) if self.reranker and k > 0 else k
        ranking = self.rank_vectors(self.encoder.encode(asked), more, exclude)
        wordless = np.array([not words(key(text)) for text in asked.to_pylist()], bool)
        ranking.ids[wordless], ranking.scores[wordless], ranking.rows[wordless] = -1, -np.inf, -1
        if self.reranker is None:
            return ranking
        return self.reranker.reordered(self, asked, ranking, k)

    def rank_vectors(self, vectors: Matrix, k: int, exclude: npt.ArrayLike | None = None) -> Ranking:
        """Return the k questions nearest to each vector, (n, dimension) float32; otherwise like `rank`."""
        if k < 1:
            raise UsageError(f"k must be at least 1, got {k}")
        more = k if exclude is None else k + 1
        found = nearest(self.shards, self.question_ids, vectors, k=more, probes=self.probes)
        if exclude is not None:
            found = found.without(np.asarray(exclude, np.int64), k)
        return Ranking(found.ids, np.float32(0) - found.distances, found.rows)

    def questions(self, rows: npt.ArrayLike) -> pa.Table:
        """Return the questions at these rows, as `model.id_table` has them; a row may repeat, none may be negative."""
        return self._table.take(pa.array(np.asarray(rows, np.int64)))

    @functools.cached_property
    def _table(self) -> pa.Table:
        with ThreadPoolExecutor(_threads()) as pool:
            parts = pool.map(IdTable.read, self._id_tables)
            return pa.concat_tables(parts).combine_chunks()  # taking 20 rows of one chunk: 30 us; of eight: 4 ms


def open_index(url: str, *, probes: int | None = None, exact: bool = False, rerank: str | None = None) -> Index:
    """Open the index at an fsspec URL; every byte of it is checked against the manifest.

    Args:
        url: the index.
        probes: lists to search for a query; what the index was built with by default. Without effect on flat shards.
        exact: search all lists.
        rerank: URL of a reranker that was learned with an index of the same model.

    Raises:
        QprError: there is no complete index, a file is missing or damaged, its parts do not fit together, or the
            reranker is not for it.
        UsageError: probes is under 1.
    """
    if probes is not None and probes < 1:
        raise UsageError(f"--probes must be at least 1, got {probes}")
    manifest = read_manifest(url, "index")
    settings = read_settings(url, manifest, IndexSettings, again=AGAIN)
    shard_files = manifest.of(SHARDS)
    with ThreadPoolExecutor(_threads()) as pool:  # digests, reads and FAISS all let go of the interpreter lock
        encoder = pool.submit(_encoder, url, manifest, settings)
        shards = tuple(pool.map(lambda file: _shard(url, file), shard_files))
        tables = tuple(pool.map(lambda file: _id_table(url, file), manifest.of(IDS)))
        check_parts(url, settings, files=shard_files, shards=shards, tables=tables)
        ids = tuple(pool.map(IdTable.question_ids, tables))
    check_ids(tables, ids)
    check_dimension(url, settings, found=encoder.result().dimension, what="its model")
    wanted = shards[0].lists if exact else (probes or settings.probes)
    reranker = load_reranker(rerank, model_digest=settings.model_digest) if rerank else None
    return Index(url, settings, wanted, encoder.result(), shards, ids, tables, reranker)


def _threads() -> int:
    return min(8, os.cpu_count() or 1)


def _encoder(url: str, manifest: Manifest, settings: IndexSettings) -> Encoder:
    for file in [*manifest.of(MODEL), *manifest.of(REPORTS)]:
        read_verified(url, file)
    if settings.model_url is not None:
        encoder = load_encoder(checked_address(settings.model_url, of=url))
    elif any(file.path == f"{manifest.run_id}/{MODEL}/{MANIFEST}" for file in manifest.files):
        encoder = load_encoder(storage.join(url, manifest.run_id, MODEL))
    else:  # a folder that the index does not list could be anything, a link too
        raise QprError(f"{url}/{MANIFEST}: lists no {MODEL}/{MANIFEST}. {AGAIN}")
    if encoder.digest != settings.model_digest:
        models = f"holds model {encoder.digest[:12]}, its questions were encoded by {settings.model_digest[:12]}"
        raise QprError(f"{url}: {models}. Build the index again")
    return encoder


def _shard(url: str, file: File) -> Shard:
    content = read_verified(url, file)
    try:
        return open_shard(content)
    except (ValueError, RuntimeError) as error:
        raise QprError(f"{url}/{file.path}: is no shard of an index: {error}. {AGAIN}") from error


def _id_table(url: str, file: File) -> IdTable:
    return IdTable(storage.join(url, file.path), read_verified(url, file), file.rows)
