"""Report of a night: what became of the clusters, and the metrics of the index.

dataset, index, version before -> write_report -> report artefact, metrics, number of clusters by change
"""

from __future__ import annotations

import json
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from jobs.display.console import warn
from jobs.nightly.gate.evaluation import compare, interval, own_metrics
from jobs.nightly.steps import finished, key_of, named, place_of
from model.search.searcher import Searcher, open_searcher
from pipelines.summary.cluster_changes import cluster_changes, count_changes
from schemas.artifacts import storage
from schemas.artifacts.dataset import open_dataset
from schemas.artifacts.manifest import Source
from schemas.artifacts.writer import Output
from schemas.versions.version import Artefact, Version

_COLUMNS = ["cluster_id", "question_ids"]


def write_report(
    warehouse: str, dataset: Artefact, index: Artefact, parent: Version | None
) -> tuple[Artefact, dict[str, float], dict[str, int]]:
    """Write changes of clusters and metrics, unless they are there; return both.

    Args:
        warehouse: its URL.
        dataset: of the night.
        index: of the night.
        parent: the version before; None for the first.

    Raises:
        QprError: an artefact is damaged.
    """
    before = [artefact.digest for artefact in (parent.dataset, parent.index, parent.test)] if parent else []
    path = place_of("reports", key_of(dataset.digest, index.digest, before))
    url = storage.join(warehouse, path)
    if (manifest := finished(warehouse, path, "report")) is None:
        urls = [storage.join(warehouse, artefact.path) for artefact in (dataset, index)]
        searcher = open_searcher(urls[1])
        metrics = own_metrics(searcher, urls[0])
        old = pa.table({"cluster_id": pa.array([], pa.int64()), "question_ids": pa.array([], pa.list_(pa.int64()))})
        if parent:
            old = open_dataset(storage.join(warehouse, parent.dataset.path)).table("clusters", columns=_COLUMNS)
            metrics |= _difference(warehouse, searcher, parent)
        changes = cluster_changes(old, open_dataset(urls[0]).table("clusters", columns=_COLUMNS))
        sink = pa.BufferOutputStream()
        pq.write_table(changes, sink, compression="zstd")
        with Output(url, "report", overwrite=True) as target:
            table = target.write(
                "changes/changes.parquet", bytes(sink.getvalue().to_pybytes()), table="changes", rows=len(changes)
            )
            content = json.dumps({"metrics": metrics, "changes": count_changes(changes)}, indent=2).encode()
            figures = target.write("evaluation/evaluation.json", content, table="evaluation")
            inputs = [Source(url=artefact.path, digest=artefact.digest) for artefact in (dataset, index)]
            manifest = target.publish([table, figures], inputs=inputs, configuration={}, counters={})
    [file] = manifest.of("evaluation")
    stored: dict[str, Any] = json.loads(storage.read_bytes(storage.join(url, file.path)))
    return named(path, manifest), stored["metrics"], stored["changes"]


def _difference(warehouse: str, after: Searcher, parent: Version) -> dict[str, float]:
    """Return the metrics on the frozen test set beside those of the version before; empty without a common query."""
    before = open_searcher(storage.join(warehouse, parent.index.path))
    compared = compare(before, after, storage.join(warehouse, parent.test.path))
    if not len(compared.after):
        warn("no question of the frozen test set is in both indexes; --new-test-set takes that of this night")
        return {}
    found = interval(compared)
    return {
        "frozen_queries": float(len(compared.after)),
        "frozen_mrr_before": float(compared.before.mean()),
        "frozen_mrr": float(compared.after.mean()),
        "difference": found.mean,
        "difference_low": found.low,
        "difference_high": found.high,
    }
