"""Stored rows of an index, read without its vectors: workers compare rows that are to be added to them.

index URL, run -> KnownRows -> mask of the rows that are stored as they are; index URL -> ids_of_rows -> RowIds
"""

from __future__ import annotations

import dataclasses
import functools
from typing import NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from model.index.consistency import AGAIN, IdTable
from model.index.segments.layout import deleted_rows, in_order
from model.index.settings import IndexSettings
from schemas.arrays import Bools, Int64s
from schemas.artifacts import storage
from schemas.artifacts.concurrent_reads import read_each
from schemas.artifacts.manifest import Manifest, read_manifest, read_settings
from schemas.artifacts.verified_files.files import VerifiedFiles
from schemas.errors import QprError
from schemas.tables import IDS, TOMBSTONES


@dataclasses.dataclass(frozen=True)
class KnownRows:
    """The rows of one version of an index, which workers load by themselves, once per process.

    Attributes:
        url: the index, readable by every worker.
        run_id: of the version.
        deleted: ids of questions that this run deletes, 8 bytes each.
    """

    url: str
    run_id: str
    deleted: bytes

    def __call__(self, rows: pa.Table) -> Bools:
        """Return a mask of the rows that are stored with the same value in every column.

        Raises:
            QprError: the index changed since the start of the run, or is damaged.
        """
        ids: Int64s = rows["question_id"].to_numpy()
        same = np.zeros(len(rows), bool)
        for part in _load(self.url, self.run_id):
            place = np.minimum(np.searchsorted(part.ids, ids), len(part.ids) - 1)
            stored_here = (part.ids[place] == ids) & ~part.deleted[place]
            stored = part.rows.take(pa.array(place[stored_here])).select(rows.column_names)
            same[stored_here] = equal_rows(rows.filter(pa.array(stored_here)), stored)
        return same & ~np.isin(ids, np.frombuffer(self.deleted, np.int64))


@dataclasses.dataclass(frozen=True, eq=False)
class RowIds:
    """Questions of the rows of an index.

    Attributes:
        ids: (rows,) question id of each row, also of a deleted one.
        live: (rows,) whether the row is found.
    """

    ids: Int64s
    live: Bools

    @functools.cached_property
    def by_id(self) -> Int64s:
        """Return the rows that are found, in the order of their ids."""
        live = np.flatnonzero(self.live)
        return live[np.argsort(self.ids[live])]

    @functools.cached_property
    def held(self) -> Int64s:
        """Return the ids of the questions that are found, ascending."""
        return self.ids[self.by_id]


def ids_of_rows(url: str) -> RowIds:
    """Return the question ids of the rows of an index, in the order of `model.index.index.Index.rows_of`.

    Raises:
        QprError: there is no index, or its id tables are damaged.
    """
    parts = _parts(url, read_manifest(url, "index"))
    ids = np.concatenate([np.array([], np.int64), *(part.ids for part in parts)])
    return RowIds(ids, ~np.concatenate([np.array([], bool), *(part.deleted for part in parts)]))


class _Part(NamedTuple):
    """The rows of a shard."""

    ids: Int64s
    rows: pa.Table
    deleted: Bools


@functools.lru_cache(maxsize=1)  # one index for all bundles of a worker
def _load(url: str, run_id: str) -> list[_Part]:
    manifest = read_manifest(url, "index")
    if manifest.run_id != run_id:
        raise QprError(f"{url}: the index changed during the run. Start the run again")
    return _parts(url, manifest)


def _parts(url: str, manifest: Manifest) -> list[_Part]:
    stored = VerifiedFiles(url)
    files = in_order(manifest.of(IDS))
    filters = read_settings(url, manifest, IndexSettings, again=AGAIN).filters
    contents = read_each(stored.read, files, lambda file: file.bytes)
    tables = [
        IdTable(storage.join(url, file.path), content, file.rows, filters=filters)
        for file, content in zip(files, contents, strict=True)
    ]
    masks = [np.zeros(file.rows, bool) for file in files]
    for file in manifest.of(TOMBSTONES):
        masks = deleted_rows(stored.read(file), [shard.rows for shard in files], deleted=file.rows)
    return [_Part(table.question_ids(), table.read(), mask) for table, mask in zip(tables, masks, strict=True)]


def equal_rows(one: pa.Table, other: pa.Table) -> Bools:
    """Return where all columns of two tables are equal; a null equals a null."""
    same = np.ones(len(one), bool)
    for name in one.column_names:
        left, right = one[name], other[name]
        equal = pc.fill_null(pc.equal(left, right), False)
        both_null = pc.and_(pc.is_null(left), pc.is_null(right))
        same &= pc.or_(equal, both_null).to_numpy()
    return same
