"""Summary of a run's clusters: distributions of size and scores, and clusters to show.

cluster files -> summarize_clusters -> ClusterSummary

Numbers are read column by column and file by file, texts only of the clusters that are shown, so that memory depends
neither on the number of clusters nor on that of the files.
"""

from __future__ import annotations

import contextlib
import io
import itertools
from collections.abc import Iterator, Sequence
from typing import Any, Final, NamedTuple

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from pipelines.summary.histogram import Distribution
from schemas.artifacts import storage
from schemas.artifacts.concurrent_reads import read_each
from schemas.artifacts.manifest import File
from schemas.tables import CLUSTERS

SCORES: Final = tuple(field.name for field in CLUSTERS if pa.types.is_floating(field.type))
"""Columns of a cluster that measure how alike its questions are."""

SHOWN_CLUSTERS: Final = 10
SHOWN_TEXTS: Final = 20
"""Numbers of the largest and of the least coherent clusters, and of texts of each, in a summary."""

_STEPS: Final = 10_000  # scores are counted to the fourth decimal
_MOST_AT_ONCE: Final = 2**22  # bytes of a remote file that is read whole: it takes longer to ask than to send them
_NUMBERS: Final = ("cluster_id", "split", "size", "events", *SCORES)
_LARGEST: Final = [("size", "descending"), ("cluster_id", "ascending")]
_LEAST_COHERENT: Final = [
    ("idf_coherence", "ascending"),
    ("adjusted_coherence", "ascending"),
    ("cluster_id", "ascending"),
]


class ClusterSummary(NamedTuple):
    """Distributions and examples of a run's clusters.

    Attributes:
        distributions: of ``size`` and of each score in `SCORES` that some cluster has, by name.
        largest: the `SHOWN_CLUSTERS` largest clusters, the larger first: the columns of CLUSTERS without ids, ``texts``
            cut to `SHOWN_TEXTS`.
        least_coherent: as many clusters of the lowest idf coherence, the lowest first.
    """

    distributions: dict[str, Distribution]
    largest: list[dict[str, Any]]
    least_coherent: list[dict[str, Any]]


def summarize_clusters(url: str, files: Sequence[File]) -> ClusterSummary:
    """Read the clusters among the files of a dataset.

    Args:
        url: the dataset's folder.
        files: of a run; those of other tables are ignored.

    Raises:
        QprError: a file cannot be read.
    """
    places = [(url, file) for file in sorted(files, key=lambda f: f.path) if file.table == "clusters"]
    distributions: dict[str, Distribution] = {}
    largest = least = None
    for number, part in enumerate(read_each(_numbers, places)):
        for name, distribution in _count(part).items():
            distributions[name] = distributions[name] + distribution if name in distributions else distribution
        part = part.append_column("file", pa.repeat(number, len(part)))
        part = part.append_column("row", pa.array(range(len(part)), pa.int64()))
        largest, least = _first(largest, part, _LARGEST), _first(least, part, _LEAST_COHERENT)
    return ClusterSummary(distributions, _with_texts(largest, places), _with_texts(least, places))


def _count(part: pa.Table) -> dict[str, Distribution]:
    scores = {name: part[name].drop_null() for name in SCORES}
    counted = {name: Distribution.of(values.to_numpy(), steps=_STEPS) for name, values in scores.items() if len(values)}
    return {"size": Distribution.of(part["size"].to_numpy()), **counted}


def _first(previous: pa.Table | None, part: pa.Table, order: list[tuple[str, str]]) -> pa.Table:
    both = part if previous is None else pa.concat_tables([previous, part])
    return both.sort_by(order).slice(0, SHOWN_CLUSTERS)


def _numbers(place: tuple[str, File]) -> pa.Table:
    with open_parquet(*place) as file:
        return file.read(columns=list(_NUMBERS), use_threads=False).replace_schema_metadata(None)


def _with_texts(chosen: pa.Table | None, places: Sequence[tuple[str, File]]) -> list[dict[str, Any]]:
    """Return the chosen clusters with their answer and texts, in order."""
    if chosen is None:
        return []
    clusters = chosen.drop_columns(["file", "row"]).to_pylist()
    rows = list(zip(chosen["file"].to_pylist(), chosen["row"].to_pylist(), strict=True))
    texts: dict[tuple[int, int], dict[str, Any]] = {}
    for number, chosen_rows in itertools.groupby(sorted(rows), key=lambda row: row[0]):
        texts |= {(number, row): columns for row, columns in _texts(places[number], [row for _, row in chosen_rows])}
    return [cluster | texts[row] for cluster, row in zip(clusters, rows, strict=True)]


def _texts(place: tuple[str, File], rows: Sequence[int]) -> Iterator[tuple[int, dict[str, Any]]]:
    """Yield some rows of a file, given ascending, with their answer and first texts."""
    first = 0
    with open_parquet(*place) as opened:
        for batch in opened.iter_batches(1024, columns=["answer", "texts"], use_threads=False):
            inside = [row for row in rows if first <= row < first + len(batch)]
            part = batch.take(pa.array([row - first for row in inside], pa.int64()))
            texts = pc.list_slice(part["texts"], 0, SHOWN_TEXTS).to_pylist()
            for row, answer, some in zip(inside, part["answer"].to_pylist(), texts, strict=True):
                yield row, {"answer": answer, "texts": some}
            first += len(batch)


@contextlib.contextmanager
def open_parquet(url: str, file: File) -> Iterator[pq.ParquetFile]:
    """Open a Parquet file of the artefact at ``url``.

    Of a large one on a remote store only the columns that are read are requested, one request each.
    """
    name = storage.join(url, file.path)
    file_system, path = storage.locate(name)
    is_whole = file.bytes <= _MOST_AT_ONCE and "file" not in storage.protocols(file_system)
    with storage.explained(name):
        raw = io.BytesIO(storage.read_bytes(name)) if is_whole else file_system.open(path, "rb", cache_type="none")
        with raw, pq.ParquetFile(raw) as opened:
            yield opened
