"""The tables of a review database, and the check of their values, which SQLite leaves to the reader.

connection to a database of a colleague -> check_values -> every value is one that qpr writes
"""

from __future__ import annotations

import contextlib
import itertools
import sqlite3
from collections.abc import Iterator
from typing import Final

from jobs.review.queues.interface import VERDICTS
from schemas.errors import QprError
from schemas.quantities import counted

TABLES: Final = """
CREATE TABLE source (kind TEXT NOT NULL, digest TEXT NOT NULL, seed INTEGER NOT NULL, items INTEGER NOT NULL,
  questions INTEGER NOT NULL, largest INTEGER NOT NULL, created TEXT NOT NULL);
CREATE TABLE items (item TEXT PRIMARY KEY, place INTEGER NOT NULL, size INTEGER NOT NULL, strata TEXT NOT NULL);
CREATE TABLE verdicts (verdict_id TEXT PRIMARY KEY, item TEXT NOT NULL REFERENCES items, reviewer TEXT NOT NULL,
  verdict TEXT NOT NULL, strays TEXT NOT NULL, note TEXT NOT NULL, judged_at TEXT NOT NULL);
CREATE TABLE undone (verdict_id TEXT PRIMARY KEY, undone_at TEXT NOT NULL);
CREATE TABLE claims (session TEXT PRIMARY KEY, item TEXT NOT NULL, reviewer TEXT NOT NULL, at REAL NOT NULL);
"""

_TEXTS: Final = (
    "CASE WHEN json_valid({0}) THEN json_type({0}) = '{1}' AND NOT EXISTS"
    " (SELECT 1 FROM json_each({0}) WHERE type != 'text') END"
)
_OBJECT: Final = _TEXTS.format("strata", "object")
_ARRAY: Final = _TEXTS.format("strays", "array")
"""Conditions of columns whose texts are JSON objects and arrays of texts."""

_CONDITIONS: Final = {
    ("source", "kind"): f"kind IN ({', '.join(map(repr, VERDICTS))})",
    ("source", "items"): "items > 0",
    ("source", "questions"): "questions > 0",
    ("source", "largest"): "largest > 0",
    ("items", "place"): "place >= 0",
    ("items", "size"): "size > 0",
    ("items", "strata"): f"strata IN (SELECT * FROM (SELECT DISTINCT strata FROM items) WHERE {_OBJECT})",  # noqa: S608
    ("verdicts", "item"): "item IN (SELECT item FROM items)",
    ("verdicts", "strays"): f"(strays = '[]' OR {_ARRAY})",
}
"""Condition of the values of a column beyond their type. The JSON of strata, of which few differ, is read once each."""

_ADVICE: Final = "The file is damaged. Restore a copy, or merge an export into a new database"


def check_values(path: str, connection: sqlite3.Connection) -> None:
    """Refuse a database with a value that qpr never writes, which any program can store in any column.

    Args:
        path: of the database.
        connection: to it.

    Raises:
        QprError: a value has another type than its column, or there is not one row about the queue.
    """
    for table, group in itertools.groupby(_columns(), key=lambda field: field[0]):
        conditions = {
            column: f"typeof({column}) = '{kind}' AND {_CONDITIONS.get((table, column), 'TRUE')}"
            for _, column, kind in group
        }
        fits = ", ".join(f"({condition}) IS TRUE" for condition in conditions.values())
        wrong = f"({' AND '.join(conditions.values())}) IS NOT TRUE"  # all columns in one pass over the table
        query = f"SELECT rowid, {fits} FROM {table} WHERE {wrong} LIMIT 1"  # noqa: S608  # names of TABLES
        for row, *fitting in connection.execute(query).fetchall():
            column = [*conditions][fitting.index(0)]
            raise QprError(
                f"{path}: table {table}, row {row}: the value of {column} is none that qpr writes. {_ADVICE}"
            )
    [rows] = connection.execute("SELECT COUNT(*) FROM source").fetchone()
    if rows != 1:
        raise QprError(f"{path}: table source has {counted(rows, 'row')} in place of one. {_ADVICE}")


def _columns() -> Iterator[tuple[str, str, str]]:
    """Return table, column and type of each column of `TABLES`, which those of a file may differ from."""
    query = (
        "SELECT t.name, c.name, lower(c.type) FROM sqlite_master t, pragma_table_info(t.name) c WHERE t.type = 'table'"
    )
    with contextlib.closing(sqlite3.connect(":memory:")) as connection:
        connection.executescript(TABLES)
        yield from connection.execute(query)
