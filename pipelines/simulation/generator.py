"""Simulated question-answering logs about an invented world or a dataset's clusters, with gold clusters.

Simulation -> tables -> LOG rows: the columns of QA_LOG and ``gold_cluster``
"""

from __future__ import annotations

import dataclasses
import datetime
from collections.abc import Iterator
from typing import Final

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from pipelines.simulation.dataset_facts import ClusterFacts
from pipelines.simulation.generic_answers import GENERIC_POOL, UNANSWERED, Facts, draw_generic
from pipelines.simulation.noise import Noise, add_noise
from pipelines.simulation.world import world
from schemas.artifacts.dataset import open_dataset
from schemas.errors import QprError, UsageError
from schemas.tables import QA_LOG

LOG: Final = QA_LOG.append(
    pa.field("gold_cluster", pa.int64(), nullable=False, metadata={"doc": "the fact the question is about"})
)
"""A row of a simulated log."""

EVENTS_A_TABLE: Final = 100_000
"""Rows of a table, which bounds the memory; the number of a table is part of its seed."""

LOCALES: Final = ("en-US", "en-GB", "en-AU", "en-IN")
_WORDING_SKEW = 1.3  # the first wording of four is asked by 0.25 ** (1 / 1.3) = 34 %, the last by 20 %


@dataclasses.dataclass(frozen=True, kw_only=True)
class Simulation:
    """Settings of a simulated log; equal settings give equal rows.

    Attributes:
        events: number of rows, at least 1.
        seed: of every random choice.
        from_dataset: URL of a dataset whose clusters are the facts, instead of the invented world.
        facts: number of facts in the log, the most popular ones; None for a tenth of the events.
        zipf: the fact of popularity rank r is asked with probability proportional to ``r ** -zipf``.
        generic_share: share of facts whose answer is a short one that unrelated facts have too.
        unanswered_share: share of events with the answer "I don't know.".
        alias_share: share of events that use the other name of an entity, if it has one.
        noise: rates of changes to the words.
        start: the day of the first event.
        days: number of days of the log.
        confidence: fill the column ``confidence``; lower on average where words were changed.
        locale: fill the column ``locale``; each user has one locale.
    """

    events: int = 1_000_000
    seed: int = 0
    from_dataset: str | None = None
    facts: int | None = None
    zipf: float = 0.8
    generic_share: float = 0.1
    unanswered_share: float = 0.01
    alias_share: float = 0.25
    noise: Noise = dataclasses.field(default_factory=Noise)
    start: datetime.date = datetime.date(2024, 1, 1)
    days: int = 30
    confidence: bool = True
    locale: bool = True

    def __post_init__(self) -> None:
        for name, value in {"events": self.events, "facts": self.facts, "days": self.days}.items():
            if value is not None and value < 1:
                raise UsageError(f"--{name} must be at least 1, got {value}")
        for name in ("generic_share", "unanswered_share", "alias_share"):
            if not 0.0 <= getattr(self, name) <= 1.0:
                raise UsageError(f"--{name.replace('_', '-')} must be in [0, 1], got {getattr(self, name)}")
        if self.seed < 0 or not 0.0 <= self.zipf <= 10.0:
            raise UsageError(f"--seed must not be negative and --zipf be in [0, 10], got {self.seed} and {self.zipf}")
        if self.days > (datetime.date.max - self.start).days:
            raise UsageError(f"--days {self.days}: the log would go on after the year {datetime.MAXYEAR}")

    def tables(self) -> Iterator[pa.Table]:
        """Yield the log in order of time, `EVENTS_A_TABLE` rows of schema `LOG` at a time.

        Raises:
            QprError: the dataset does not exist, is damaged or has no cluster.
        """
        facts = _open_facts(self.from_dataset)
        rng = np.random.default_rng((self.seed, 0))
        active = facts.popularity(rng)[: self.facts or max(1, self.events // 10)]
        generic = draw_generic(facts, active, share=self.generic_share, rng=rng)
        weights = np.cumsum(np.arange(1, len(active) + 1) ** -self.zipf)
        below = weights[:-1] / weights[-1]  # probability of a rank before each but the first
        for number, first in enumerate(range(0, self.events, EVENTS_A_TABLE)):
            rows = min(EVENTS_A_TABLE, self.events - first)
            chunk = np.random.default_rng((self.seed, number + 1))
            ranks = np.searchsorted(below, chunk.random(rows), side="right")
            columns = self._asked(facts, active[ranks], generic[ranks], chunk) | self._asker(first, rows, chunk)
            yield pa.table({name: columns[name] for name in LOG.names}, schema=LOG)

    def _asked(
        self, facts: Facts, fact: np.ndarray, generic: np.ndarray, rng: np.random.Generator
    ) -> dict[str, pa.Array | np.ndarray]:
        wording, alias, unanswered, doubt = rng.random((4, len(fact)))
        clean = facts.questions(fact, wording=wording**_WORDING_SKEW, alias=alias < self.alias_share)
        question, changed = add_noise(clean, self.noise, rng)
        shared = GENERIC_POOL.take(pa.array(generic, mask=generic < 0))  # null where the fact has its own answer
        answer = pc.coalesce(shared, facts.answers(fact))
        return {
            "question": question,
            "answer": pc.if_else(pa.array(unanswered < self.unanswered_share), UNANSWERED, answer),
            "answer_id": pa.nulls(len(fact), pa.string()),
            "confidence": self._confidence(doubt, changed),
            "gold_cluster": facts.gold(fact),
        }

    def _confidence(self, doubt: np.ndarray, changed: np.ndarray) -> pa.Array:
        if not self.confidence:
            return pa.nulls(len(doubt), pa.float64())
        return pa.array(np.round(1 - 0.3 * doubt**2 - 0.3 * changed * doubt, 3))

    def _asker(self, first: int, rows: int, rng: np.random.Generator) -> dict[str, pa.Array]:
        users = max(1, self.events // 20)
        moment, who = rng.random((2, rows))
        start_us = (self.start - datetime.date(1970, 1, 1)).days * 86_400_000_000
        spacing_us = self.days * 86_400_000_000 / self.events
        user = pa.array((who**2 * users).astype(np.int64))  # some ask far more than others
        locale = pc.if_else(self.locale, pa.array(LOCALES).take(pc.bit_wise_and(user, 3)), pa.scalar(None, pa.string()))
        return {
            "timestamp": pa.array(start_us + ((np.arange(rows) + first + moment) * spacing_us).astype(np.int64)).cast(
                LOG.field("timestamp").type
            ),
            "user_id": pc.binary_join_element_wise("u", pc.utf8_lpad(user.cast(pa.string()), 7, "0"), ""),
            "locale": locale,
        }


def _open_facts(dataset_url: str | None) -> Facts:
    if dataset_url is None:
        return world()
    clusters = open_dataset(dataset_url).table("clusters", columns=["cluster_id", "answer", "texts"])
    try:
        return ClusterFacts(clusters)
    except QprError as error:
        raise QprError(f"{dataset_url}: {error}") from error
