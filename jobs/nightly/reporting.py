"""Report of a night: what became of the clusters, and the metrics of the index.

dataset, index, version before -> write_report -> report artefact, metrics, number of clusters by change
dataset, version before -> frozen_test -> the one of them whose test split the next night compares on

A report has the hits of the frozen test set in its index, so that the next night does not search this index again.
"""

from __future__ import annotations

import dataclasses
import json
from typing import Any, Final

import pyarrow as pa
import pyarrow.parquet as pq

from jobs.nightly.gate.comparison import FEWEST_CLUSTERS, compare, differences
from jobs.nightly.gate.evaluation import (
    RANKS,
    JudgedSplit,
    Ranked,
    from_rows,
    own_metrics,
    rank_test,
    read_test,
    to_rows,
)
from jobs.nightly.gate.relevance import Relevance
from jobs.nightly.steps import finished, key_of, named, place_of
from jobs.workflows.index_changes.known_rows import ids_of_rows
from model.certificates.version import RULES
from model.search.searcher import open_searcher
from pipelines.summary.cluster_changes import cluster_changes, count_changes
from schemas.artifacts import storage
from schemas.artifacts.dataset import open_dataset
from schemas.artifacts.manifest import Kind, Source, read_manifest, read_verified
from schemas.artifacts.table_files import read_rows
from schemas.artifacts.writer import Output
from schemas.versions.version import Artefact, Version

_COLUMNS: Final = ["cluster_id", "question_ids", "answer_hash"]

_EVALUATION: Final = 2
"""Version of the metrics and of RANKS: reports with those of another one are made again."""


def frozen_test(warehouse: str, dataset: Artefact, parent: Version | None, *, is_new: bool = False) -> Artefact:
    """Return the dataset whose test split is the frozen test set of later nights.

    That of the version before stays, unless it has fewer than two clusters: such a test set can refuse nothing.

    Args:
        warehouse: its URL.
        dataset: of the night.
        parent: the version before; None for the first.
        is_new: take that of the night in any case.

    Raises:
        QprError: the test set of the version before is missing or damaged.
    """
    if parent is None or is_new:
        return dataset
    frozen = open_dataset(storage.join(warehouse, parent.test.path))
    clusters = frozen.table("clusters", columns=["cluster_id"], split="test")
    return parent.test if len(clusters) >= FEWEST_CLUSTERS else dataset


def write_report(
    warehouse: str, dataset: Artefact, index: Artefact, parent: Version | None, test: Artefact
) -> tuple[Artefact, dict[str, float], dict[str, int]]:
    """Write changes of clusters and metrics, unless they are there; return both.

    Args:
        warehouse: its URL.
        dataset: of the night.
        index: of the night.
        parent: the version before; None for the first.
        test: dataset whose test split is the frozen test set of later nights, for the advice.

    Raises:
        QprError: an artefact is damaged.
    """
    before = [artefact.digest for artefact in (parent.dataset, parent.index, parent.test)] if parent else []
    path = place_of("reports", key_of(dataset.digest, index.digest, before, _EVALUATION))
    url = storage.join(warehouse, path)
    if (manifest := finished(warehouse, path, "report")) is None:
        urls = [storage.join(warehouse, artefact.path) for artefact in (dataset, index)]
        searcher, own = open_searcher(urls[1]), read_test(urls[0])
        rows = ids_of_rows(urls[1])
        ranked = {_made_of(warehouse, index, dataset): rank_test(searcher, own, rows)}
        metrics = own_metrics(own, *ranked.values())
        clusters = open_dataset(urls[0]).table("clusters", columns=_COLUMNS)
        old = clusters.slice(0, 0)
        if parent:
            old = open_dataset(storage.join(warehouse, parent.dataset.path)).table("clusters", columns=_COLUMNS)
            frozen = read_test(storage.join(warehouse, parent.test.path))
            after = rank_test(searcher, frozen, rows)
            ranked[_made_of(warehouse, index, parent.test)] = after
            first = _ranked_before(warehouse, frozen, parent)
            common = after
            if not first.has(after.held).all():
                part = dataclasses.replace(searcher, retrieval=searcher.views.among(first.held))
                common = rank_test(part, frozen, rows)
            compared = compare(frozen, first, common, after, Relevance(frozen.judged, old, clusters))
            metrics |= differences(compared, is_kept=parent.test == test)
        changes = cluster_changes(old, clusters)
        with Output(url, "report", overwrite=True) as target:
            table = target.write("changes/changes.parquet", _parquet(changes), table="changes", rows=len(changes))
            content = json.dumps({"metrics": metrics, "changes": count_changes(changes)}, indent=2).encode()
            figures = target.write("evaluation/evaluation.json", content, table="evaluation")
            hits = [
                target.write(
                    f"ranks/{name}.parquet", _parquet(to_rows(ranks, rows)), table="ranks", rows=len(ranks.ids)
                )
                for name, ranks in ranked.items()
            ]
            inputs = [Source(url=artefact.path, digest=artefact.digest) for artefact in (dataset, index)]
            manifest = target.publish([table, figures, *hits], inputs=inputs, configuration={}, counters={})
    [file] = manifest.of("evaluation")
    stored: dict[str, Any] = json.loads(read_verified(url, file))
    return named(path, manifest), stored["metrics"], stored["changes"]


def _ranked_before(warehouse: str, frozen: JudgedSplit, parent: Version) -> Ranked:
    """Return the hits of the frozen test set in the index of the version before: those of its report, or new ones."""
    name = _made_of(warehouse, parent.index, parent.test)
    url, index = (storage.join(warehouse, artefact.path) for artefact in (parent.report, parent.index))
    rows = ids_of_rows(index)
    for file in read_manifest(url, "report").of("ranks"):
        if file.path.endswith(f"/{name}.parquet") and file.rows == len(frozen.judged):
            read = read_rows(read_verified(url, file), RANKS, name=storage.join(url, file.path), rows=file.rows)
            return from_rows(pa.concat_tables([RANKS.empty_table(), *read]), rows)
    return rank_test(open_searcher(index), frozen, rows)


def _made_of(warehouse: str, index: Artefact, test: Artefact) -> str:
    """Return the digest of all that decides on the hits of a test set in an index, as it is now.

    A record names the digest at publication; an erasure changes content and digest of the folder.
    """
    kinds: list[tuple[Artefact, Kind]] = [(index, "index"), (test, "dataset")]
    digests = [read_manifest(storage.join(warehouse, artefact.path), kind).digest for artefact, kind in kinds]
    return key_of(*digests, RULES, _EVALUATION)


def _parquet(table: pa.Table) -> bytes:
    sink = pa.BufferOutputStream()
    pq.write_table(table, sink, compression="zstd")
    return bytes(sink.getvalue().to_pybytes())
