"""The facade of a search, for commands, programs and evaluation.

question -> Searcher.search -> list of Hit; question -> Searcher.answer -> Answer; texts -> Searcher.rank -> Ranking
"""

from __future__ import annotations

import dataclasses
import datetime
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from model.certificates.version import Version
from model.index.index import Index
from model.index.ranking import Ints, Ranking, places
from model.search.answering import decide, with_guard
from model.search.opening import open_index
from model.search.results import Answer, Hit, Why
from schemas import __version__
from schemas.artifacts.manifest import read_manifest
from schemas.errors import UsageError
from schemas.text import key, question_id, tokens

if TYPE_CHECKING:
    from model.certificates.certificate import Loaded
    from model.reranking.reranker import Reranker


class _Found(NamedTuple):
    """A ranking, and the ranks of its questions, (n, k), by each way of finding them; 0 where it did not."""

    ranking: Ranking
    dense_ranks: Ints


@dataclasses.dataclass(frozen=True)
class Searcher:
    """An opened index and the way it is searched.

    A question whose key equals that of the query is always at rank 1. A question without a word has no hits.

    Attributes:
        index: the opened index.
        reranker: orders the nearest questions of a query; None: they stay in order of distance.
        version: all that decides the answers; None where the searcher was not opened from an artefact.
        certificate: of this version, permits answers to questions that are not in the index.
    """

    index: Index
    reranker: Reranker | None = None
    version: Version | None = None
    certificate: Loaded | None = None

    def __len__(self) -> int:
        """Return the number of questions of the index."""
        return len(self.index)

    def search(self, question: str, k: int = 10) -> list[Hit]:
        """Return the questions that best match one question, the best first.

        There are k of them, or fewer if the index or the searched lists have fewer; none for a question without a word.
        Ties rank by question id.

        >>> searcher = open_searcher("index")
        >>> [hit.rank for hit in searcher.search("how do I pay my bill", k=2)]
        [1, 2]

        Raises:
            UsageError: ``question`` is not a str, or k is under 1.
        """
        return self.search_many([_checked_question(question, "search")], k)[0]

    def search_many(self, questions: Sequence[str], k: int = 10) -> list[list[Hit]]:
        """Return the hits of several questions, faster than one `search` for each.

        Raises:
            UsageError: ``questions`` is one str or contains something else than str, or k is under 1.
        """
        asked = _checked_questions(questions, "search")
        found = self._found(pa.array(asked, pa.string()), min(k, len(self)), None)
        there = found.ranking.found
        rows = iter(self.index.questions(found.ranking.rows[there]).to_pylist())
        hits = []
        for text, mask, ranks in zip(asked, there, found.dense_ranks, strict=True):
            words = tokens(key(text))
            dense = [rank or None for rank in ranks[mask].tolist()]
            hits.append([_hit(next(rows), rank, words, place) for rank, place in enumerate(dense, start=1)])
        return hits

    def answer(self, question: str) -> Answer:
        """Return the answer to one question, or an abstention with its reason.

        Raises:
            UsageError: ``question`` is not a str.
        """
        return self.answer_many([_checked_question(question, "answer")])[0]

    def answer_many(self, questions: Sequence[str]) -> list[Answer]:
        """Return the answers to several questions, faster than one `answer` for each.

        Without a certificate only a question that is in the index itself is answered.

        Raises:
            UsageError: ``questions`` is one str or contains something else than str.
        """
        asked = _checked_questions(questions, "answer")
        now = datetime.datetime.now(datetime.UTC)
        return [
            decide(question, with_guard(question, hits[0]) if hits else None, self.certificate, now)
            for question, hits in zip(asked, self.search_many(asked, 1), strict=True)
        ]

    def rank(self, texts: pa.Array | Sequence[str], k: int, exclude: npt.ArrayLike | None = None) -> Ranking:
        """Return the k questions that best match each text as arrays.

        Args:
            texts: queries, not normalized.
            k: maximum number of hits of each.
            exclude: for each query one question id to leave out, such as its own.

        Raises:
            UsageError: k is under 1.
        """
        asked = texts if isinstance(texts, pa.Array) else pa.array(texts, pa.string())
        return self._found(asked, k, None if exclude is None else np.asarray(exclude, np.int64)).ranking

    def _found(self, asked: pa.Array, k: int, exclude: Ints | None) -> _Found:
        more = max(k, min(self.reranker.depth, len(self))) if self.reranker and k > 0 else k
        dense = self.index.rank(asked, more, exclude)
        ranking = self.reranker.reordered(self.index, asked, dense, k) if self.reranker else dense
        ids = np.array([question_id(text) for text in asked.to_pylist()], np.int64)
        rows = self.index.rows_of(ids)
        if exclude is not None:
            rows[ids == exclude] = -1
        ranking = ranking.with_first(ids, rows, k)
        return _Found(ranking, places(ranking.ids, dense.ids))


def open_searcher(
    url: str,
    *,
    probes: int | None = None,
    exact: bool = False,
    rerank: str | None = None,
    certificate: str | None = None,
) -> Searcher:
    """Open the index at an fsspec URL for searches; every byte that is read is checked against the manifest.

    Args:
        url: the index.
        probes: lists to search for a query, by default those of the index's settings. Without effect on flat shards.
        exact: search all lists.
        rerank: URL of a reranker of the same model.
        certificate: URL of a certificate of this index and these options.

    Raises:
        QprError: there is no complete index, a file is missing or damaged, its parts do not fit together, the
            reranker is not for it, or the certificate is of another version.
        UsageError: probes is under 1.
    """
    index = open_index(url, probes=probes, exact=exact)
    version = _version(url, index, rerank)
    permit = _permit(certificate, version) if certificate else None
    if rerank is None:
        return Searcher(index, version=version, certificate=permit)
    from model.reranking.saved_reranker import load_reranker  # a search without one starts 4 % faster

    reranker = load_reranker(rerank, model_digest=index.settings.model_digest)
    return Searcher(index, reranker, version, permit)


def _permit(url: str, version: Version) -> Loaded:
    from model.certificates.certificate import load_certificate  # its exact tests import scipy

    permit = load_certificate(url)
    permit.check(version)
    return permit


def _version(url: str, index: Index, rerank: str | None) -> Version:
    from model.guards.registry import GUARDS

    manifest = read_manifest(url, "index")
    confidence = manifest.of("confidence")
    return Version(
        index=manifest.digest,
        confidence=confidence[0].sha256 if confidence else None,
        mode="rerank" if rerank else "dense",
        reranker=read_manifest(rerank, "reranker").digest if rerank else None,
        guards=tuple(GUARDS),
        probes=index.probes,
        k=1,
        release=__version__,
    )


def _hit(row: dict[str, object], rank: int, words: Sequence[str], dense_rank: int | None) -> Hit:
    shared = set(tokens(key(str(row["text"]))))
    why = Why(shared_words=tuple(word for word in words if word in shared), dense_rank=dense_rank)
    return Hit(rank=rank, why=why, **row)  # type: ignore[arg-type]  # columns of an id table, checked as it was read


def _checked_questions(questions: object, call: str) -> list[str]:
    """Return the questions given to ``<call>_many``.

    Raises:
        UsageError: they are one str, no sequence, or contain something else than text.
    """
    if isinstance(questions, str) or not isinstance(questions, Iterable):
        kind = type(questions).__name__
        raise UsageError(f"{call}_many takes a list of questions, got {kind}. Write {call}(question) for one")
    listed = list(questions)
    for number, question in enumerate(listed):
        if not isinstance(question, str):
            kind = type(question).__name__
            raise UsageError(f"{call}_many takes a list of str, item {number} is of type {kind}. Convert it to str")
        if not _is_text(question):
            raise UsageError(f"item {number} is no text: it has a surrogate without its pair. Decode it from UTF-8")
    return listed


def _is_text(question: str) -> bool:
    try:
        question.encode()
    except UnicodeEncodeError:
        return False
    return True


def _checked_question(question: object, call: str) -> str:
    """Return the question given to ``call``.

    Raises:
        UsageError: it is not a str.
    """
    if not isinstance(question, str):
        kind = type(question).__name__
        raise UsageError(f"{call} takes one question as a str, got {kind}. Write {call}_many([...]) for several")
    return question
