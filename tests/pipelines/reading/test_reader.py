import csv
import io
import json
import subprocess
import sys

import fsspec
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pipelines.intermediate import REJECTS
from pipelines.reading.headers.columns import TIMESTAMP, Column
from pipelines.reading.reader import check_header, divide, read
from pipelines.reading.sources import expand

COLUMNS = [Column("question", pa.string()), Column("answer", pa.string(), required=False)]
TEXTS = st.text(st.characters(codec="utf-8", exclude_characters="\0"), max_size=8)
ROWS = st.lists(st.tuples(TEXTS, TEXTS), min_size=1, max_size=20)


def as_jsonl(rows):
    return "".join(json.dumps({"answer": a, "question": q}) + "\n" for q, a in rows).encode()


def as_delimited(rows, delimiter=","):
    text = io.StringIO(newline="")
    csv.writer(text, delimiter=delimiter, quoting=csv.QUOTE_ALL).writerows([("question", "answer"), *rows])
    return text.getvalue().encode()


def as_parquet(rows):
    sink = pa.BufferOutputStream()
    pq.write_table(pa.table({"answer": [a for _, a in rows], "question": [q for q, _ in rows]}), sink)
    return sink.getvalue().to_pybytes()


WRITERS = {"jsonl": as_jsonl, "csv": as_delimited, "tsv": lambda rows: as_delimited(rows, "\t"), "parquet": as_parquet}


def placed(name, content):
    fsspec.filesystem("memory").pipe_file(f"/reader/{name}", content)
    return expand([f"memory://reader/{name}"])[0]


@pytest.mark.parametrize("ending", WRITERS)
@given(rows=ROWS)
def test_every_format_gives_the_rows_that_were_written(ending, rows):
    source = placed(f"x.{ending}", WRITERS[ending](rows))
    check_header(source, COLUMNS)
    (batch,) = read(source, COLUMNS)
    assert batch.rows.schema == pa.schema([("question", pa.string()), ("answer", pa.string())])
    assert [tuple(row.values()) for row in batch.rows.to_pylist()] == [(q, a or None) for q, a in rows]
    assert batch.rejects.schema.equals(REJECTS)
    assert batch.rejects.num_rows == 0


@pytest.mark.parametrize("ending", WRITERS)
def test_a_file_is_divided_into_parts_that_are_the_file(ending):
    source = placed(f"y.{ending}", WRITERS[ending]([("a", "b"), ("c", "d")]))
    rows = [row for part in divide(source) for batch in read(part, COLUMNS) for row in batch.rows.to_pylist()]
    assert rows == [{"question": "a", "answer": "b"}, {"question": "c", "answer": "d"}]


@given(
    st.lists(st.sampled_from([b'{"question": "a"}', b"{", b"[]", b'{"question": "\xff"}', b'{"question": []}', b" "]))
)
def test_rows_and_rejects_together_are_the_lines_that_are_not_blank(lines):
    source = placed("y.jsonl", b"\n".join(lines) + b"\n")
    batches = list(read(source, COLUMNS))
    rows = sum(batch.rows.num_rows for batch in batches)
    rejected = [reason for batch in batches for reason in batch.rejects["reason"].to_pylist()]
    assert rows == lines.count(b'{"question": "a"}')
    assert rows + len(rejected) == len([line for line in lines if line != b" "])
    assert {stage for batch in batches for stage in batch.rejects["stage"].to_pylist()} <= {"read"}


def test_reading_needs_no_beam():
    code = "import sys, pipelines.reading; sys.exit('apache_beam' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


LOOSE = [
    Column("question", pa.string()),
    Column("timestamp", TIMESTAMP, False),
    Column("confidence", pa.float64(), False),
]
VALUES = [("a", "2024-01-01", 0.5), ("b", "yesterday", "high"), ("c", "", None), ("d", "32/12/2024", " "), ("", "x", 1)]


@pytest.mark.parametrize("kind", ["jsonl", "csv", "parquet"])
def test_values_that_write_no_number_or_time_are_counted_and_blank_ones_are_not(tmp_path, kind):
    names = ["question", "timestamp", "confidence"]
    texts = [(q, t, None if c is None else str(c)) for q, t, c in VALUES]
    if kind == "jsonl":
        content = "".join(json.dumps(dict(zip(names, row, strict=True))) + "\n" for row in VALUES).encode()
    elif kind == "csv":
        sink = io.StringIO(newline="")
        csv.writer(sink).writerows([names, *texts])
        content = sink.getvalue().encode()
    else:
        columns = dict(zip(names, zip(*texts, strict=True), strict=True))
        columns["timestamp"] = pa.array(columns["timestamp"]).dictionary_encode()
        packed = io.BytesIO()
        pq.write_table(pa.table(columns), packed)
        content = packed.getvalue()
    (tmp_path / f"x.{kind}").write_bytes(content)
    [batch] = read(expand([str(tmp_path / f"x.{kind}")])[0], LOOSE)
    assert batch.unreadable == {"timestamp": 3, "confidence": 1}  # yesterday, 32/12/2024 and x; high
    assert [t is None for t in batch.rows["timestamp"].to_pylist()] == [False, True, True, True, True]


def test_values_of_rejected_rows_are_not_counted_as_unreadable(tmp_path):
    (tmp_path / "x.csv").write_bytes(b"question,timestamp\n\xff,yesterday\na \0 b,yesterday\nfine,yesterday\n")
    [batch] = read(expand([str(tmp_path / "x.csv")])[0], LOOSE)
    assert (len(batch.rows), len(batch.rejects), batch.unreadable) == (1, 2, {"timestamp": 1})


def test_a_file_of_readable_values_has_none_unreadable(tmp_path):
    (tmp_path / "x.csv").write_bytes(b"question,timestamp\na,2024-01-01\nb,\n")
    [batch] = read(expand([str(tmp_path / "x.csv")])[0], LOOSE)
    assert batch.unreadable == {}
