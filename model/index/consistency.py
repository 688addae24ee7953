"""Consistency of an index: id tables, and shards that fit them and each other.

bytes -> IdTable -> question ids, rows; shards and ids -> check_parts
"""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa

from model.index.codes import Codes
from model.index.factory import factory_of_codes, factory_of_shards, is_graph, lists_of, most_probes, refines
from model.index.rows.cells import whole
from model.index.segments.layout import deleted_rows, place_of, segment_of
from model.index.shards import Shard
from schemas.arrays import Int64s
from schemas.artifacts.manifest import File
from schemas.artifacts.table_files import is_arrow, read_id_rows, read_rows
from schemas.artifacts.verified_files.files import Content
from schemas.errors import QprError
from schemas.filters import NO_FILTERS, FilterColumns
from schemas.quantities import counted
from schemas.tables import ID_TABLE

if TYPE_CHECKING:
    from model.index.settings import IndexSettings

AGAIN = "Build the index again"


@dataclasses.dataclass(frozen=True)
class IdTable:
    """The questions of a shard in the order of its rows.

    Attributes:
        name: of the file, for messages.
        content: its bytes: an Arrow file, whose rows are never copied, or a Parquet file of an older release.
        rows: their number in the manifest.
        checked: the values of the very same bytes have been checked before.
        filters: columns of the index that filter searches.
    """

    name: str
    content: Content = dataclasses.field(repr=False)
    rows: int
    checked: bool = False
    filters: FilterColumns = NO_FILTERS

    def question_ids(self) -> Int64s:
        """Return the ids of all rows, ascending.

        Raises:
            QprError: the file is damaged, or the ids do not ascend.
        """
        if is_arrow(self.content):
            table = self.read()
        else:
            [table] = read_rows(self.content, ID_TABLE, name=self.name, rows=self.rows, columns=["question_id"])
        ids: Int64s = np.asarray(whole(table["question_id"]).to_numpy(), np.int64)
        if not self.checked and (ids[1:] <= ids[:-1]).any():
            raise QprError(f"{self.name}: column question_id does not ascend. {AGAIN}")
        return ids

    def read(self) -> pa.Table:
        """Return all rows, always with ``answer_id``, and with the columns that filter searches.

        Raises:
            QprError: the file is damaged.
        """
        return read_id_rows(self.content, self.filters, name=self.name, rows=self.rows, checked=self.checked)


def check_parts(
    url: str, settings: IndexSettings, *, files: Sequence[File], shards: Sequence[Shard], tables: Sequence[IdTable]
) -> None:
    """Check that the shards of an index fit its settings, its id tables and each other.

    Args:
        url: the index.
        settings: of the index.
        files: of the shards.
        shards: opened.
        tables: with the ids of the shards' rows.

    Raises:
        QprError: they do not fit.
    """
    counts, live = [len(shard) for shard in shards], sum(map(live_count, shards))
    if counts != [table.rows for table in tables] or live != settings.questions:
        questions = counted(sum(table.rows for table in tables), "question")
        rows = f"{counted(sum(counts), 'vector')} and {questions} in {counted(len(shards), 'shard')}"
        deleted = f", {sum(counts) - live:,} of them deleted" if live < sum(counts) else ""
        raise QprError(f"{url}: holds {rows}{deleted}, the manifest lists {settings.questions:,}. Build it again")
    factory = factory_of_shards(settings.factory)
    for file, shard, table in zip(files, shards, tables, strict=True):
        name = f"{url}/{file.path}"
        if place_of(file.path) != place_of(table.name):
            raise QprError(f"{name}: stands where the shard of {table.name} is expected. {AGAIN}")
        check_dimension(url, settings, dimension=shard.layout.dimension, what="a shard")
        flat = segment_of(file.path) > 0 and shard.layout.encoding == "Flat" and not shard.lists
        if (lists := 0 if flat else lists_of(factory)) != shard.lists or file.rows != len(shard):
            held = f"{counted(len(shard), 'vector')} in {counted(shard.lists, 'list')}"
            raise QprError(f"{name}: holds {held}, the manifest lists {file.rows:,} in {lists:,}. {AGAIN}")
        if flat:
            continue
        if shard.layout.encoding not in factory or shard.layout.centroids != shards[0].layout.centroids:
            raise QprError(f"{name}: does not share the lists of {files[0].path} and {settings.factory}. {AGAIN}")
    if settings.probes < 1 and most_probes(settings.factory):
        raise QprError(f"{url}/manifest.json: configuration: probes: 0 with the factory {settings.factory}. {AGAIN}")


def check_codes(
    url: str, settings: IndexSettings, *, files: Sequence[File], codes: Sequence[Shard], shards: Sequence[File]
) -> tuple[Codes, ...]:
    """Return the codes of an index, each with the shards whose vectors they are of.

    Args:
        url: the index.
        settings: of the index.
        files: of the codes.
        codes: opened.
        shards: files of the shards.

    Raises:
        QprError: they do not fit the settings or the shards.
    """
    factory, segments = factory_of_codes(settings.factory), [segment_of(file.path) for file in shards]
    if refines(settings.factory) != (0 in {segment_of(file.path) for file in files}):
        held = "no codes" if refines(settings.factory) else "codes"
        raise QprError(f"{url}: holds {held} beside its vectors, but its factory is {settings.factory}. {AGAIN}")
    checked = []
    for file, shard in zip(files, codes, strict=True):
        name, number = f"{url}/{file.path}", segment_of(file.path)
        check_dimension(url, settings, dimension=shard.layout.dimension, what="a file of codes")
        rows = sum(of.rows for of, segment in zip(shards, segments, strict=True) if segment == number)
        if not len(shard) == file.rows == rows:
            raise QprError(
                f"{name}: holds {counted(len(shard), 'code')}, its shards {counted(rows, 'vector')}. {AGAIN}"
            )
        of_factory = shard.lists == lists_of(settings.factory) and shard.layout.encoding in factory
        of_factory &= shard.layout.graph == is_graph(factory)
        if not of_factory or shard.layout.centroids != codes[0].layout.centroids:
            raise QprError(f"{name}: does not share the training of {files[0].path} and {factory}. {AGAIN}")
        checked.append(Codes(shard, segments.index(number), len(segments) - segments[::-1].index(number)))
    return tuple(checked)


def check_ids(tables: Sequence[IdTable], ids: Sequence[Int64s], shards: Sequence[Shard]) -> None:
    """Check that no question stands in two shards, except for deleted rows.

    Raises:
        QprError: one does.
    """
    ids = [part if shard.live is None else part[shard.live] for part, shard in zip(ids, shards, strict=True)]
    together = np.sort(np.concatenate(ids), kind="stable")  # ascending runs are merged, not sorted
    twice = together[1:][together[1:] == together[:-1]]
    if len(twice):
        names = [table.name for table, part in zip(tables, ids, strict=True) if (part == twice[0]).any()]
        raise QprError(f"{names[0]}: question_id {twice[0]} is in {names[1]} too. {AGAIN}")


def with_tombstones(name: str, content: Content, shards: Sequence[Shard], *, deleted: int) -> tuple[Shard, ...]:
    """Return shards that find their live rows alone.

    Args:
        name: of the file of tombstones, for messages.
        content: of that file.
        shards: in order of their rows.
        deleted: number of tombstones in the manifest.

    Raises:
        QprError: the tombstones do not fit the shards.
    """
    try:
        masks = deleted_rows(content, [len(shard) for shard in shards], deleted=deleted)
    except ValueError as error:
        raise QprError(f"{name}: {error}. {AGAIN}") from error
    return tuple(
        dataclasses.replace(shard, live=~mask) if mask.any() else shard
        for shard, mask in zip(shards, masks, strict=True)
    )


def live_count(shard: Shard) -> int:
    """Return the number of rows of a shard that are not deleted."""
    return len(shard) if shard.live is None else int(np.count_nonzero(shard.live))


def check_dimension(url: str, settings: IndexSettings, *, dimension: int, what: str) -> None:
    """Check the dimension of a shard or the model.

    Raises:
        QprError: it is not that of the index.
    """
    if dimension != settings.dimension:
        raise QprError(
            f"{url}: {what} has {counted(dimension, 'dimension')}, the manifest {settings.dimension}. {AGAIN}"
        )
