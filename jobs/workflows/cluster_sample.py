"""A reproducible sample of clusters for a person to read.

dataset -> sample_clusters (draw, with_counts) -> clusters of the sample -> show_clusters -> terminal or file
"""

from __future__ import annotations

import os
import sys
from collections.abc import Iterable
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from jobs.display.console import emit, say, two_columns, warn
from jobs.display.safe_text import terminal_text, with_text_ids
from jobs.display.sample_formats import CLUSTER_FIGURES, FORMATS, file_content, terminal_table
from jobs.options.sample import Sample
from schemas.arrays import Int64s
from schemas.artifacts import conditional_writes
from schemas.artifacts.dataset import open_dataset
from schemas.artifacts.manifest import Manifest
from schemas.errors import UsageError
from schemas.quantities import counted
from schemas.tables import CLUSTERS
from schemas.text import hash64


def show_clusters(url: str, settings: Sample, *, output: str | None, overwrite: bool, as_json: bool) -> None:
    """Draw clusters and write them to a file, or print them.

    Raises:
        UsageError: format and output do not fit each other.
        QprError: the dataset cannot be read, or the file exists.
    """
    form, shown = _format_of(settings.format, output), settings.questions
    if as_json and output is None and form != "table":
        raise UsageError(f"--format {form}: --json prints the sample as JSON. Leave one out, or add --output FILE")
    if "questions" in settings.model_fields_set and (form in ("csv", "parquet") or (as_json and output is None)):
        raise UsageError("--questions: shortens a table or Markdown; CSV, Parquet and JSON have all. Leave it out")
    if form == "parquet" and output is None:
        raise UsageError("--format parquet is no text. Add --output FILE")
    if output is not None:
        conditional_writes.refuse_existing(output, overwrite=overwrite)
    drawn = sample_clusters(url, settings)
    if output is not None:
        conditional_writes.write_result(output, file_content(drawn, form, shown=shown), overwrite=overwrite)
        questions = sum(len(cluster["questions"]) for cluster in drawn)
        result = {"output": output, "clusters": len(drawn), "questions": questions}
        emit(result, as_json=as_json, table=lambda: two_columns("Sample", result))
    elif as_json or (form == "table" and drawn):
        listed = [with_text_ids(cluster) for cluster in drawn]
        result = {"dataset": url, "seed": settings.seed, "split": settings.split, "clusters": listed}
        emit(result, as_json=as_json, table=lambda: terminal_table(drawn, shown=shown))
    elif form != "table":
        content = file_content(drawn, form, shown=shown).decode("utf-8-sig")
        sys.stdout.write(terminal_text(content, sys.stdout))


def _format_of(form: str, output: str | None) -> str:
    """Return the format of a sample; a file that is to hold a table has the format of its name."""
    named = FORMATS.get(os.path.splitext(output or "")[1], form)
    if output is not None and named == "table":
        raise UsageError(
            f"--output {output}: its name ends in no known format. Give --format, one of {', '.join(FORMATS.values())}"
        )
    if form not in ("table", named):
        raise UsageError(f"--output {output}: its name is that of --format {named}, not of {form}")
    return named


def sample_clusters(url: str, settings: Sample) -> list[dict[str, Any]]:
    """Return the sample of a dataset's clusters, each with its questions; fewer clusters than required are reported."""
    dataset = open_dataset(url)
    split, count = settings.split, settings.clusters
    order = order_of(dataset.manifest, settings.seed)
    sample, available = draw(dataset.parts("clusters"), count=count, order=order, split=split)
    where = url if split is None else f"{url}, split {split}"
    if available == 0:
        warn(f"{where}: holds no cluster, so there is nothing to sample. `rejected` in the dataset lists the reasons")
    elif available < count:
        say(f"{where}: holds {counted(available, 'cluster')}, fewer than the {count:,} asked for; here are all of them")
    return with_counts(sample, dataset.parts("questions", columns=["question_id", "events"]))


def order_of(manifest: Manifest, seed: int) -> str:
    """Return the name of the random order of a dataset's clusters.

    A dataset from which verdicts removed clusters has an order of its own: among the first clusters of the order in
    which these were judged there are no wrong ones left.

    Args:
        manifest: of the dataset.
        seed: selects one of its orders.
    """
    reviewed = manifest.configuration.get("assembly", {}).get("reviewed") or {}
    return f"{seed}:{reviewed['verdicts']}" if reviewed else str(seed)


def draw(parts: Iterable[pa.Table], *, count: int, order: str, split: str | None = None) -> tuple[pa.Table, int]:
    """Return a sample of clusters and the number of eligible clusters.

    A cluster's rank is the BLAKE2b-64 of ``"order:cluster_id"``; the ``count`` smallest are drawn, in that order. The
    sample does not depend on the order of the rows or the files, and a larger one contains a smaller one.

    Args:
        parts: tables of `schemas.tables.CLUSTERS`; one of them and the sample are in memory at a time.
        count: maximum number of clusters.
        order: name of the random order.
        split: only clusters of this split.
    """
    plain = CLUSTERS.remove_metadata()
    sample, available = _ranked(plain.empty_table(), order), 0
    for part in parts:
        eligible = part if split is None else part.filter(pc.equal(part["split"], split))
        available += len(eligible)
        both = pa.concat_tables([sample, _ranked(eligible.select(plain.names).cast(plain), order)])
        sample = both.sort_by([("rank", "ascending"), ("cluster_id", "ascending")]).slice(0, count)
    return sample.drop_columns("rank"), available


def with_counts(clusters: pa.Table, parts: Iterable[pa.Table]) -> list[dict[str, Any]]:
    """Return each cluster as a dict with ``questions``, a list of dicts of ``text`` and ``events``, most asked first.

    Args:
        clusters: rows of `schemas.tables.CLUSTERS`; their order is kept.
        parts: tables with ``question_id`` and ``events``; a question that is in none of them has 0 events.
    """
    events = event_counts(clusters, parts)
    return [_counted(cluster, events) for cluster in clusters.to_pylist()]


def event_counts(clusters: pa.Table, parts: Iterable[pa.Table]) -> dict[int, int]:
    """Return the number of events of each question of clusters; a question that is in no part is left out.

    Args:
        clusters: rows of `schemas.tables.CLUSTERS`.
        parts: tables with ``question_id`` and ``events``.
    """
    ids = pc.unique(pc.list_flatten(clusters["question_ids"].combine_chunks()))
    events: dict[int, int] = {}
    for part in parts:
        rows = part.filter(pc.is_in(part["question_id"], ids))
        events.update(zip(rows["question_id"].to_pylist(), rows["events"].to_pylist(), strict=True))
    return events


def random_ranks(cluster_ids: Iterable[int], order: str) -> Int64s:
    """Return the places of clusters in a random order, of which each sample is a prefix."""
    return np.array([hash64(f"{order}:{cluster_id}") for cluster_id in cluster_ids], np.int64)


def _ranked(clusters: pa.Table, order: str) -> pa.Table:
    return clusters.append_column("rank", pa.array(random_ranks(clusters["cluster_id"].to_pylist(), order)))


def _counted(cluster: dict[str, Any], events: dict[int, int]) -> dict[str, Any]:
    questions = [
        {"text": text, "events": events.get(question_id, 0)}
        for question_id, text in zip(cluster["question_ids"], cluster["texts"], strict=True)
    ]
    return {
        **{name: cluster[name] for name in ("cluster_id", "split", "answer", *CLUSTER_FIGURES)},
        "questions": sorted(questions, key=lambda question: (-question["events"], question["text"])),
    }
