"""Reading a dataset: only files that its manifest lists and that match their digests.

dataset URL -> open_dataset -> Dataset.table -> pa.Table
"""

from __future__ import annotations

import dataclasses
import itertools
import os
from collections.abc import Collection, Iterator, Sequence

import pyarrow as pa
import pyarrow.compute as pc

from schemas.artifacts import storage
from schemas.artifacts.concurrent_reads import read_each
from schemas.artifacts.manifest import File, Manifest, read_manifest, read_verified
from schemas.artifacts.paths import url_text
from schemas.artifacts.table_files import read_rows
from schemas.errors import QprError, UsageError
from schemas.tables import ANSWER_ID, SPLITS, TABLES


@dataclasses.dataclass(frozen=True)
class Dataset:
    """A complete dataset: ``url`` and its ``manifest``."""

    url: str
    manifest: Manifest = dataclasses.field(repr=False)

    def parts(self, name: str, *, columns: Sequence[str] | None = None) -> Iterator[pa.Table]:
        """Yield the files of one table in order, each verified against its digest and the schema of the table.

        Raises:
            QprError: a file is missing or damaged, or has values that no pipeline writes.
        """
        for file in self.manifest.of(name):
            yield from read_file(self.url, file, columns=columns)

    def table(self, name: str, *, columns: Sequence[str] | None = None, split: str | None = None) -> pa.Table:
        """Return one table of `schemas.tables.TABLES`, empty if no file holds a row of it.

        Args:
            name: questions, clusters, pairs or rejected.
            columns: the columns to read, all by default.
            split: only rows of this split; the table needs a ``split`` column.

        Raises:
            QprError: as of `parts`.
            UsageError: there is no such table, column or split.
        """
        schema = TABLES[_one_of(TABLES, name, "table")]
        selected = list(columns) if columns is not None else schema.names
        read = selected if split is None or "split" in selected else [*selected, "split"]
        for column in read:
            _one_of(schema.names, column, f"column of {name}")
        if split is not None:
            _one_of(SPLITS, split, "split")
        empty = pa.schema([schema.field(column) for column in read]).empty_table()
        files = read_each(
            lambda file: [*read_file(self.url, file, columns=read)], self.manifest.of(name), lambda file: file.bytes
        )
        parts = itertools.chain.from_iterable(files)
        whole = pa.concat_tables([empty.replace_schema_metadata(None), *parts])
        if split is not None:
            whole = whole.filter(pc.equal(whole["split"], split))
        return whole.select(selected)

    def cluster_texts(self, split: str) -> pa.Table:
        """Return the clusters of a split, as evaluations read them: ``question_ids`` and ``texts``."""
        return self.table("clusters", columns=["question_ids", "texts"], split=split)


def _one_of(names: Collection[str], name: object, what: str) -> str:
    """Return a name that is one of these.

    Raises:
        UsageError: it is not.
    """
    if not isinstance(name, str) or name not in names:
        raise UsageError(f"{str(name)[:60]!a}: is no {what}. Give one of {', '.join(names)}")
    return name


def read_file(
    url: str, file: File, *, columns: Sequence[str] | None = None, batch: int | None = None
) -> Iterator[pa.Table]:
    """Yield the rows of one file of the dataset at ``url``, all together or ``batch`` at a time.

    Raises:
        QprError: the file is missing or damaged, or has values that no pipeline writes.
    """
    name, schema = storage.join(url, file.path), TABLES[file.table]
    content, absent = read_verified(url, file), {ANSWER_ID.name}  # which datasets of an earlier release lack
    for table in read_rows(content, schema, name=name, rows=file.rows, columns=columns, batch=batch, absent=absent):
        _check_values(table, name)
        yield table


def _check_values(table: pa.Table, name: str) -> None:
    """Check names of splits, signs of counts, and that the lists of a cluster have equal lengths."""
    columns = {column: table[column] for column in table.column_names}
    if "split" in columns:
        splits = columns["split"].drop_null().unique()
        unknown = splits.filter(pc.invert(pc.is_in(splits, pa.array(SPLITS))))
        if len(unknown):
            raise QprError(f"{name}: column split holds {unknown[0].as_py()[:60]!a}. {_AGAIN}")
    for count in ("events", "size"):
        if count in columns and (pc.min(columns[count]).as_py() or 0) < 0:
            raise QprError(f"{name}: column {count} holds a negative number. {_AGAIN}")
    lengths = {
        column: pc.list_value_length(columns[column]) for column in ("question_ids", "texts") if column in columns
    }
    lengths |= {"size": columns["size"]} if "size" in columns else {}
    for (first, length), (second, expected) in itertools.pairwise(lengths.items()):
        if not pc.all(pc.equal(length, expected), min_count=0).as_py():
            raise QprError(f"{name}: columns {first} and {second} of a cluster do not fit together. {_AGAIN}")


_AGAIN = "Make the dataset again"


def open_dataset(url: str | os.PathLike[str]) -> Dataset:
    """Open the dataset at an fsspec URL, or a path such as `pathlib.Path`.

    Raises:
        QprError: there is no complete dataset.
        UsageError: ``url`` is neither a str nor a path.
    """
    url = url_text(url)
    return Dataset(url, read_manifest(url, "dataset"))
