"""Reading a dataset: only what its manifest lists, only what matches its digest.

dataset URL -> open_dataset -> Dataset.table -> pa.Table
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator, Sequence

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from schemas.manifest import Manifest, read_manifest, read_verified
from schemas.tables import TABLES


@dataclasses.dataclass(frozen=True)
class Dataset:
    """A complete dataset: ``url`` and its ``manifest``."""

    url: str
    manifest: Manifest

    def parts(self, name: str, *, columns: Sequence[str] | None = None) -> Iterator[pa.Table]:
        """Yield the files of one table in order, each verified against its digest.

        Raises:
            QprError: a file is missing or damaged.
        """
        for file in self.manifest.of(name):
            yield pq.read_table(pa.BufferReader(read_verified(self.url, file)), columns=columns and list(columns))

    def table(self, name: str, *, columns: Sequence[str] | None = None, split: str | None = None) -> pa.Table:
        """Return one table of `schemas.tables.TABLES`, empty if no file holds a row of it.

        Args:
            name: questions, clusters, pairs or rejected.
            columns: the columns to read, all by default.
            split: only rows of this split; the table needs a ``split`` column.
        """
        schema = TABLES[name]
        wanted = list(columns) if columns is not None else schema.names
        read = wanted if split is None or "split" in wanted else [*wanted, "split"]
        empty = pa.schema([schema.field(column) for column in read]).empty_table()
        whole = pa.concat_tables([empty.replace_schema_metadata(None), *self._plain_parts(name, read)])
        if split is not None:
            whole = whole.filter(pc.equal(whole["split"], split))
        return whole.select(wanted)

    def _plain_parts(self, name: str, columns: Sequence[str]) -> Iterator[pa.Table]:
        return (part.replace_schema_metadata(None) for part in self.parts(name, columns=columns))


def open_dataset(url: str) -> Dataset:
    """Open the dataset at an fsspec URL.

    Raises:
        QprError: there is no complete dataset.
    """
    return Dataset(url, read_manifest(url, "dataset"))
