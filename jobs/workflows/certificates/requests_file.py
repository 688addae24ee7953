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
from schemas.errors import QprError

COLUMNS: Final = (
    Column("question", pa.string()),
    Column("verdict", pa.string()),
    Column("asked_at", TIMESTAMP),
    Column("labeller", pa.string()),
    Column("probability", pa.float64(), required=False),
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
    requests = [_request(source.url, number, row, vary_by) for number, row in filled_rows(source, columns)]
    if not requests:
        raise QprError(f"{source.url}: has no request. Draw questions at random from the traffic and judge them")
    return requests


def filled_rows(source: Source, columns: Sequence[Column]) -> Iterator[tuple[int, dict[str, Any]]]:
    """Yield number and values of each row that has a value; otherwise like `numbered_rows`."""
    return (row for row in numbered_rows(source, columns) if any(value not in (None, "") for value in row[1].values()))


def _request(url: str, number: int, row: dict[str, Any], vary_by: Sequence[str]) -> Request:
    question, asked_at = row["question"] or "", row["asked_at"]
    if not question.strip():
        raise QprError(f"{url}: row {number:,} has no question. Complete it or leave it out")
    if not isinstance(asked_at, datetime.datetime):
        raise QprError(f"{url}: row {number:,}: asked_at is empty or no date, such as 2026-11-30. Correct the row")
    try:
        verdict = read_verdict(row["verdict"] or "")
    except ValueError as error:
        raise QprError(f"{url}: row {number:,}: {error}. Correct the row") from error
    texts = {name: (row[name] or "").strip() or None for name in ("labeller", "answer_id", "request_id")}
    filters = tuple((name, (row[name] or "").strip()) for name in vary_by)
    if missing := [name for name, value in filters if not value]:
        raise QprError(f"{url}: row {number:,} has no {missing[0]}, by which the index varies. Complete the row")
    return Request(number, question, asked_at, verdict, probability=row["probability"], filters=filters, **texts)
