import io

import apache_beam as beam
import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pipelines.engine import shuffle
from pipelines.engine.runner import parse_options, run
from pipelines.intermediate import REJECTS
from pipelines.writing import rejected_table
from pipelines.writing.parquet import WriteTable, to_parquet
from pipelines.writing.rejected_table import WriteRejects, count_equal
from pipelines.writing.rejects import reject
from schemas.artifacts import storage
from schemas.tables import REJECTED, conform

SCORED_PAYLOADS = st.tuples(st.sampled_from("ab"), st.sampled_from((None, 1.0, 2.0)))


def rejects(payloads, scores=None):
    of_rows = pa.array(scores or [None] * len(payloads), pa.float64())
    return reject(pa.array(payloads, pa.string()), stage="validate", reasons="no_word", scores=of_rows)


def written(url, table, shards=1):
    return WriteRejects(url, shards)._write(count_equal(table))


@given(st.lists(SCORED_PAYLOADS, min_size=1, max_size=30), st.randoms())
def test_counted_rows_give_the_file_of_the_rows_themselves(memory, rows, random):
    table = rejects(*zip(*rows, strict=True))
    plain = WriteTable(run_url=memory, table="rejected", key="shard_key", shards=1)._write(table)
    assert written(memory, rejects(*zip(*random.sample(rows, len(rows)), strict=True))) == plain


@pytest.mark.parametrize("first", [1, 1_000, 8_191, 8_192, 100_000, 2**20 - 1, 2**20 + 70_000])
def test_pieces_and_row_groups_change_no_byte(first):
    rows = pa.table({"stage": ["read"] * 5, "reason": ["ragged_row"] * 5, "score": pa.nulls(5, pa.float64())})
    rows = conform(rows.append_column("payload", pa.array([c * 90 for c in "abcde"])), REJECTED)
    numbers = np.array([first, 3, 20_000, 1, 70_000])
    plain = rows.take(pa.array(np.repeat(np.arange(5), numbers)))
    assert rejected_table._to_parquet(rows, numbers) == to_parquet(plain, "rejected")


@pytest.mark.parametrize(("numbers", "most"), [([1], 1), ([10**6], 2**10), ([1, 1], 2)])
def test_a_long_row_is_in_memory_as_often_as_a_piece_needs_it(numbers, most):
    rows = conform(rejects(["x" * 10_000] * len(numbers)), REJECTED)
    ends = np.cumsum(numbers)
    pieces = list(rejected_table._repeated(rows, ends, 0, int(ends[-1])))
    assert sum(map(len, pieces)) == ends[-1]
    assert max(piece.get_total_buffer_size() for piece in pieces) < 11_000 * most


def test_different_rows_change_no_byte():
    payloads = pa.array([f'{{"question": "{n:07d}{n % 11 * "x"}"}}' for n in range(150_000)])
    table = reject(payloads, stage="read", reasons="ragged_row").select(REJECTED.names)
    rows = conform(table, REJECTED)
    assert rejected_table._to_parquet(rows, np.ones(len(rows), np.int64)) == to_parquet(rows, "rejected")


def test_equal_rows_are_one_row_before_the_shuffle_and_all_of_them_in_the_file(memory, monkeypatch):
    shuffled = []
    split = shuffle.split_by_shard
    monkeypatch.setattr(shuffle, "split_by_shard", lambda table, *_: shuffled.append(len(table)) or split(table, *_))
    table = rejects(["{}"] * 100_000 + ["a", "b"])

    def build(pipeline):
        tables = (pipeline | f"Table{n}" >> beam.Create([table]) for n in range(2))
        _ = tuple(tables) | WriteRejects(memory, 4)

    run(build, parse_options([]))
    assert sum(shuffled) == 6
    names = storage.children(f"{memory}/rejected")
    files = [pq.read_table(io.BytesIO(storage.read_bytes(f"{memory}/rejected/{name}"))) for name in names]
    assert sum(map(len, files)) == 200_004


def test_counts_are_those_of_all_rows(memory):
    table = rejects(["{}"] * 5 + ["a"])
    result = written(memory, table)
    assert result.file.rows == 6
    assert result.counts == {"rows_rejected": 6, "members_rejected": 0, "rejected_validate_no_word": 6}


def test_rows_with_one_hash_that_differ_stay_apart():
    table = rejects(["a", "b", "a"], [1.0, 1.0, 2.0])
    keys = pa.array([7, 7, 7], pa.int64())
    counted = count_equal(table.set_column(0, REJECTS.field("shard_key"), keys))
    assert sorted(zip(counted["payload"].to_pylist(), counted["rows"].to_pylist(), strict=True)) == [
        ("a", 1),
        ("a", 1),
        ("b", 1),
    ]


def test_rows_that_were_counted_before_are_added_up():
    counted = count_equal(count_equal(rejects(["a", "b", "a"])))
    assert dict(zip(counted["payload"].to_pylist(), counted["rows"].to_pylist(), strict=True)) == {"a": 2, "b": 1}
    twice = count_equal(pa.concat_tables([counted, counted]))
    assert dict(zip(twice["payload"].to_pylist(), twice["rows"].to_pylist(), strict=True)) == {"a": 4, "b": 2}
