import io

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from schemas.artifacts.table_files import read_rows
from schemas.errors import QprError

SCHEMA = pa.schema(
    [
        pa.field("id", pa.int64(), nullable=False, metadata={"doc": "a number"}),
        pa.field("text", pa.string()),
        pa.field("score", pa.float64()),
        pa.field("members", pa.list_(pa.field("element", pa.int64(), nullable=False))),
    ]
)
ROWS = [{"id": n, "text": f"t{n}", "score": n / 2, "members": [n]} for n in range(5)]


def content(table):
    sink = io.BytesIO()
    pq.write_table(table, sink)
    return sink.getvalue()


def table(rows=ROWS, schema=SCHEMA):
    return pa.Table.from_pylist(rows, schema=schema)


def read(data, **options):
    return list(read_rows(data, SCHEMA, name="place/a.parquet", **{"rows": 5, **options}))


def test_rows_come_with_the_columns_and_types_of_the_schema_together_or_in_parts():
    extra = table().append_column("more", pa.array(range(5)))
    [whole] = read(content(extra))
    assert whole.to_pylist() == ROWS
    assert whole.schema.equals(SCHEMA.remove_metadata())
    assert [len(part) for part in read(content(extra), batch=2)] == [2, 2, 1]
    assert read(content(extra), columns=["text"])[0].column_names == ["text"]
    [nothing] = read(content(table([])), rows=0)
    assert len(nothing) == 0


def test_nulls_are_read_where_there_may_be_some():
    rows = [{"id": 1, "text": None, "score": None, "members": None}, {"id": 2, "text": "", "score": 0.0, "members": []}]
    assert read(content(table(rows)), rows=2)[0].to_pylist() == rows


def test_a_list_may_call_its_elements_otherwise():
    changed = SCHEMA.set(3, pa.field("members", pa.list_(pa.field("item", pa.int64()))))
    assert read(content(table(schema=changed)))[0].to_pylist() == ROWS


def other(name, column):
    made = table()
    return content(made.set_column(made.column_names.index(name), name, column))


@pytest.mark.parametrize(
    ("data", "fault"),
    [
        (b"", "cannot be read as Parquet"),
        (b"PAR1" * 10, "cannot be read as Parquet"),
        (content(table(ROWS[1:])), "holds 4 rows, the manifest says 5"),
        (content(table().drop_columns("text")), "holds no column text, or several; there are id, score, members"),
        (other("id", pa.array(["1"] * 5)), "column id holds string, not int64"),
        (other("id", pa.array([1, 2, None, 4, 5])), "column id holds 1 null "),
        (other("score", pa.array([0.0, 1, float("nan"), None, 2])), "column score holds numbers that are infinite"),
        (other("text", pa.array([b"\xff"] * 5).view(pa.string())), "cannot be read as Parquet: .*UTF8"),
        (other("members", pa.array([[1], [None], [], [2], [3]], pa.list_(pa.int64()))), "column members holds 1 null "),
    ],
)
def test_what_no_run_writes_is_refused_by_file_and_column(data, fault):
    with pytest.raises(QprError, match=rf"^place/a\.parquet: {fault}.*\. Make it again$"):
        read(data)


def test_only_the_columns_that_are_read_are_checked():
    assert read(other("score", pa.array(["x"] * 5)), columns=["id"])[0].num_rows == 5
