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

from pipelines.reading import Column, check_header, expand, read
from schemas.tables import REJECTED

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
    assert batch.rejected.schema.equals(REJECTED)
    assert batch.rejected.num_rows == 0


@given(
    st.lists(st.sampled_from([b'{"question": "a"}', b"{", b"[]", b'{"question": "\xff"}', b'{"question": []}', b" "]))
)
def test_rows_and_rejects_together_are_the_lines_that_are_not_blank(lines):
    source = placed("y.jsonl", b"\n".join(lines) + b"\n")
    batches = list(read(source, COLUMNS))
    rows = sum(batch.rows.num_rows for batch in batches)
    rejected = [reason for batch in batches for reason in batch.rejected["reason"].to_pylist()]
    assert rows == lines.count(b'{"question": "a"}')
    assert rows + len(rejected) == len([line for line in lines if line != b" "])
    assert {stage for batch in batches for stage in batch.rejected["stage"].to_pylist()} <= {"read"}


def test_reading_needs_no_beam():
    code = "import sys, pipelines.reading; sys.exit('apache_beam' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
