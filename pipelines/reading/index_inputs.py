"""Files of questions to index: datasets, and tables of questions with their answers in any format.

URLs, names of columns -> question_files -> QuestionInputs
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Final

import pyarrow as pa

from pipelines.reading.headers.columns import MAX_NAMES_SHOWN, Column
from pipelines.reading.reader import check_header, column_names, divide
from pipelines.reading.sources import Source as TableSource
from pipelines.reading.sources import dataset_folders, digest_input, identity_of
from schemas.artifacts import storage
from schemas.artifacts.dataset import open_dataset
from schemas.artifacts.manifest import MANIFEST, File, Source
from schemas.errors import QprError, UsageError
from schemas.filters import NO_FILTERS, VALID_UNTIL, FilterColumns, values_of_folders
from schemas.quantities import shortened

COLUMNS: Final = (
    Column("question", pa.string()),
    *(Column(name, pa.string(), required=False) for name in ("answer", "answer_id", "cluster_id", "events")),
)
"""Columns to read of a table; numbers as text, since a float64 cannot hold a 64-bit id."""

QUESTION_NAMES: Final = ("question", "text")
"""Names of the column of questions unless an option names another; the first that exists is read."""


@dataclasses.dataclass(frozen=True)
class DatasetFile:
    """One file of the table ``questions`` of a dataset; its answers have no end of validity.

    Attributes:
        url: of the dataset.
        file: the file.
        filters: columns of the index.
        values: of all questions, of the columns to vary by.
    """

    url: str
    file: File
    filters: FilterColumns
    values: tuple[str, ...] = ()


@dataclasses.dataclass(frozen=True)
class TableFile:
    """One table of questions; ``names`` pairs our names of columns with the table's, where they differ."""

    source: TableSource
    names: tuple[tuple[str, str], ...]
    filters: FilterColumns = NO_FILTERS

    @property
    def columns(self) -> tuple[Column, ...]:
        """Return the columns to read."""
        return (*COLUMNS, *_filter_columns(self.filters))


@dataclasses.dataclass(frozen=True)
class SegmentFile:
    """The id table of one shard of the index at ``url``.

    Attributes:
        url: of the index.
        file: the id table.
        deleted: bits of the rows to leave out, the lowest of each byte first; empty where there are none.
        filters: columns of the index.
    """

    url: str
    file: File
    deleted: bytes
    filters: FilterColumns


QuestionFile = DatasetFile | TableFile | SegmentFile


@dataclasses.dataclass(frozen=True)
class QuestionInputs:
    """Inputs of an index.

    Attributes:
        files: files to read.
        sources: their entries in the manifest.
        ignored: by URL, the columns of a table that an index does not store.
        unfinished: folders of a glob in which no run has completed, as where no cluster was left; they are not read.
    """

    files: list[QuestionFile] = dataclasses.field(default_factory=list)
    sources: list[Source] = dataclasses.field(default_factory=list)
    ignored: dict[str, list[str]] = dataclasses.field(default_factory=dict)
    unfinished: list[str] = dataclasses.field(default_factory=list)

    @property
    def ignored_columns(self) -> list[str]:
        """Return each ignored column once."""
        return sorted({name for names in self.ignored.values() for name in names})


def question_files(
    urls: Sequence[str],
    names: Mapping[str, str],
    *,
    files_of: Callable[[str], Sequence[TableSource]],
    option: str = "--questions",
    file_options: Sequence[str] = (),
    filters: FilterColumns = NO_FILTERS,
) -> QuestionInputs:
    """Return the files of datasets, tables and globs; of each file only the header or footer is read.

    Args:
        urls: datasets, tables, and globs of one of both.
        names: our name of a column -> the tables', where an option maps one.
        files_of: returns the files of a path or a glob.
        option: that named them, for messages.
        file_options: other options that are about files, as they were given.
        filters: columns that each table has to have; a dataset has the values in its path, ``tenant=acme/locale=de``.

    Raises:
        QprError: a dataset or file is missing, damaged, of an unknown format, or lacks a column.
        UsageError: a file is given twice, or an option is about tables and there is none.
    """
    inputs = QuestionInputs()
    for url in urls:
        if folders := dataset_folders(url):
            finished = [folder for folder in folders if storage.exists(storage.join(folder, MANIFEST))]
            inputs.unfinished.extend(folder for folder in folders if finished and folder not in finished)
            for folder in finished or folders[:1]:  # one without a manifest raises the error about it
                manifest, values = open_dataset(folder).manifest, values_of_dataset(folder, filters.vary_by)
                inputs.files.extend(DatasetFile(folder, file, filters, values) for file in manifest.of("questions"))
                inputs.sources.append(Source(url=folder, digest=manifest.digest))
            continue
        for source in files_of(url):
            file, inputs.ignored[source.url] = _table_file(source, names, filters)
            inputs.files.append(file)
            inputs.sources.append(digest_input(source))
    if len({_identity(file) for file in inputs.files}) != len(inputs.files):
        raise UsageError(f"{option}: a file is given twice. Leave one out")
    if names and not inputs.ignored:
        options = ", ".join(f"--column {ours}={theirs}" for ours, theirs in names.items())
        raise UsageError(f"{options}: maps a column of a file, but {option} has datasets only. Leave it out")
    if file_options and not inputs.ignored:
        raise UsageError(f"{', '.join(file_options)}: is about files, but {option} has datasets only. Leave it out")
    return inputs


def values_of_dataset(url: str, names: Sequence[str]) -> tuple[str, ...]:
    """Return the values of columns to vary by that all questions of a dataset have; its path names them.

    Raises:
        QprError: the path has no value of a column.
    """
    try:
        return values_of_folders(storage.locate(url)[1], names)
    except ValueError as error:
        step = f"Put it into folders such as {'/'.join(f'{name}=VALUE' for name in names)}"
        raise QprError(f"{url}: the index varies by {', '.join(names)}, but {error}. {step}") from error


def divide_file(file: QuestionFile) -> Iterator[QuestionFile]:
    """Yield parts of a file that workers read one by one; only Parquet tables are divided.

    Raises:
        QprError: the file is missing or damaged.
    """
    if isinstance(file, TableFile):
        yield from (dataclasses.replace(file, source=part) for part in divide(file.source))
    else:
        yield file


def _identity(file: QuestionFile) -> str:
    """Return one name for all spellings of a file."""
    if isinstance(file, TableFile):
        return identity_of(file.source.location)
    return storage.join(identity_of(file.url), file.file.path)


def _filter_columns(filters: FilterColumns) -> list[Column]:
    """Return the columns of a table that filter searches, as text."""
    names = [(name, "--vary-by") for name in filters.vary_by]
    if filters.valid_until is not None:
        names.insert(0, (VALID_UNTIL.name, "--valid-until"))
    return [Column(name, pa.string(), option=option) for name, option in names]


def _table_file(source: TableSource, names: Mapping[str, str], filters: FilterColumns) -> tuple[TableFile, list[str]]:
    """Return a table with the names of its columns, and the columns that are ignored."""
    available = column_names(source)
    question = next((name for name in QUESTION_NAMES if name in available), QUESTION_NAMES[0])
    located = {"question": question, **names}
    if filters.valid_until is not None:
        located[VALID_UNTIL.name] = filters.valid_until
    columns = (*COLUMNS, *_filter_columns(filters))
    check_header(source, columns, located)
    used = {located.get(column.name, column.name) for column in columns}
    differing = tuple((ours, theirs) for ours, theirs in located.items() if ours != theirs)
    return TableFile(source, differing, filters), [name for name in available if name not in used]


def ignored_notes(inputs: QuestionInputs) -> Iterator[str]:
    """Yield one note for each folder that is not read, and for each table with ignored columns."""
    for url in inputs.unfinished:
        yield f"{url}: not indexed: it has no {MANIFEST}, so no run has completed there"
    for url, ignored in inputs.ignored.items():
        if ignored:
            kept = ", ".join(column.name for column in COLUMNS)
            yield f"{url}: ignored columns: {shortened(ignored, MAX_NAMES_SHOWN)}. An index keeps {kept}"
