import re
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pipelines.decontamination.near_duplicates import REASONS
from pipelines.summary.faults import ASKED_FOR
from schemas import tables
from schemas.tables import PAIRS, QA_LOG, QUESTIONS, SCHEMA_VERSION, TABLES, conform, take_rows


@pytest.mark.parametrize("schema", [QA_LOG, *TABLES.values()])
def test_every_field_is_documented_and_every_schema_has_its_version(schema):
    assert all(field.metadata and field.metadata[b"doc"] for field in schema)
    assert schema.metadata[b"qpr.schema_version"] == str(SCHEMA_VERSION).encode()


def test_the_document_of_the_tables_names_every_column_and_reason():
    document = Path(__file__).parents[2] / "docs" / "clustering.md"
    section = document.read_text().split("## Tables of a dataset\n")[1].split("\n## ")[0]
    named = set(re.findall(r"`(\w+)`", section))
    assert {name for schema in TABLES.values() for name in schema.names} - named == set()
    of_leakage = {reason.replace("_in_test", "_in_train").replace("in_test", "in_train") for reason in REASONS}
    of_rows = {name.partition("_")[2] for name in ASKED_FOR}
    assert (of_leakage | of_rows) - named == set()


def test_only_what_can_be_absent_is_nullable():
    nullable = ["first_seen", "last_seen", "answer", "answer_id", "cluster_id", "split"]
    assert [f.name for f in QUESTIONS if f.nullable] == nullable
    assert not any(field.nullable for field in PAIRS)


def pairs(**changed):
    columns = {"cluster_id": [1], "question_id_1": [2], "text_1": ["a"], "question_id_2": [3], "text_2": ["b"]}
    return pa.table({**columns, **changed})


def test_conforming_orders_columns_casts_types_and_drops_the_rest():
    table = conform(pairs(question_id_1=pa.array([2], pa.int32()), more=[0]), PAIRS)
    assert table.schema.equals(PAIRS, check_metadata=True)
    assert table.to_pylist() == [
        {"question_id_1": 2, "text_1": "a", "question_id_2": 3, "text_2": "b", "cluster_id": 1}
    ]


def test_a_missing_column_is_named():
    with pytest.raises(ValueError, match=r"missing column text_1, text_2; there are cluster_id, question_id_1"):
        conform(pairs().drop(["text_1", "text_2"]), PAIRS)


def test_a_null_where_there_may_be_none_is_named():
    with pytest.raises(ValueError, match="text_2"):
        conform(pairs(text_2=pa.array([None], pa.string())), PAIRS)


@given(
    st.lists(st.none() | st.sampled_from(["", "a", "bcd", "é" * 5]), min_size=1, max_size=8),
    st.lists(st.integers(0, 7), max_size=20),
    st.integers(0, 3),
    st.sampled_from([1, 5, 2**30]),
)
def test_rows_are_taken_in_any_order_and_repeated_with_few_bytes_of_text_at_a_time(texts, places, cut, limit):
    rows = np.array([place % len(texts) for place in places], np.int64)
    numbers = pa.chunked_array([pa.array(range(len(texts)), pa.int64())])
    halves = pa.chunked_array([pa.array(texts[:cut], pa.string()), pa.array(texts[cut:], pa.string())])
    whole = pa.array(["skipped", *texts], pa.string())[1:]
    table = pa.table({"n": numbers, "whole": whole, "halves": halves})
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(tables, "TAKEN_BYTES", limit)
        taken = take_rows(table, rows)
    assert taken.to_pylist() == [table.to_pylist()[row] for row in rows]
    assert taken.schema == table.schema
    taken.validate(full=True)
    for chunk in taken["whole"].chunks:
        assert len(chunk) < 2 or sum(len((text or "").encode()) for text in chunk[1:].to_pylist()) <= limit
