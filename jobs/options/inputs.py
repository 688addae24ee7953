"""Input files of a command.

arguments and options -> input_files -> one `Source` a file, checked by check_inputs
"""

from __future__ import annotations

import contextlib
from collections.abc import Collection, Mapping, Sequence
from typing import TYPE_CHECKING, Annotated, Any

import typer

from jobs.display.console import say, warn
from schemas.errors import MissingColumnsError, QprError, UsageError
from schemas.quantities import counted, shortened

if TYPE_CHECKING:
    from pipelines.reading.headers.columns import Column
    from pipelines.reading.settings import TextFormat
    from pipelines.reading.sources import Source

LogFiles = Annotated[
    list[str] | None,
    typer.Argument(metavar="LOGS", help="Files, globs or URLs: .jsonl, .csv, .tsv, .parquet; .gz, .zst."),
]
PairFiles = Annotated[
    list[str] | None,
    typer.Argument(metavar="PAIRS", help="Files, globs or URLs of pairs: .tsv, .csv, .jsonl, .parquet; .gz, .zst."),
]


def _ratio(text: str) -> Any:
    """Return the declaration of an option of a maximum share of rows."""
    return typer.Option(min=0, max=1, metavar="X", help=text, rich_help_panel="Limits")


MaxRejectRatio = Annotated[float, _ratio("Fail if a larger share of rows is rejected.")]
MaxUnreadableRatio = Annotated[float, _ratio("Fail if a larger share of rows cannot be read.")]

_WITHOUT_OPTION = ("answer_id", "timestamp")
"""Optional columns of a log that decide its clusters; the others are used by options, which require them."""

_PARTIAL = {
    "answer_id": "Answers with an id and those without one are never the same, whatever their texts are",
    "timestamp": "Rows without a time do not show which answer is the present one",
}
_MAX_COMPARED = 50  # files; those of a pattern mostly have the same columns
_SPELLED = {"tab": "\t", "\\t": "\t"}


def input_files(patterns: Sequence[str] | None, text_format: TextFormat, *, example: str) -> list[Source]:
    """Return the files that a command reads; a file given twice is reported and read once.

    Args:
        patterns: paths, globs and URLs as they were typed.
        text_format: delimiter and encoding, as they were typed.
        example: the command with an input, for the message if there is none.

    Raises:
        UsageError: there is no pattern, an option makes no sense, or no file that it applies to.
        QprError: a pattern names no file that can be read.
    """
    from pipelines.reading.encodings import checked_encoding
    from pipelines.reading.sources import expand

    if not patterns:
        raise UsageError(f"no input file. Name at least one, such as: {example}")
    delimiter, encoding = text_format.delimiter, text_format.encoding
    character = None if delimiter is None else _SPELLED.get(delimiter.lower(), delimiter)
    if character is not None and (len(character) != 1 or character in '"\r\n\0' or not character.isascii()):
        raise UsageError(f"--delimiter {delimiter!r}: must be one ASCII character, such as ';', or tab")
    name = None if encoding is None else checked_encoding(encoding)
    sources = expand(patterns, delimiter=character, encoding=name, note=say)
    if character and not any(source.delimiter for source in sources):
        raise UsageError("--delimiter: none of the files is CSV or TSV. Leave it out")
    if name and not any(source.encoding for source in sources):
        raise UsageError("--encoding: none of the files is text. Leave it out")
    return sources


def check_inputs(
    sources: Sequence[Source],
    columns: Sequence[Column],
    names: Mapping[str, str] | None = None,
) -> dict[str, list[str]]:
    """Return the names of the columns of every file, by URL; report names of files that differ, once each.

    Raises:
        QprError: a file cannot be read or lacks a required column.
    """
    from pipelines.reading.reader import check_header

    columns_of: dict[str, list[str]] = {}
    files_of: dict[str, list[str]] = {}
    for source in sources:
        try:
            columns_of[source.url], notes = check_header(source, columns, names)
        except MissingColumnsError as error:
            raise _with_complete_file(error, [other for other in sources if other != source], columns, names) from error
        for note in notes:
            files_of.setdefault(note, []).append(source.url)
    for note, urls in files_of.items():
        say(f"{shortened(urls, 1)}: {note}")
    return columns_of


def _with_complete_file(
    error: MissingColumnsError, others: Sequence[Source], columns: Sequence[Column], names: Mapping[str, str] | None
) -> MissingColumnsError:
    """Return the error with another next step if another file has the columns, as options apply to all files."""
    from pipelines.reading.reader import check_header

    for other in others[:_MAX_COMPARED]:
        with contextlib.suppress(QprError):
            check_header(other, columns, names)
            step = "An option names a column of all files: rename those of some, or make a run of each kind of file"
            return MissingColumnsError(error.cause, f"{other.url} has the columns. {step}")
    return error


def warn_of_partial_columns(columns_of: Mapping[str, Sequence[str]], names: Mapping[str, str]) -> None:
    """Warn of columns that decide clusters and that only some files have: equal answers would be different ones.

    Args:
        columns_of: columns of each file of a run, by URL.
        names: our name of a column -> the file's, where they differ.
    """
    for name, effect in _PARTIAL.items():
        absent = [url for url, columns in columns_of.items() if names.get(name, name) not in columns]
        if 0 < len(absent) < len(columns_of):
            missing = f"{len(absent)} of {counted(len(columns_of), 'file')}, {shortened(absent, 1)}"
            warn(f"no column {name} in {missing}. {effect}. Rename the column that has it there, or add it")


def note_ignored_columns(url: str, available: Sequence[str], names: Mapping[str, str]) -> None:
    """Print the columns of a file that are not read, if it lacks a time or an id, which may have another name there.

    Args:
        url: of one log of a run; others mostly have the same columns.
        available: its columns.
        names: our name of a column -> the file's, where they differ.
    """
    from pipelines.reading.headers.columns import LOG_COLUMNS, MAX_NAMES_SHOWN

    read = {names.get(column.name, column.name) for column in LOG_COLUMNS}
    ignored = [name for name in available if not _is_within(name, read)]
    absent = [name for name in _WITHOUT_OPTION if name not in names and name not in available]
    if ignored and absent:
        options = " or ".join(f"--column {name}=NAME" for name in absent)
        options = f"If one of them is {' or '.join(absent)} under another name, add {options}"
        say(f"{url}: ignored columns: {shortened(ignored, MAX_NAMES_SHOWN)}. {options}")


def _is_within(column: str, read: Collection[str]) -> bool:
    """Return whether a column, or a value or field within it, is among those that are read."""
    return any(name == column or name.startswith((f"{column}[", f"{column}.")) for name in read)


def lack_users(columns_of: Mapping[str, Sequence[str]], names: Mapping[str, str]) -> set[str]:
    """Return the URLs of the files without a column of user ids.

    Args:
        columns_of: columns of each file, by URL.
        names: our name of a column -> the file's, where they differ.
    """
    return {url for url, columns in columns_of.items() if names.get("user_id", "user_id") not in columns}


def check_users(
    sources: Sequence[Source],
    columns_of: Mapping[str, Sequence[str]],
    names: Mapping[str, str],
    options: Sequence[str],
) -> None:
    """Check that every file has a column of user ids, if there is an option that needs it.

    Args:
        sources: the files.
        columns_of: columns of each, by URL; only the header of a file that lacks them is read again, for the message.
        names: our name of a column -> the file's, where they differ.
        options: those that need user ids.

    Raises:
        UsageError: a file has no user ids.
    """
    lacking = lack_users(columns_of, names) if options else ()
    for source in (source for source in sources if source.url in lacking):
        try:
            require_users([source], names)
        except QprError as error:
            given = " and ".join(options)
            raise UsageError(f"{given}: users cannot be counted. {error}, or leave {given} out") from error


def require_users(sources: Sequence[Source], names: Mapping[str, str]) -> None:
    """Check that every log has a column of user ids.

    Args:
        sources: the files.
        names: our name of a column -> the file's, where they differ.

    Raises:
        QprError: a file cannot be read or has no user ids.
    """
    from pipelines.reading.headers.columns import LOG_COLUMNS, with_needed
    from pipelines.reading.reader import check_header

    with_users = with_needed(LOG_COLUMNS, {"user_id": ""})
    for source in sources:
        check_header(source, with_users, names)
