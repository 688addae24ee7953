"""The facade of a search, for commands, programs and evaluation.

question -> Searcher.search -> list of Hit; question -> Searcher.answer -> Answer; texts -> Searcher.rank -> Ranking
"""

from __future__ import annotations

import dataclasses
import datetime
from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from model.certificates.version import Version
from model.choices import Mode
from model.confidence.features import NEIGHBOURS
from model.index.index import Index
from model.index.lexical_files import check_lexical, open_lexical
from model.index.ranking import Ranking
from model.search.answering import checked_hits, decide, decide_many, with_guard
from model.search.asked import checked_question, checked_questions
from model.search.found_hits import hits_of, same_question
from model.search.opening import open_index
from model.search.results import Answer, Hit
from model.search.retrieval import Retrieval
from schemas import __version__
from schemas.artifacts.manifest import Manifest, read_manifest, read_verified
from schemas.errors import QprError, UsageError
from schemas.tables import CONFIDENCE
from schemas.text import question_id

if TYPE_CHECKING:
    from model.certificates.certificate import Loaded
    from model.confidence.confidence import Confidence


@dataclasses.dataclass(frozen=True)
class Searcher:
    """An opened index and the way it is searched.

    A question whose key equals that of the query is always at rank 1. A question without a word has no hits.

    Attributes:
        retrieval: the index, and the way it is searched.
        version: all that decides the answers; None where the searcher was not opened from an artefact.
        certificate: of this version, permits answers to questions that are not in the index.
        confidence: gives hits their probability.
    """

    retrieval: Retrieval
    version: Version | None = None
    certificate: Loaded | None = None
    confidence: Confidence | None = None

    @property
    def index(self) -> Index:
        """Return the opened index."""
        return self.retrieval.index

    @property
    def modes(self) -> tuple[Mode, ...]:
        """Return the ways of searching that `search_many` takes, the default first."""
        return self.retrieval.modes

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
        return self.search_many([checked_question(question, "search")], k)[0]

    def search_many(self, questions: Sequence[str], k: int = 10, *, mode: Mode | None = None) -> list[list[Hit]]:
        """Return the hits of several questions in one of `modes`, faster than one `search` for each.

        Raises:
            UsageError: ``questions`` is one str or contains something else than str, k is under 1, or the mode is none
                of `modes`.
        """
        asked = checked_questions(questions, "search")
        found = self.retrieval.in_mode(mode).find(
            pa.array(asked, pa.string()),
            min(k, len(self)),
            None,
            neighbours=NEIGHBOURS if self.confidence is not None else 0,
        )
        there = found.ranking.found
        records = self.index.records(found.ranking.rows[there])
        judgement = None
        if self.confidence is not None:
            from model.search.judging import judged

            judgement = judged(self.confidence, self.index, asked, found, [record["text"] for record in records])
        return hits_of(asked, found, records, judgement)

    def answer(self, question: str) -> Answer:
        """Return the answer to one question, or an abstention with its reason.

        Raises:
            UsageError: ``question`` is not a str.
        """
        return self.answer_many([checked_question(question, "answer")])[0]

    def answer_many(self, questions: Sequence[str], *, hits: int = 0) -> list[Answer]:
        """Return the answers to several questions, faster than one `answer` for each, and each with its first hits.

        Without a certificate only a question that is in the index itself is answered. Without ``hits`` it is looked up
        before anything is searched, so its hit has no ranks.

        Raises:
            UsageError: ``questions`` is one str or contains something else than str, or hits is over `MOST_HITS`.
        """
        asked = checked_questions(questions, "answer")
        now = datetime.datetime.now(datetime.UTC)
        if checked_hits(hits):
            return decide_many(asked, self.search_many(asked, hits), self.certificate, now)
        best = self._same_questions(asked)
        others = [number for number, hit in enumerate(best) if hit is None]
        if others:
            searched = self.search_many([asked[number] for number in others], 1)
            for number, found in zip(others, searched, strict=True):
                best[number] = with_guard(asked[number], found[0]) if found else None
        return [decide(question, hit, self.certificate, now) for question, hit in zip(asked, best, strict=True)]

    def _same_questions(self, asked: Sequence[str]) -> list[Hit | None]:
        """Return the question of the index with the key of each question asked, None where there is none."""
        rows = self.index.rows_of(np.array([question_id(text) for text in asked], np.int64))
        records = iter(self.index.records(rows[rows >= 0]))
        probability = None if self.confidence is None else 1.0
        return [
            None if row < 0 else same_question(text, next(records), probability)
            for text, row in zip(asked, rows.tolist(), strict=True)
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
        return self.retrieval.find(asked, k, None if exclude is None else np.asarray(exclude, np.int64)).ranking


def open_searcher(
    url: str,
    *,
    mode: Mode | None = None,
    probes: int | None = None,
    exact: bool = False,
    rerank: str | None = None,
    certificate: str | None = None,
    verify: bool = False,
) -> Searcher:
    """Open the index at an fsspec URL for searches; every byte that is read is checked against the manifest.

    Args:
        url: the index.
        mode: way of searching; by default rerank with a reranker, else that of the index's settings.
        probes: lists to search for a query, by default those of the index's settings. Without effect on flat shards.
        exact: search all lists.
        rerank: URL of a reranker of the same model, for mode rerank.
        certificate: URL of a certificate of this index and these options.
        verify: check all files of the index, also those that were checked before.

    Raises:
        QprError: there is no complete index, a file is missing or damaged, its parts do not fit together, it has no
            BM25 that the mode needs, the reranker is not for it, or the certificate is of another version.
        UsageError: probes is under 1, or mode and rerank contradict each other.
    """
    _check_mode(mode, rerank)
    manifest = read_manifest(url, "index")  # once: a new version can be published meanwhile
    index = open_index(url, probes=probes, exact=exact, verify=verify, manifest=manifest)
    retrieval = _retrieval(manifest, index, mode, rerank)
    version = _version(manifest, retrieval, rerank)
    permit = None
    if certificate:
        from model.certificates.monitor import load_watched  # the exact tests of a certificate import scipy

        permit = load_watched(certificate, version)
    return Searcher(retrieval, version, permit, _confidence(url, manifest))


def _check_mode(mode: Mode | None, rerank: str | None) -> None:
    if mode == "rerank" and rerank is None:
        raise UsageError("--mode rerank: needs a reranker. Give one with --rerank, made by `qpr train-reranker`")
    if rerank is not None and mode not in (None, "rerank"):
        raise UsageError(f"--rerank: belongs to --mode rerank, got --mode {mode}. Leave one of them out")


def _retrieval(manifest: Manifest, index: Index, mode: Mode | None, rerank: str | None) -> Retrieval:
    if rerank is not None:
        from model.reranking.saved_reranker import load_reranker  # a search without one starts 4 % faster

        return Retrieval(index, "rerank", reranker=load_reranker(rerank, model_digest=index.settings.model_digest))
    mode = mode or index.settings.mode
    if mode not in ("bm25", "fusion"):
        check_lexical(manifest, index)
        return Retrieval(index, mode)
    lexical = open_lexical(manifest, index)
    if lexical is None:
        raise QprError(f"{index.url}: has no BM25, which mode {mode} needs. Build the index again without --no-bm25")
    return Retrieval(index, mode, lexical, index.settings.lexical_weight)


def _confidence(url: str, manifest: Manifest) -> Confidence | None:
    files = manifest.of(CONFIDENCE)
    if not files:
        return None
    from model.confidence.saved_confidence import read_confidence

    return read_confidence(read_verified(url, files[0]), source=f"{url}/{files[0].path}")


def _version(manifest: Manifest, retrieval: Retrieval, rerank: str | None) -> Version:
    from model.guards.registry import GUARDS

    confidence = manifest.of(CONFIDENCE)
    return Version(
        index=manifest.digest,
        confidence=confidence[0].sha256 if confidence else None,
        mode=f"fusion {retrieval.lexical_weight:g}" if retrieval.mode == "fusion" else retrieval.mode,
        reranker=read_manifest(rerank, "reranker").digest if rerank else None,
        guards=tuple(GUARDS),
        probes=retrieval.index.probes,
        k=1,
        release=__version__,
    )
