"""Reader of every input format.

Source -> divide -> parts -> read -> Batch after Batch; check_header beforehand, in the driver
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from pipelines.reading.batches import Batch
from pipelines.reading.delimited import check_delimited, delimited_names, read_delimited
from pipelines.reading.headers.columns import Column
from pipelines.reading.jsonl import check_jsonl, jsonl_names, read_jsonl
from pipelines.reading.lines import codec_of
from pipelines.reading.parquet import check_parquet, divide_parquet, parquet_names, read_parquet
from pipelines.reading.sources import Source
from schemas.artifacts import storage

_READERS = {"jsonl": read_jsonl, "csv": read_delimited, "tsv": read_delimited, "parquet": read_parquet}
_CHECKS = {"jsonl": check_jsonl, "csv": check_delimited, "tsv": check_delimited, "parquet": check_parquet}
_NAMES = {"jsonl": jsonl_names, "csv": delimited_names, "tsv": delimited_names, "parquet": parquet_names}


def read(source: Source, columns: Sequence[Column], names: Mapping[str, str] | None = None) -> Iterator[Batch]:
    """Yield a file in batches of at most `pipelines.reading.batches.BATCH_ROWS` rows, in its order.

    Args:
        source: the file.
        columns: what the rows shall have; these columns and types, nulls where the file has no value.
        names: our name of a column to the file's, where they differ.

    Returns:
        Batches whose rows and rejects together are all rows of the file; blank lines are none.

    Raises:
        QprError: the file is missing, not what its name says, or broken; always before it ends.
    """
    return _READERS[source.format](source, columns, names or {})


def divide(source: Source) -> Iterator[Source]:
    """Yield parts of a file that are read one by one, so that no worker has to hold what a large file becomes.

    Only Parquet can be divided; a text file is one part.
    """
    if source.format == "parquet":
        yield from divide_parquet(source)
    else:
        yield source


def check_header(
    source: Source, columns: Sequence[Column], names: Mapping[str, str] | None = None, *, mappable: bool = True
) -> list[str]:
    """Look whether a file has the wanted columns, before a run starts.

    Args:
        source: the file; of JSON Lines, the keys of the first 100 objects count.
        columns: what it shall have.
        names: our name of a column to the file's, where they differ.
        mappable: whether the command has a ``--NAME-column`` option for every column.

    Returns:
        What a person may not expect from the file's name, such as another delimiter; one sentence each.

    Raises:
        QprError: a required or mapped column is missing; the message names those found and how to map them.
    """
    notes = _CHECKS[source.format](source, columns, names or {}, mappable=mappable)
    if source.compression or source.format == "parquet":
        return notes
    codec = codec_of(storage.read_start(source.location, 4), source)
    return [f"is {codec} data, though its name does not end so", *notes] if codec else notes


def column_names(source: Source) -> list[str]:
    """Return the names of a file's columns in its order; of JSON Lines, the keys of the first 100 objects.

    Raises:
        QprError: the file is missing, not what its name says, or has no header.
    """
    return _NAMES[source.format](source)
