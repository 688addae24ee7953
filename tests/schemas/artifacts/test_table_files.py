import io

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
import pytest

from schemas.artifacts.table_files import arrow_bytes, is_arrow, mapped_rows, read_rows
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


def test_a_text_of_a_dictionary_column_is_in_memory_once():
    encoded = SCHEMA.set(1, pa.field("text", pa.dictionary(pa.int32(), pa.string())))
    rows = [{**ROWS[0], "id": n, "text": "x" * 10_000} for n in range(1_000)]
    [found] = read_rows(content(table(rows)), encoded, name="place/a.parquet", rows=1_000)
    assert found.to_pylist() == rows
    assert found.schema.equals(encoded.remove_metadata())
    assert found.nbytes < 200_000


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
        (content(table(ROWS[1:])), "holds 4 rows, the manifest lists 5"),
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


FLAT = pa.schema(
    [
        pa.field("id", pa.int64(), nullable=False),
        pa.field("text", pa.string(), nullable=False),
        pa.field("answer", pa.string()),
        pa.field("events", pa.int64()),
    ]
)
FLAT_ROWS = [
    {"id": n, "text": f"t{n}", "answer": f"é{n}" if n % 3 else None, "events": n if n % 2 else None} for n in range(20)
]


def flat(rows=FLAT_ROWS, schema=FLAT):
    return pa.Table.from_pylist(rows, schema=schema)


def mapped(data, **options):
    return mapped_rows(data, FLAT, name="place/a.arrow", **{"rows": 20, **options})


def test_an_arrow_file_holds_the_rows_and_its_columns_are_views():
    data = arrow_bytes(flat())
    assert is_arrow(data)
    assert not is_arrow(content(flat()))
    found = mapped(data)
    assert found.to_pylist() == FLAT_ROWS
    assert found.schema.equals(FLAT)
    assert np.shares_memory(found["id"].chunk(0).to_numpy(), np.frombuffer(data, np.uint8))
    assert mapped(arrow_bytes(flat().drop_columns("events")), absent={"events"})["events"].null_count == 20
    assert len(mapped(arrow_bytes(flat([])), rows=0)) == 0


def test_equal_tables_give_equal_bytes_whatever_is_below_their_nulls():
    odd = pc.if_else(pa.array([n % 2 == 1 for n in range(20)]), pa.array(range(20)), pa.scalar(None, pa.int64()))
    masked = pa.array(np.full(20, 77), mask=np.arange(20) % 2 == 0)
    masked = pc.if_else(masked.is_valid(), pa.array(range(20)), masked)
    below = pa.array(np.arange(20), mask=np.arange(20) % 2 == 0)
    texts = pa.chunked_array([flat()["answer"].chunk(0)[:7], flat()["answer"].chunk(0)[7:]])
    expected = arrow_bytes(flat())
    for events in (odd, masked, below):
        changed = flat().set_column(3, FLAT.field(3), events).set_column(2, FLAT.field(2), texts)
        assert arrow_bytes(changed) == expected
    assert arrow_bytes(pa.concat_tables([flat(), flat()]).slice(20, 20)) == expected


def test_a_damaged_arrow_file_is_one_clear_error():
    data = arrow_bytes(flat())
    for damaged in (b"", data[:50], data[: len(data) // 2], b"ARROW1" + b"\0" * 90, content(flat())):
        with pytest.raises(QprError, match=r"a\.arrow: cannot be read as Arrow: "):
            mapped(damaged)
    with pytest.raises(QprError, match=r"a\.arrow: holds 20 rows, the manifest lists 21"):
        mapped(data, rows=21)
    with pytest.raises(QprError, match="holds no column events"):
        mapped(arrow_bytes(flat().drop_columns("events")))
    nullable = pa.schema([field.with_nullable(True) for field in FLAT])
    with pytest.raises(QprError, match="column id holds 1 null where"):
        mapped(arrow_bytes(flat([{"id": None}, *FLAT_ROWS[1:]], nullable).set_column(1, FLAT.field(1), flat()["text"])))
    broken = pa.array([b"\xff", *[b"x"] * 19]).view(pa.string())
    with pytest.raises(QprError, match="UTF8"):
        mapped(arrow_bytes(flat().set_column(1, FLAT.field(1), broken)))


def test_no_changed_byte_of_an_arrow_file_crashes():
    data = arrow_bytes(flat())
    for place in range(0, len(data), 3):
        changed = bytearray(data)
        changed[place] ^= 0xFF
        try:
            found = mapped(bytes(changed))
        except QprError as error:
            assert "place/a.arrow" in str(error)  # noqa: PT017
        else:
            assert len(found.to_pylist()) == 20
