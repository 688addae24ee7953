"""Simulated question-answering logs about an invented world or a dataset's clusters, with gold clusters.

Simulation -> simulate_log -> LOG rows: the columns of QA_LOG and ``gold_cluster``
"""

from __future__ import annotations

import datetime
from collections.abc import Iterator
from typing import Final

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from pipelines.simulation.dataset_facts import ClusterFacts
from pipelines.simulation.generic_answers import GENERIC_POOL, UNANSWERED, Facts, draw_generic
from pipelines.simulation.noise import add_noise
from pipelines.simulation.settings import Simulation
from pipelines.simulation.world import world
from schemas.artifacts.dataset import open_dataset
from schemas.errors import QprError
from schemas.tables import QA_LOG

LOG: Final = QA_LOG.append(
    pa.field("gold_cluster", pa.int64(), nullable=False, metadata={"doc": "the fact the question is about"})
)
"""A row of a simulated log."""

JSON_LOG: Final = QA_LOG.append(LOG.field("gold_cluster").with_type(pa.string()))
"""The same for JSON, whose readers round ids of clusters: these have 64 bits."""

EVENTS_A_TABLE: Final = 100_000
"""Rows of a table, which bounds the memory; the number of a table is part of its seed."""

LOCALES: Final = ("en-US", "en-GB", "en-AU", "en-IN")
_WORDING_SKEW = 1.3  # the first wording of four is asked by 0.25 ** (1 / 1.3) = 34 %, the last by 20 %


def simulate_log(settings: Simulation) -> Iterator[pa.Table]:
    """Yield the log in order of time, `EVENTS_A_TABLE` rows of schema `LOG` at a time.

    Raises:
        QprError: the dataset does not exist, is damaged or has no cluster.
    """
    facts = _open_facts(settings.from_dataset)
    rng = np.random.default_rng((settings.seed, 0))
    active = facts.popularity(rng)[: settings.facts or max(1, settings.events // 10)]
    generic = draw_generic(facts, active, share=settings.generic_share, rng=rng)
    weights = np.cumsum(np.arange(1, len(active) + 1) ** -settings.zipf)
    below = weights[:-1] / weights[-1]  # probability of a rank before each but the first
    for number, first in enumerate(range(0, settings.events, EVENTS_A_TABLE)):
        rows = min(EVENTS_A_TABLE, settings.events - first)
        chunk = np.random.default_rng((settings.seed, number + 1))
        ranks = np.searchsorted(below, chunk.random(rows), side="right")
        columns = _asked(settings, facts, active[ranks], generic[ranks], chunk) | _asker(settings, first, rows, chunk)
        yield pa.table({name: columns[name] for name in LOG.names}, schema=LOG)


def _asked(
    settings: Simulation, facts: Facts, fact: np.ndarray, generic: np.ndarray, rng: np.random.Generator
) -> dict[str, pa.Array | np.ndarray]:
    wording, alias, unanswered, doubt = rng.random((4, len(fact)))
    clean = facts.questions(fact, wording=wording**_WORDING_SKEW, alias=alias < settings.alias_share)
    question, changed = add_noise(clean, settings.noise, rng)
    shared = GENERIC_POOL.take(pa.array(generic, mask=generic < 0))  # null where the fact has its own answer
    answer = pc.coalesce(shared, facts.answers(fact))
    return {
        "question": question,
        "answer": pc.if_else(pa.array(unanswered < settings.unanswered_share), UNANSWERED, answer),
        "answer_id": pa.nulls(len(fact), pa.string()),
        "confidence": _confidence(settings, doubt, changed),
        "gold_cluster": facts.gold(fact),
    }


def _confidence(settings: Simulation, doubt: np.ndarray, changed: np.ndarray) -> pa.Array:
    if not settings.confidence:
        return pa.nulls(len(doubt), pa.float64())
    return pa.array(np.round(1 - 0.3 * doubt**2 - 0.3 * changed * doubt, 3))


def _asker(settings: Simulation, first: int, rows: int, rng: np.random.Generator) -> dict[str, pa.Array]:
    users = max(1, settings.events // 20)  # twenty questions each, on average
    moment, who = rng.random((2, rows))
    start_us = (settings.start - datetime.date(1970, 1, 1)).days * 86_400_000_000
    spacing_us = settings.days * 86_400_000_000 / settings.events
    user = pa.array((who**2 * users).astype(np.int64))  # some ask far more than others
    locale = pc.if_else(settings.locale, pa.array(LOCALES).take(pc.bit_wise_and(user, 3)), pa.scalar(None, pa.string()))
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
