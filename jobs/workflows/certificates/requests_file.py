"""Files of judged requests.

requests file -> read_requests -> Requests
"""

from __future__ import annotations

import datetime
from collections.abc import Iterator, Sequence
from typing import Any, Final

import pyarrow as pa

from model.certificates.requests import Request, read_verdict
from pipelines.reading.headers.columns import TIMESTAMP, Column
from pipelines.reading.reader import numbered_rows
from pipelines.reading.sources import Source
from pipelines.reading.values.casting import cast_values, choose_convention
from schemas.errors import QprError

COLUMNS: Final = (
    Column("question", pa.string()),
    Column("verdict", pa.string()),
    Column("asked_at", TIMESTAMP),
    Column("labeller", pa.string()),
    Column("probability", pa.string(), required=False),  # read below, since an unreadable number would be empty
    Column("answer_id", pa.string(), required=False),
    Column("request_id", pa.string(), required=False),
)
"""Columns of a requests file, besides those that the index varies by; others are not read."""


def read_requests(source: Source, vary_by: Sequence[str] = ()) -> list[Request]:
    """Return the requests of a file, whose rows are numbered from 1; rows without any value are skipped.

    Args:
        source: CSV, TSV, JSON Lines or Parquet.
        vary_by: columns of the index whose values each request has to name too.

    Raises:
        QprError: the file cannot be read, lacks a column or has a row that is no request.
    """
    if taken := sorted({column.name for column in COLUMNS}.intersection(vary_by)):
        raise QprError(
            f"{source.url}: {taken[0]}, by which the index varies, has another meaning here. Rename it there"
        )
    columns = (*COLUMNS, *(Column(name, pa.string()) for name in vary_by))
    rows = [*filled_rows(source, columns)]
    probabilities = _probabilities(source.url, rows)
    requests = [
        _request(source.url, number, row | {"probability": probability}, vary_by)
        for (number, row), probability in zip(rows, probabilities, strict=True)
    ]
    if not requests:
        raise QprError(f"{source.url}: has no request. Draw questions at random from the traffic and judge them")
    return requests


def filled_rows(source: Source, columns: Sequence[Column]) -> Iterator[tuple[int, dict[str, Any]]]:
    """Yield number and values of each row that has a value; otherwise like `numbered_rows`."""
    return (row for row in numbered_rows(source, columns) if any(value not in (None, "") for value in row[1].values()))


def _probabilities(url: str, rows: Sequence[tuple[int, dict[str, Any]]]) -> list[float | None]:
    """Return the probability of each row, None for an empty cell.

    Raises:
        QprError: a cell is no number from 0 to 1; as an empty one it would end the check of its row's version.
    """
    texts = pa.array([(row["probability"] or "").strip() or None for _, row in rows], pa.string())
    numbers: list[float | None] = cast_values(
        texts, pa.float64(), lambda: choose_convention([texts], pa.float64())
    ).to_pylist()
    for (number, row), text, value in zip(rows, texts.to_pylist(), numbers, strict=True):
        if text is not None and (value is None or not 0 <= value <= 1):
            cell = f"{row['probability'][:40]!a}"
            raise QprError(f"{url}: row {number}: probability {cell} is no number from 0 to 1. Correct the row")
    return numbers


def _request(url: str, number: int, row: dict[str, Any], vary_by: Sequence[str]) -> Request:
    question, asked_at = row["question"] or "", row["asked_at"]
    if not question.strip():
        raise QprError(f"{url}: row {number} has no question. Complete it or leave it out")
    if not isinstance(asked_at, datetime.datetime):
        raise QprError(f"{url}: row {number}: asked_at is empty or no date, such as 2026-11-30. Correct the row")
    try:
        verdict = read_verdict(row["verdict"] or "")
    except ValueError as error:
        raise QprError(f"{url}: row {number}: {error}. Correct the row") from error
    texts = {name: (row[name] or "").strip() or None for name in ("labeller", "answer_id", "request_id")}
    filters = tuple((name, (row[name] or "").strip()) for name in vary_by)
    if missing := [name for name, value in filters if not value]:
        raise QprError(f"{url}: row {number} has no {missing[0]}, by which the index varies. Complete the row")
    return Request(number, question, asked_at, verdict, probability=row["probability"], filters=filters, **texts)
