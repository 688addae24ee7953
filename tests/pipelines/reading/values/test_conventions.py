import json

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from pipelines.reading.headers.columns import TIMESTAMP, Column
from pipelines.reading.reader import divide, read
from pipelines.reading.sources import expand
from pipelines.reading.values.casting import choose_convention

COLUMNS = [
    Column("question", pa.string()),
    Column("timestamp", TIMESTAMP, False),
    Column("confidence", pa.float64(), False),
]


def write(folder, kind, dates, numbers):
    """Write columns of dates and numbers, of which the last one alone may show the convention, in several batches."""
    path = folder / f"x.{kind}"
    rows = [("why?", date, number) for date, number in zip(dates, numbers, strict=True)]
    names = ["question", "timestamp", "confidence"]
    if kind == "parquet":
        columns = dict(zip(names, zip(*rows, strict=True), strict=True))
        pq.write_table(pa.table(columns), path, row_group_size=2)
    elif kind == "csv":
        path.write_text("".join(";".join(row) + "\n" for row in [names, *rows]))
    else:
        path.write_text("".join(json.dumps(dict(zip(names, row, strict=True))) + "\n" for row in rows))
    return expand([str(path)])[0]


@pytest.fixture(params=["csv", "jsonl", "parquet"])
def read_parts(request, tmp_path, monkeypatch):
    """Return a function that reads a file of the given columns two rows at a time, in as many parts as it has."""
    for module in ("delimited", "jsonl", "parquet"):
        monkeypatch.setattr(f"pipelines.reading.{module}.BATCH_ROWS", 2)
    monkeypatch.setattr("pipelines.reading.parquet.PART_BYTES", 1)

    def run(dates, numbers):
        source = write(tmp_path, request.param, dates, numbers)
        parts = list(divide(source))
        assert len(parts) == (3 if request.param == "parquet" else 1)
        return [batch for part in parts for batch in read(part, COLUMNS)]

    return run


def days(batches):
    found = [t for batch in batches for t in batch.rows["timestamp"].to_pylist()]
    return [None if t is None else (t.month, t.day) for t in found]


def confidences(batches):
    return [number for batch in batches for number in batch.rows["confidence"].to_pylist()]


def test_the_last_row_of_a_file_decides_how_the_first_is_read(read_parts):
    dates = ["01/02/2025", "03/04/2025", "05/06/2025", "07/08/2025", "09/10/2025", "12/31/2025"]
    batches = read_parts(dates, ["1.234", "2", "1,234", "1", "1", "0,5"])
    assert days(batches) == [(1, 2), (3, 4), (5, 6), (7, 8), (9, 10), (12, 31)]
    assert confidences(batches) == [1234, 2, 1.234, 1, 1, 0.5]
    assert not any(batch.unreadable or batch.ambiguous for batch in batches)


def test_dates_that_nothing_decides_are_null_and_counted(read_parts):
    dates = ["01/02/2025", "05/05/2025", "?", "2025-01-02", "03/04/2025", ""]
    batches = read_parts(dates, ["1,234", "1.234", "2", "", "?", "3"])
    assert days(batches) == [None, (5, 5), None, (1, 2), None, None]
    assert confidences(batches) == [1234, 1.234, 2, None, None, 3]
    assert sum(batch.unreadable.get("timestamp", 0) for batch in batches) == 3
    assert sum(batch.ambiguous.get("timestamp", 0) for batch in batches) == 2
    assert sum(batch.unreadable.get("confidence", 0) for batch in batches) == 1


def test_the_parts_of_a_file_share_what_nothing_decides_until_the_file_changes(tmp_path, monkeypatch):
    monkeypatch.setattr("pipelines.reading.parquet.PART_BYTES", 1)
    chosen = []

    def choose(batches, kind):
        chosen.append(choose_convention(batches, kind))
        return chosen[-1]

    monkeypatch.setattr("pipelines.reading.values.conventions.choose_convention", choose)
    for last, convention in (("05/06/2025", None), ("05/16/2025", True)):
        source = write(tmp_path, "parquet", ["01/02/2025", "", "03/04/2025", "", "", last], ["1"] * 6)
        batches = [batch for part in divide(source) for batch in read(part, COLUMNS)]
        assert len(batches) == 3
        assert chosen.pop() is convention
        assert not chosen
        assert sum(batch.ambiguous.get("timestamp", 0) for batch in batches) == (0 if convention else 3)
