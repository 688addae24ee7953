"""The work of a server behind its addresses: searches, answers, look-ups and feedback.

checked request -> Service -> plain objects for JSON
"""

from __future__ import annotations

import asyncio
import functools
import math
import time
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any, TypeVar

from jobs.web.auditing import Auditing
from jobs.web.batching import Batcher
from jobs.web.messages.documents import (
    AnswersDocument,
    ClusterDocument,
    HitDocument,
    QuestionDocument,
    SearchDocument,
    answer_document,
    hit_documents,
)
from jobs.web.messages.faults import Fault, explaining_refusals
from jobs.web.metrics import Metrics
from jobs.web.settings import Serving
from jobs.web.state import State
from jobs.web.versions.calls import NO_VALUES, Listing
from jobs.web.versions.leases import Version, Versions
from jobs.web.versions.lookups import find_cluster, find_question, has_answer
from jobs.web.versions.opening import first_valid
from model.choices import Mode
from model.search.answering import MOST_HITS

_Document = TypeVar("_Document")

READY_S = 1.0
"""Seconds for which the outcome of a readiness check holds: its address is open, and must not cost searches."""


class Service:
    """An index that is served.

    Args:
        settings: of the server.
        versions: with the first version of the index.
        state: blocked answers and feedback.
    """

    def __init__(self, settings: Serving, versions: Versions, state: State) -> None:
        self.settings = settings
        self.versions = versions
        self.state = state
        self.metrics = Metrics(
            waiting=lambda: self.batcher.waiting,
            opened=lambda: versions.opened,
            blocked=lambda: len(state.blocked),
            processes=lambda: versions.processes,
        )
        self.batcher = Batcher(settings.threads, self.metrics.batches.observe)
        self.auditing = Auditing(state, settings.audits, self.metrics, lambda: versions.current.certificate)
        self._appending = ThreadPoolExecutor(1, thread_name_prefix="feedback")  # other requests do not wait for it
        self._ready = (math.nan, "", False)
        self.show_version(versions.current)

    def show_version(self, version: Version) -> None:
        """Put the version that answers into the metrics."""
        self.metrics.version.info({"version": version.name, "run": version.run_id})
        self.metrics.size.set(len(version.searcher))
        self.metrics.published.set(version.published)
        loaded = version.certificate
        self.metrics.bound.set(loaded.certificate.upper_bound if loaded else math.nan)
        self.metrics.expires.set(loaded.certificate.expires.timestamp() if loaded else math.nan)

    def swap(self, version: Version) -> None:
        """Answer later requests by another version."""
        self.versions.swap(version)
        self.metrics.swaps.labels("swapped").inc()
        self.show_version(version)

    @property
    def columns(self) -> tuple[str, ...]:
        """Return the columns of which a request names a value."""
        return self.versions.current.columns

    async def search(
        self, questions: Sequence[str], k: int, mode: Mode | None = None, filters: Mapping[str, str] = NO_VALUES
    ) -> SearchDocument:
        """Return the hits of each question; those with a blocked answer are left out.

        Raises:
            Fault: the index has no such mode, or a column has no value (422), or no question has it (404).
        """
        with self.versions.lease() as version:
            if mode is not None and mode not in version.searcher.modes:
                raise Fault(422, f"mode: this server has {', '.join(version.searcher.modes)}; --mode opens others")
            with explaining_refusals():
                results = await self._search(version, questions, k, mode, filters)
            answered = sum(bool(hits) for hits in results)
            self.metrics.questions.labels("search", "hits").inc(answered)
            self.metrics.questions.labels("search", "no_hit").inc(len(results) - answered)
            pairs = zip(questions, results, strict=True)
            return {"version": version.name, "results": [{"question": text, "hits": hits} for text, hits in pairs]}

    async def _search(
        self, version: Version, questions: Sequence[str], k: int, mode: Mode | None, filters: Mapping[str, str]
    ) -> list[list[HitDocument]]:
        """Return k hits of each question; those with hits of blocked answers are searched again without these rows."""
        while True:
            listing = Listing(k, self.state.blocked)
            listings = await self.batcher.run(version, "search", questions, k, mode, filters, listing)
            lacking = [number for number, listed in enumerate(listings) if listed.lacks]
            if lacking:
                asked, past = [questions[number] for number in lacking], listing._replace(past=True)
                others = await self.batcher.run(version, "search", asked, k, mode, filters, past)
                for number, listed in zip(lacking, others, strict=True):
                    listings[number] = listed
            if self.state.blocked is listing.blocked:  # else an answer was blocked meanwhile
                return [listed.documents for listed in listings]

    async def answer(
        self, questions: Sequence[str], k: int = 0, filters: Mapping[str, str] = NO_VALUES
    ) -> AnswersDocument:
        """Return the answer to each question, or an abstention with its reason; with k the first k hits too.

        Of hits with a blocked answer fewer than k can be left.

        Raises:
            Fault: a column has no value (422), or the index has no such value (404).
        """
        with self.versions.lease() as version:
            depth = MOST_HITS if k and self.state.blocked else k
            with explaining_refusals():
                answers = await self._answers(version, questions, depth, filters)
            blocked = self.state.blocked  # also those that were blocked meanwhile
            alarm = self.auditing.has_alarm(version.certificate)
            rows = [answer_document(answer, blocked=blocked, alarm=alarm) for answer in answers]
            if k:
                for row, answer in zip(rows, answers, strict=True):
                    row["hits"] = hit_documents(answer.hits, k, blocked=blocked)
            self.auditing.offer(rows, version.name, filters)
            for row in rows:
                self.metrics.questions.labels("answer", row["reason"]).inc()
            return {"version": version.name, "results": rows}

    async def _answers(
        self, version: Version, questions: Sequence[str], depth: int, filters: Mapping[str, str]
    ) -> list[Any]:
        """Return the answers; a single question of the index itself is looked up here, which takes no thread."""
        if len(questions) == 1 and not depth and (exact := version.searcher.known(questions[0])):
            return [exact]
        return await self.batcher.run(version, "answer", questions, depth, filters=filters)

    async def question(self, question_id: int, filters: Mapping[str, str] = NO_VALUES) -> QuestionDocument:
        """Return a question of the index.

        Raises:
            Fault: there is none with this id that a search with these values finds (404), or it cannot be searched with
                them (422).
        """
        with self.versions.lease() as version:
            return await self._look_up(functools.partial(find_question, version, question_id, filters))

    async def cluster(self, cluster_id: int, filters: Mapping[str, str] = NO_VALUES) -> ClusterDocument:
        """Return the questions of a cluster that a search with these values finds.

        Raises:
            Fault: there are none with this id (404), or the index cannot be searched with these values (422).
        """
        with self.versions.lease() as version:
            return await self._look_up(functools.partial(find_cluster, version, cluster_id, filters))

    async def _look_up(self, find: Callable[[frozenset[str]], _Document]) -> _Document:
        """Return the document that is found in a thread with the blocked answers of the time of the response."""
        while True:
            blocked = self.state.blocked
            document = await asyncio.to_thread(find, blocked)
            if self.state.blocked is blocked:  # else an answer was blocked meanwhile
                return document

    async def ready(self) -> bool:
        """Return whether a question of the index finds itself; it is searched once a second at most."""
        with self.versions.lease() as version:
            since, name, able = self._ready
            if name == version.run_id and time.monotonic() - since < READY_S:
                return able
            canary = await asyncio.to_thread(first_valid, version)  # it may have to find the valid rows first
            able = True  # where the validity of all has ended
            if canary is not None:
                [hits] = await self.batcher.run(version, "search", [canary.text], 1, filters=canary.filters)
                able = bool(hits) and hits[0].question_id == canary.question_id
            self._ready = (time.monotonic(), version.run_id, able)
            return able

    async def block(self, answer_id: str) -> None:
        """Block an answer in all later responses; one that is blocked already stays so.

        Raises:
            Fault: the server keeps no state, or the list is full (409), or no question has this answer (404), or the
                list cannot be written (503).
        """
        with self.versions.lease() as version:
            await asyncio.to_thread(self._block, version, answer_id)

    def _block(self, version: Version, answer_id: str) -> None:
        """Look for an answer and block it in one thread, which goes on where the request is given up."""
        is_new = self.state.folder is not None and answer_id not in self.state.blocked
        if is_new and not has_answer(version, answer_id):
            raise Fault(404, "no answer of this version has this id", "not_found")
        self.state.block(answer_id)

    async def append_feedback(self, row: dict[str, Any]) -> None:
        """Append a verdict to the feedback, with the version that answers; one on a drawn answer counts as an audit.

        Raises:
            Fault: the server keeps no state, or the verdict is on no drawn answer, or on one that has been judged, or a
                file cannot be written (503); then nothing is counted nor kept.
        """
        row = {**row, "version": self.versions.current.name}
        if self.state.folder is None or row["audit_id"] is None:
            await asyncio.get_running_loop().run_in_executor(self._appending, self.state.append_feedback, row)
        else:
            keeping = self.state.appending_feedback(row)
            await self.auditing.judge(row["audit_id"], is_wrong=not row["right"], keeping=keeping)

    def close(self) -> None:
        """End the threads that write to the state, after what they write now; then another server may use its folder.

        What waits for them is dropped: its requests have been refused.
        """
        self._appending.shutdown(cancel_futures=True)
        self.auditing.close()
