"""A reproducible sample of clusters for a person to read.

dataset -> sample_clusters (draw, with_counts) -> clusters of the sample with events of each question
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from jobs.display.console import say, warn
from jobs.display.sample_formats import SCORES
from jobs.options.sample import Sample
from schemas.artifacts.dataset import open_dataset
from schemas.quantities import counted
from schemas.tables import CLUSTERS
from schemas.text import hash64


def sample_clusters(url: str, settings: Sample) -> list[dict[str, Any]]:
    """Return the sample of a dataset's clusters, each with its questions; fewer clusters than required are reported."""
    dataset = open_dataset(url)
    split, count = settings.split, settings.clusters
    sample, available = draw(dataset.parts("clusters"), count=count, seed=settings.seed, split=split)
    where = url if split is None else f"{url}, split {split}"
    if available == 0:
        warn(f"{where}: holds no cluster, so there is nothing to sample. `rejected` in the dataset says why")
    elif available < count:
        say(f"{where}: holds {counted(available, 'cluster')}, fewer than the {count:,} asked for; here are all of them")
    return with_counts(sample, dataset.parts("questions", columns=["question_id", "events"]))


def draw(parts: Iterable[pa.Table], *, count: int, seed: int, split: str | None = None) -> tuple[pa.Table, int]:
    """Return a sample of clusters and the number of eligible clusters.

    A cluster's rank is the BLAKE2b-64 of ``"seed:cluster_id"``; the ``count`` smallest are drawn, in that order. The
    sample does not depend on the order of the rows or the files, and a larger one contains a smaller one.

    Args:
        parts: tables of `schemas.tables.CLUSTERS`; one of them and the sample are in memory at a time.
        count: maximum number of clusters.
        seed: selects the sample.
        split: only clusters of this split.
    """
    plain = CLUSTERS.remove_metadata()
    sample, available = _ranked(plain.empty_table(), seed), 0
    for part in parts:
        eligible = part if split is None else part.filter(pc.equal(part["split"], split))
        available += len(eligible)
        both = pa.concat_tables([sample, _ranked(eligible.select(plain.names).cast(plain), seed)])
        sample = both.sort_by([("rank", "ascending"), ("cluster_id", "ascending")]).slice(0, count)
    return sample.drop_columns("rank"), available


def with_counts(clusters: pa.Table, parts: Iterable[pa.Table]) -> list[dict[str, Any]]:
    """Return each cluster as a dict with ``questions``, a list of dicts of ``text`` and ``events``, most asked first.

    Args:
        clusters: rows of `schemas.tables.CLUSTERS`; their order is kept.
        parts: tables with ``question_id`` and ``events``; a question that is in none of them has 0 events.
    """
    ids = pc.unique(pc.list_flatten(clusters["question_ids"].combine_chunks()))
    events: dict[int, int] = {}
    for part in parts:
        rows = part.filter(pc.is_in(part["question_id"], ids))
        events.update(zip(rows["question_id"].to_pylist(), rows["events"].to_pylist(), strict=True))
    return [_counted(cluster, events) for cluster in clusters.to_pylist()]


def _ranked(clusters: pa.Table, seed: int) -> pa.Table:
    ranks = [hash64(f"{seed}:{cluster_id}") for cluster_id in clusters["cluster_id"].to_pylist()]
    return clusters.append_column("rank", pa.array(ranks, pa.int64()))


def _counted(cluster: dict[str, Any], events: dict[int, int]) -> dict[str, Any]:
    questions = [
        {"text": text, "events": events.get(question_id, 0)}
        for question_id, text in zip(cluster["question_ids"], cluster["texts"], strict=True)
    ]
    return {
        **{name: cluster[name] for name in ("cluster_id", "split", "answer", *SCORES)},
        "questions": sorted(questions, key=lambda question: (-question["events"], question["text"])),
    }
