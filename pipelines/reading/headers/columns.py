"""Columns to read, and their names in a file.

columns, names from the command line, names in the file -> locate_columns -> our name -> the file's
"""

from __future__ import annotations

import dataclasses
import re
import shlex
from collections.abc import Callable, Collection, Mapping, Sequence
from typing import Final, NamedTuple

import pyarrow as pa

from pipelines.privacy.patterns import replace_personal
from pipelines.reading.headers.row_lists import advise_objects
from pipelines.reading.headers.suggestions import is_json, suggest_columns
from schemas.errors import MissingColumnsError
from schemas.quantities import shortened
from schemas.tables import QA_LOG

TIMESTAMP: Final = pa.timestamp("us", tz="UTC")
"""Type of every column of times."""

MAX_NAMES_SHOWN: Final = 30
"""Number of names of columns in a message."""

_MIN_WORDS_OF_SENTENCE: Final = 4
"""Minimum number of words from which on the name of a column looks like a cell of a log without a header."""

_DIGITS: Final = re.compile(r"\d+")


class Header(NamedTuple):
    """Names of a file's columns in its order, and notes on differences between the file and its name."""

    names: list[str]
    notes: list[str]


@dataclasses.dataclass(frozen=True)
class Column:
    """One column to read.

    Attributes:
        name: our name for it.
        type: string, float64 or `TIMESTAMP`.
        required: a file without it is an error; an absent optional column becomes null.
        option: the option that maps this column alone; empty: `--column`.
        needed_by: the option for which the column is required, which can be left out; empty: it always is.
    """

    name: str
    type: pa.DataType
    required: bool = True
    option: str = ""
    needed_by: str = ""

    def __post_init__(self) -> None:
        if self.type not in (pa.string(), pa.float64(), TIMESTAMP):
            raise ValueError(f"column {self.name}: type {self.type} is unsupported. Use string, float64 or {TIMESTAMP}")

    def mapped_to(self, theirs: str = "NAME") -> str:
        """Return the option that maps it to another name."""
        return (
            f"{self.option} {shlex.quote(theirs)}"
            if self.option
            else f"--column {shlex.quote(f'{self.name}={theirs}')}"
        )

    def advise_place(self, lists: str) -> str:
        """Return the advice to map it to one value of the lists of a column."""
        return f"Name one value of each, such as {self.mapped_to(f'{lists}[0]')}, the first, where [-1] is the last"


LOG_COLUMNS: Final = tuple(Column(field.name, field.type, required=not field.nullable) for field in QA_LOG)
"""Columns of a log; ``question`` and ``answer`` are required."""


def with_needed(columns: Sequence[Column], options: Mapping[str, str]) -> list[Column]:
    """Return the columns, of which those that options need are required.

    Args:
        columns: of a file.
        options: name of a column -> the option that needs it.
    """
    return [
        dataclasses.replace(column, required=True, needed_by=options[column.name]) if column.name in options else column
        for column in columns
    ]


def file_names(columns: Sequence[Column], names: Mapping[str, str]) -> tuple[list[str], list[str]]:
    """Return the names of the required and of the optional columns in a file.

    Args:
        columns: columns to find.
        names: our name -> the file's, where the user maps one.
    """
    required = [names.get(c.name, c.name) for c in columns if c.required or c.name in names]
    return required, [c.name for c in columns if not c.required and c.name not in names]


def locate_columns(
    columns: Sequence[Column],
    names: Mapping[str, str],
    available: Collection[str],
    *,
    url: str,
    sample: Callable[[], Mapping[str, Sequence[str]]] | None = None,
    nested: Sequence[str] = (),
    objects: Collection[str] = (),
    mappable: bool = True,
) -> dict[str, str]:
    """Return the file's name of each present column, by our name.

    Args:
        columns: columns to find.
        names: our name -> the file's, where the user maps one.
        available: the names in the file.
        url: the file, for the message.
        sample: returns some values of each column of the file, from which a missing column is suggested.
        nested: names in the file of columns that hold lists, which are never suggested.
        objects: names in the file of columns that hold objects, whose fields are among ``available``.
        mappable: the command has options that map columns, for the message.

    Raises:
        MissingColumnsError: a required or explicitly mapped column is missing, or one that is read holds objects.
    """
    located = {c.name: names.get(c.name, c.name) for c in columns if names.get(c.name, c.name) in available}
    absent = {c.name: names.get(c.name, c.name) for c in columns if c.name not in located}
    missing = [c for c in columns if c.name in absent and (c.required or c.name in names or absent[c.name] in objects)]
    if not missing:
        return located
    shown = shortened([_shown(name) for name in available if name], MAX_NAMES_SHOWN)
    theirs = [absent[c.name] for c in missing]
    values = sample() if sample else {}
    free = {name: values.get(name, ()) for name in available if name not in nested and name not in located.values()}
    answers = [c for c in columns if c.name == "answer" and c.name not in located and c not in missing]
    lists = ""
    if of_json := [name for name, some in free.items() if some and all(map(is_json, some))]:
        lists = advise_objects(of_json, shortened(of_json, MAX_NAMES_SHOWN))
    elif nested:
        places = (
            f"{nested[0]}[0] is the first value, {nested[0]}[-1] the last, {nested[0]}[0].FIELD a field of an object"
        )
        lists = f"Of lists ({shortened(nested, MAX_NAMES_SHOWN)}) single values are columns: {places}"
    if not mappable:
        step = f"Rename columns of the file, or add {', '.join(theirs)} to it"
    elif free:
        step = _options(missing, free, optional=answers, lists=lists)
    else:
        step = lists or f"The file has no other column. Add {' and '.join(theirs)} to the file"
    if all(c.needed_by for c in missing):
        step = f"{step}. Or leave out {' and '.join(c.needed_by for c in missing)}"
    raise MissingColumnsError(f"{url}: no column {', '.join(theirs)}; there are {shown or 'none'}", step)


def _options(
    missing: Sequence[Column], sample: Mapping[str, Sequence[str]], *, optional: Sequence[Column], lists: str
) -> str:
    """Return options that map the missing columns and any optional ones found, to copy to the command line.

    The step for lists comes before them where a missing column resembles none. Names with personal data are rows of a
    log without a header: options would show that data, or name no column of the file.
    """
    suggested = suggest_columns([column.name for column in (*missing, *optional)], sample)
    is_complete = all(c.name in suggested for c in missing)
    if any(_shown(name) != name for name in (suggested.values() if is_complete else sample)):
        return "The first row seems to be one of the log. Write the names of the columns above it"
    mapped = [*missing, *(c for c in optional if c.name in suggested)]
    options = " ".join(c.mapped_to(suggested.get(c.name, "NAME")) for c in mapped)
    if is_complete:
        return f"Add: {options}{_if_pairs(suggested)}{_if_no_header(suggested)}"
    step = f"{lists}{'. ' if lists else ''}Add, with one of them for NAME: {options}"
    if "question" in suggested and "answer" not in suggested and any(c.name == "answer" for c in missing):
        step += ". If questions and answers are rows of one column, as in a conversation, first make one row of both"
    return step


def _if_pairs(suggested: Mapping[str, str]) -> str:
    """Return a further step where question and answer are columns such as question1 and question2, else nothing."""
    question, answer = (suggested.get(name, "") for name in ("question", "answer"))
    if not question or _DIGITS.sub("", question) != _DIGITS.sub("", answer):
        return ""
    return f". If {question} and {answer} are both questions, as in labelled pairs, use `qpr quora`"


def _if_no_header(suggested: Mapping[str, str]) -> str:
    """Return a further step where the names of question and answer are sentences, else nothing."""
    names = [suggested[name] for name in ("question", "answer") if name in suggested]
    if len(names) < 2 or not all(map(_is_sentence, names)):
        return ""
    return ". If the first row is one of the log, write the names of the columns above it instead"


def _is_sentence(name: str) -> bool:
    return len(name.split()) >= _MIN_WORDS_OF_SENTENCE


def _shown(name: str) -> str:
    """Return a name for a message; personal data is replaced in one that may be a cell of a log without a header."""
    is_name = not _is_sentence(name) and "@" not in name and any(map(str.isalpha, name))
    return name if is_name else replace_personal(name)[0]
