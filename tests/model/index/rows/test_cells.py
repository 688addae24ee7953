import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from model.index.rows.cells import Records, reader, whole


@given(
    st.lists(st.none() | st.text(st.characters(exclude_categories=["Cs"])), min_size=1),
    st.lists(st.none() | st.integers(-(2**63), 2**63 - 1), min_size=1),
    st.integers(0, 9),
)
def test_a_reader_returns_the_values_of_a_column_or_of_its_slice(texts, numbers, start):
    for column in (pa.array(texts, pa.string()), pa.array(numbers, pa.int64()), pa.array([[1], None, []])):
        chunked = pa.chunked_array([column.slice(start)])
        assert [reader(chunked)(row) for row in range(len(chunked))] == chunked.to_pylist()


def test_a_column_of_several_parts_is_joined_and_one_of_one_part_is_not_copied():
    one = pa.array(np.arange(9))
    assert whole(pa.chunked_array([one])).buffers()[1].address == one.buffers()[1].address
    read = reader(pa.chunked_array([one, one]))
    assert [read(row) for row in (8, 9, 17)] == [8, 0, 8]


def test_a_row_that_is_not_there_is_no_value():
    with pytest.raises(IndexError):
        reader(pa.chunked_array([pa.array([1, 2])]))(2)


def test_records_are_the_rows_of_their_tables():
    tables = [
        pa.table({"text": ["a", "b"], "answer": pa.nulls(2, pa.string())}),
        pa.table({"text": ["c", None], "answer": ["x", None]}),
    ]
    records, rows = Records(tables, [0, 2]), [3, 0, 2]
    assert records.of(rows) == pa.concat_tables(tables).take(rows).to_pylist()
    assert records.column("answer", rows) == [None, None, "x"]
    assert records.of(rows)[0] is not records.of(rows)[0]
