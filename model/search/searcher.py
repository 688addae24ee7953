"""The facade of a search, for commands, programs and evaluation.

question -> Searcher.search -> list of Hit; question -> Searcher.answer -> Answer; texts -> Searcher.rank -> Ranking
"""

from __future__ import annotations

import dataclasses
import datetime
import functools
import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING

import numpy.typing as npt

from model.certificates.version import Version
from model.choices import Mode
from model.confidence.features import NEIGHBOURS
from model.index.index import Index
from model.index.ranking import Ranking
from model.search.answering import checked_hits, decide, decide_many, with_guard, without_ended
from model.search.found_hits import hits_of, judgement_of, same_questions
from model.search.one_process import OfOneProcess
from model.search.opening import again_if_gone, open_index
from model.search.parts import certificate_of, check_mode, check_retrieval, confidence_of, retrieval_of, version_of
from model.search.results import Answer, Hit
from model.search.retrieval import Retrieval
from model.search.views import Filters, Views, utc_now
from model.text.asked import checked_ids, checked_number, checked_question, checked_questions
from schemas.artifacts.manifest import read_manifest
from schemas.artifacts.paths import optional_url, url_text
from schemas.quantities import counted

if TYPE_CHECKING:
    from model.certificates.certificate import Loaded
    from model.confidence.confidence import Confidence


@dataclasses.dataclass(frozen=True, eq=False)  # two are equal if they are the same one, so that they can be keys
class Searcher(OfOneProcess):
    """An opened index and the way it is searched.

    A question whose key equals that of the query is always at rank 1. In an index that varies by columns every search
    names a value of each, and finds only rows with these. No search finds an answer whose validity has ended.

    Attributes:
        retrieval: the index, and the way it is searched.
        version: all that decides the answers; None where the searcher was not opened from an artefact.
        certificate: of this version, permits answers to questions that are not in the index.
        confidence: gives hits their probability.
        clock: returns the present time, with its zone.
    """

    retrieval: Retrieval
    version: Version | None = None
    certificate: Loaded | None = None
    confidence: Confidence | None = None
    clock: Callable[[], datetime.datetime] = utc_now

    def __post_init__(self) -> None:
        """Refuse a path in place of an opened index."""
        check_retrieval(self.retrieval)

    def __repr__(self) -> str:
        return f"Searcher({self.index.url!r}, {counted(len(self), 'question')}, mode={self.retrieval.mode!r})"

    @property
    def index(self) -> Index:
        """Return the opened index."""
        return self.retrieval.index

    @property
    def modes(self) -> tuple[Mode, ...]:
        """Return the ways of searching that `search_many` takes, the default first."""
        return self.retrieval.modes

    @functools.cached_property
    def views(self) -> Views:
        """Return the parts of the index that requests may find."""
        return Views(self.retrieval)

    @property
    def filter_values(self) -> Mapping[str, tuple[str, ...]]:
        """Return the values, ascending, of each column of which a search names one."""
        return self.views.values

    def part(self, filters: Filters = None) -> Index:
        """Return the index, in which only the rows are found that a search with these values finds now.

        Raises:
            UsageError: the filters do not fit the index.
        """
        return self.views.of(filters, self.clock()).index

    def without_answers(self, answer_ids: Iterable[str]) -> Searcher:
        """Return the same searcher, which finds no question with one of these answers, named by `Hit.judged_id`.

        Raises:
            UsageError: ``answer_ids`` is one str, or no iterable of str.
        """
        searcher = dataclasses.replace(self, retrieval=(views := self.views.without(answer_ids)).whole)
        searcher.__dict__["views"] = views
        return searcher

    def __len__(self) -> int:
        """Return the number of questions of the index."""
        return len(self.index)

    def search(self, question: str, k: int = 10, *, filters: Filters = None) -> list[Hit]:
        """Return at most k questions that best match one question, the best first; none for one without a word.

        >>> searcher = open_searcher("index")
        >>> [hit.rank for hit in searcher.search("how do I pay my bill", k=2)]
        [1, 2]

        Raises:
            UsageError: ``question`` is not a str, k is no whole number or under 1, or the filters do not fit the index.
        """
        return self.search_many([checked_question(question, "search")], k, filters=filters)[0]

    def search_many(
        self, questions: Iterable[str], k: int = 10, *, mode: Mode | None = None, filters: Filters = None
    ) -> list[list[Hit]]:
        """Return the hits of several questions in one of `modes`, faster than one `search` for each.

        Raises:
            UsageError: ``questions`` is no list of str, k no whole number or under 1, or mode or filters do not fit.
        """
        asked = checked_questions(questions, "search_many", "search(question)")
        return self._hits(self.views.of(filters, self.clock()).in_mode(mode), asked, checked_number(k, "k"))

    def _hits(self, retrieval: Retrieval, asked: Sequence[str], k: int) -> list[list[Hit]]:
        judges, index = self.confidence is not None, retrieval.index
        found = retrieval.find(asked, min(k, len(self)), None, neighbours=NEIGHBOURS if judges else 0)
        records = index.records(found.ranking.rows[found.ranking.found])
        return hits_of(asked, found, records, judgement_of(found, self.confidence, index, asked, records))

    def answer(self, question: str, *, filters: Filters = None) -> Answer:
        """Return the answer to one question, or an abstention with its reason.

        Raises:
            UsageError: ``question`` is not a str, or the filters do not fit the index.
        """
        return self.answer_many([checked_question(question, "answer")], filters=filters)[0]

    def answer_many(self, questions: Iterable[str], *, hits: int = 0, filters: Filters = None) -> list[Answer]:
        """Return the answers to several questions, faster than one `answer` for each, and each with its first hits.

        Without a certificate only a question that is in the index itself is answered. Without ``hits`` it is looked up
        before anything is searched, so its hit has no ranks.

        With a certificate the rows are searched that were valid when it was made: a question whose best candidate has
        ended since is not answered by another one, which nobody has measured.

        Raises:
            UsageError: ``questions`` is no list of str, hits is over `MOST_HITS`, or the filters do not fit the index.
        """
        asked, now = checked_questions(questions, "answer_many", "answer(question)"), self.clock()
        certified = now if self.certificate is None else min(now, self.certificate.certificate.created)
        valid, searched = self.views.of(filters, now), self.views.of(filters, certified)
        if checked_hits(hits):
            answers = decide_many(asked, self._hits(searched, asked, hits), self.certificate, now, self.index)
        else:
            pairs = zip(asked, self._best(searched, asked), strict=True)
            answers = [decide(text, hit, self.certificate, now, self.index) for text, hit in pairs]
        if searched is valid:
            return answers
        return [without_ended(answer, lambda hit: valid.index.has(hit.question_id)) for answer in answers]

    def known(self, question: str) -> Answer | None:
        """Return the result of `answer` for a question of the index itself, in about .05 ms.

        None for any other, and where columns filter searches, since to find their rows can take longer.

        Raises:
            UsageError: ``question`` is not a str.
        """
        if self.index.settings.filters:
            return None
        [hit] = same_questions(self.index, [checked_question(question, "answer")], judges=self.confidence is not None)
        return None if hit is None else decide(question, hit, self.certificate, self.clock(), self.index)

    def _best(self, retrieval: Retrieval, asked: Sequence[str]) -> list[Hit | None]:
        """Return the best candidate of each question; the question itself is looked up before anything is searched."""
        best = same_questions(retrieval.index, asked, judges=self.confidence is not None)
        to_search = [number for number, hit in enumerate(best) if hit is None]
        if to_search:
            for number, hits in zip(to_search, self._hits(retrieval, [asked[n] for n in to_search], 1), strict=True):
                best[number] = with_guard(asked[number], hits[0]) if hits else None
        return best

    def rank(
        self, texts: Iterable[str], k: int, exclude: npt.ArrayLike | None = None, filters: Filters = None
    ) -> Ranking:
        """Return the k questions that best match each text as arrays, or all questions of a smaller index.

        Args:
            texts: queries, not normalized; an Arrow column too.
            k: maximum number of hits of each.
            exclude: for each query one question id to leave out, such as its own; -1 for none.
            filters: as of `search`.

        Raises:
            UsageError: ``texts`` is no list of str, k is under 1, or exclude or filters do not fit.
        """
        asked = checked_questions(texts, "rank", "rank([question], k)")
        own = None if exclude is None else checked_ids(exclude, count=len(asked))
        retrieval = self.views.of(filters, self.clock())
        return retrieval.find(asked, min(checked_number(k, "k"), len(self)), own).ranking


@again_if_gone
def open_searcher(
    url: str | os.PathLike[str],
    *,
    mode: Mode | None = None,
    probes: int | None = None,
    exact: bool = False,
    rerank: str | os.PathLike[str] | None = None,
    certificate: str | os.PathLike[str] | None = None,
    verify: bool = False,
    compiled: bool = False,
) -> Searcher:
    """Open the index at an fsspec URL for searches; every byte that is read is checked against the manifest.

    Args:
        url: the index; a path such as `pathlib.Path` too.
        mode: way of searching; by default rerank with a reranker, else that of the index's settings.
        probes: of a search, by default those of the index's settings. Without effect on flat shards.
        exact: compare all vectors.
        rerank: URL of a reranker of the same model, for mode rerank.
        certificate: URL of a certificate of this index and these options.
        verify: check all files of the index, also those that were checked before.
        compiled: load what makes later searches faster, in half a second, if the extra `fast` is installed.

    Raises:
        QprError: the index is incomplete, damaged or does not fit together, it has no BM25 that the mode needs, the
            reranker is not for it, or the certificate is of another version.
        UsageError: probes is no whole number or under 1, the mode does not exist, or mode and rerank contradict.
    """
    url, rerank, certificate = url_text(url), optional_url(rerank), optional_url(certificate)
    probes = probes if probes is None else checked_number(probes, "probes")
    check_mode(mode, rerank)
    manifest = read_manifest(url, "index")  # once: a new version can be published meanwhile
    index = open_index(url, probes=probes, exact=exact, verify=verify, compiled=compiled, manifest=manifest)
    confidence = confidence_of(url, manifest)
    retrieval = retrieval_of(manifest, index, mode, rerank, confidence, compiled=compiled)
    version = version_of(manifest, retrieval, rerank)
    return Searcher(retrieval, version, certificate_of(certificate, version), confidence)
