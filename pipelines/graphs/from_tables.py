"""Graph from the rows of any pipeline to a dataset.

QA_LOG tables of a source of your own -> WriteDataset -> the files of a dataset
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator
from typing import Any, Final

import apache_beam as beam
import pyarrow as pa

from pipelines.graphs.from_logs import checked_rows, count_readable, limit_and_assemble
from pipelines.graphs.settings import ClustersConfig
from pipelines.neighbours.embeddings import Encode
from pipelines.privacy.scrub import scrub_columns
from pipelines.privacy.settings import Privacy
from pipelines.privacy.users import UserKey
from pipelines.questions.settings import Validation
from pipelines.writing.rejects import TAG
from pipelines.writing.reported import Written
from schemas.errors import UsageError
from schemas.tables import QA_LOG
from schemas.text_arrays import parts_of_texts

PART_BYTES: Final = 2**28
"""Maximum number of bytes of the texts that are counted at a time, but for one row."""


@dataclasses.dataclass
class WriteDataset(beam.PTransform):
    """Make a dataset of the rows of any pipeline, with the steps that `build` adds after reading.

    Input: ``pa.Table`` with the columns of `schemas.tables.QA_LOG`, of any number of rows.
    Output: None, once the files of the run are written.

    Attributes:
        config: how to do it; ``shards`` is 1 if not given.
        run_url: the run's folder, that of `pipelines.graphs.publish.run_and_publish`.
        encode: returns vectors of texts, where the configuration compares their cosine.
        user_key: of the hashes of users and questions that are written.
    """

    config: ClustersConfig
    run_url: str
    encode: Encode | None = None
    user_key: UserKey | None = None

    def expand(self, rows: beam.PCollection[pa.Table]) -> beam.PCollection[None]:
        """Count the rows and assemble the dataset."""
        count = beam.FlatMap(count_rows, self.config.validation, self.config.privacy, self.user_key)
        return limit_and_assemble(
            rows | "CountRows" >> count.with_outputs(TAG, "written", main="asked"),
            [],
            self.config,
            shards=self.config.shards or 1,
            run_url=self.run_url,
            encode=self.encode,
            user_key=self.user_key,
        )


def count_rows(
    rows: pa.Table, validation: Validation, privacy: Privacy, user_key: UserKey | None = None
) -> Iterator[Any]:
    """Yield the ASKED rows of a QA_LOG table, its rejected rows, and counts of rows and personal data.

    Rows of up to `PART_BYTES` of text at a time, as the texts of an array have at most 2 GiB.

    Raises:
        UsageError: as of `as_log`.
    """
    for part in parts_of_texts(as_log(rows), rows=max(len(rows), 1), size=PART_BYTES):
        yield from _count_part(part, validation, privacy, user_key)


def as_log(rows: pa.Table) -> pa.Table:
    """Return the columns of QA_LOG in its types, such as of large strings of polars; missing ones are null.

    Raises:
        UsageError: there is no column question or answer, or a column has values of another type.
    """
    missing = [field.name for field in QA_LOG if not field.nullable and field.name not in rows.column_names]
    if missing:
        named = f"{', '.join(missing)}; there are {', '.join(rows.column_names)}"
        raise UsageError(f"a table for WriteDataset lacks column {named}. Rename its columns to those of QA_LOG")
    columns = [_column(rows, field) for field in QA_LOG]
    return pa.table(columns, names=QA_LOG.names)  # without the schema: rows with a null are rejected later


def _column(rows: pa.Table, field: pa.Field) -> pa.ChunkedArray | pa.Array:
    if field.name not in rows.column_names:
        return pa.nulls(len(rows), field.type)
    column = rows[field.name]
    try:
        return column.cast(field.type)
    except (pa.ArrowInvalid, pa.ArrowNotImplementedError) as error:
        types = f"of type {column.type} cannot be read as {field.type}"
        raise UsageError(f"column {field.name} {types}: {error}. Convert it before WriteDataset") from error


def _count_part(rows: pa.Table, validation: Validation, privacy: Privacy, user_key: UserKey | None) -> Iterator[Any]:
    scrubbed, replaced = scrub_columns(rows, privacy.columns)
    checked = checked_rows(scrubbed, validation, privacy, user_key)
    counts = {"rows_read": len(rows)} | count_readable(rows, validation, privacy)
    counts |= {f"replaced_{kind}": number for kind, number in replaced.items()}
    if len(checked.asked):
        yield checked.asked
    if len(checked.rejects):
        yield beam.pvalue.TaggedOutput(TAG, checked.rejects)
    yield beam.pvalue.TaggedOutput("written", Written(None, counts | checked.counts))
