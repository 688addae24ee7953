"""Erasure from a dataset: all files are written again without it, and the old ones are removed.

dataset URL, Erasure -> erase_from_dataset -> counts of what was erased; -> clusters_left -> ids of the other clusters
"""

from __future__ import annotations

import collections
from collections.abc import Iterator
from pathlib import PurePosixPath
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from jobs.workflows.erasure.rewriting import after_erasure, inside, remove_leftovers, rewriting
from pipelines.graphs.settings import ClustersConfig, QuoraConfig
from pipelines.privacy.erase import (
    Erasure,
    erase_clusters,
    erase_pairs,
    erase_questions,
    erase_rejected,
    payloads_replaced,
)
from pipelines.summary.cluster_summary import summarize_clusters
from pipelines.writing.parquet import count, to_parquet
from schemas.artifacts.dataset import Dataset, open_dataset, read_file
from schemas.artifacts.manifest import REPORTS, File, read_manifest, read_verified
from schemas.artifacts.writer import Output
from schemas.tables import TABLES, conform

_REPLACED = "payloads_replaced"


def erase_from_dataset(url: str, erasure: Erasure, *, dry_run: bool) -> dict[str, Any]:
    """Erase questions and hashes from a dataset; return the number of rows that had them, by table.

    The reports of the run show questions, so they are removed with the old files. Files of killed runs are removed too,
    also if nothing else is found.

    Args:
        url: folder of the dataset.
        erasure: everything to erase.
        dry_run: count only.

    Raises:
        QprError: there is no complete dataset, a run writes to it, or it cannot be written, or an old file
            cannot be removed.
    """
    read_manifest(url, "dataset")  # before a folder is made for the lock
    leftovers = remove_leftovers(url, dry_run=True)
    if dry_run:
        return _result(url, _counted(open_dataset(url), erasure), leftovers, rewritten=False)
    with rewriting(url, "dataset") as target:
        dataset = open_dataset(url)
        erased = _counted(dataset, erasure)
        if erased.total():
            _rewrite(dataset, erasure, target)
    return _result(url, erased, leftovers, rewritten=erased.total() > 0)


def clusters_left(url: str, erasure: Erasure) -> Iterator[int]:
    """Yield the ids of the clusters that a dataset has after an erasure, which may be done already.

    Raises:
        QprError: there is no complete dataset, or a file of it cannot be read.
    """
    for _, part in _parts(open_dataset(url), "clusters"):
        yield from erase_clusters(part, erasure, {})["cluster_id"].to_pylist()


def _result(url: str, erased: collections.Counter[str], leftovers: int, *, rewritten: bool) -> dict[str, Any]:
    others = {_REPLACED: erased[_REPLACED], "leftovers": leftovers}
    counts = {name: erased[name] for name in (*TABLES, REPORTS)} | {name: n for name, n in others.items() if n}
    return {"dataset": url, "rewritten": rewritten} | counts


def _counted(dataset: Dataset, erasure: Erasure) -> collections.Counter[str]:
    """Return by table the number of rows that are removed or changed, and the number of reports."""
    counts = collections.Counter[str]()
    for file, before, after in _tables(dataset, erasure):
        if len(after) < len(before):
            counts[file.table] += len(before) - len(after)
        if file.table == "rejected" and (replaced := payloads_replaced(before, after)):
            counts[_REPLACED] += replaced
        if file.table == "clusters":
            sizes = pc.sum(before["size"]).as_py() != pc.sum(after["size"]).as_py()
            counts[file.table] += _changed(before, after) if sizes else 0
    if counts.total():
        counts[REPORTS] = len(dataset.manifest.of(REPORTS))
    return counts


def _changed(before: pa.Table, after: pa.Table) -> int:
    """Return the number of clusters that became smaller and stay."""
    old = dict(zip(before["cluster_id"].to_pylist(), before["size"].to_pylist(), strict=True))
    new = zip(after["cluster_id"].to_pylist(), after["size"].to_pylist(), strict=True)
    return sum(old[cluster] != size for cluster, size in new)


def _tables(dataset: Dataset, erasure: Erasure) -> Iterator[tuple[File, pa.Table, pa.Table]]:
    """Yield each file of a table with its rows before and after, clusters first."""
    ids = erasure.ids
    events = dict[int, int]()
    for part in dataset.parts("questions", columns=["question_id", "events"]):
        own = part.filter(pc.is_in(part["question_id"], value_set=ids))
        events |= zip(own["question_id"].to_pylist(), own["events"].to_pylist(), strict=True)
    removed = [pa.array([], pa.int64())]
    for file, before in _parts(dataset, "clusters"):
        after = erase_clusters(before, erasure, events)
        gone = pc.invert(pc.is_in(before["cluster_id"], value_set=after["cluster_id"].combine_chunks()))
        removed.append(before["cluster_id"].filter(gone).combine_chunks())
        yield file, before, after
    for file, before in _parts(dataset, "questions"):
        yield file, before, erase_questions(before, erasure, pa.concat_arrays(removed))
    for file, before in _parts(dataset, "pairs"):
        yield file, before, erase_pairs(before, erasure)
    for file, before in _parts(dataset, "rejected"):
        yield file, before, erase_rejected(before, erasure)


def _parts(dataset: Dataset, table: str) -> Iterator[tuple[File, pa.Table]]:
    for file in dataset.manifest.of(table):
        yield file, pa.concat_tables(read_file(dataset.url, file))


def _rewrite(dataset: Dataset, erasure: Erasure, target: Output) -> None:
    """Publish the other rows; an empty file is left out, as in a run."""
    manifest = dataset.manifest
    counters = collections.Counter(manifest.counters)
    files = []
    for file, before, after in _tables(dataset, erasure):
        part = PurePosixPath(file.path).name.split("-")[0] if file.table in ("clusters", "pairs") else ""
        counters.subtract(count(file.table, before, part))
        if len(after):
            rows = conform(after, TABLES[file.table])
            counters.update(count(file.table, rows, part))
            content = to_parquet(rows, file.table)
            files.append(target.write(inside(file), content, table=file.table, rows=len(rows)))
    files += [
        target.write(inside(file), read_verified(dataset.url, file), table=file.table, rows=file.rows)
        for file in manifest.files
        if file.table not in (*TABLES, REPORTS)
    ]
    made_with = QuoraConfig if "held_out" in manifest.configuration else ClustersConfig
    counters["rows_kept"] = counters["events"] // made_with.QUESTIONS_A_ROW
    counters["rows_erased"] = counters["rows_read"] - counters["rows_kept"] - counters["rows_rejected"]
    distributions = {
        n: distribution.five() for n, distribution in summarize_clusters(target.url, files).distributions.items()
    }
    target.publish(files, **(after_erasure(manifest) | {"counters": dict(counters), "distributions": distributions}))
