import apache_beam as beam
import numpy as np
import pyarrow as pa
import pytest
from apache_beam.options.pipeline_options import PipelineOptions
from apache_beam.testing.test_pipeline import TestPipeline as PipelineUnderTest
from apache_beam.testing.util import assert_that, equal_to
from apache_beam.transforms import window
from hypothesis import given
from hypothesis import strategies as st

from pipelines.engine import shuffle
from pipelines.engine.runner import new_pipeline
from pipelines.engine.shuffle import (
    GroupByShard,
    JoinByShard,
    SplitByShard,
    concatenate,
    shard_of,
    split_by_shard,
    tables_of,
    to_ipc,
)

SCHEMA = pa.schema([("k", pa.int64()), ("v", pa.string())])
int64 = st.integers(-(2**63), 2**63 - 1)
row_lists = st.lists(st.tuples(int64 | st.integers(-3, 3), st.text(max_size=3) | st.none()), max_size=30)


def table(rows):
    return pa.table({"k": [k for k, _ in rows], "v": [v for _, v in rows]}, schema=SCHEMA)


def rows_of(one):
    return list(zip(one["k"].to_pylist(), one["v"].to_pylist(), strict=True))


def in_order(rows):
    return sorted(rows, key=repr)


@given(st.lists(row_lists, max_size=4), st.integers(1, 7))
def test_parts_of_a_shard_hold_all_rows_of_its_keys_and_no_row_is_lost_or_doubled(batches, shards):
    by_shard = {}
    for batch in batches:
        for shard, part in split_by_shard(table(batch), "k", shards):
            by_shard.setdefault(shard, []).append(part)
    met = {shard: rows_of(concatenate(parts)) for shard, parts in by_shard.items()}
    assert in_order(r for rows in met.values() for r in rows) == in_order(r for rows in batches for r in rows)
    for shard, rows in met.items():
        assert rows
        assert {k % shards for k, _ in rows} == {shard}  # Python's remainder: never negative


@given(row_lists, st.integers(1, 4), st.sampled_from([("MAX_PART_BYTES", 40), ("ROWS_AT_A_TIME", 3)]))
def test_a_big_table_is_shipped_in_several_parts(rows, shards, limit):
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(shuffle, *limit)
        parts = list(split_by_shard(table(rows), "k", shards))
    tables = [(shard, rows_of(concatenate([part]))) for shard, part in parts]
    assert in_order(r for _, part in tables for r in part) == in_order(rows)
    # a row takes at least 8 bytes of key and 4 of offset, so 40 bytes are at most 3 rows
    assert all(0 < len(part) <= 3 and {k % shards for k, _ in part} == {shard} for shard, part in tables)


def test_a_part_of_rows_far_larger_than_the_mean_one_is_no_larger_than_the_maximum(monkeypatch):
    monkeypatch.setattr(shuffle, "MAX_PART_BYTES", 4_000)
    rows = [(0, "x" * 999)] * 40 + [(0, "y" * 9_999)] + [(i, "") for i in range(1, 7)] * 1_000
    parts = [(shard, concatenate([part])) for shard, part in split_by_shard(table(rows), "k", 7)]
    assert all(part.nbytes <= 4_000 for _, part in parts if "y" * 9_999 not in part["v"].to_pylist())
    assert [len(part) for _, part in parts if part.nbytes > 4_000] == [1]
    assert in_order(r for _, part in parts for r in rows_of(part)) == in_order(rows)
    assert len(parts) < 100


def test_a_table_that_is_a_slice_ships_only_its_rows():
    whole = table([(i, "x" * 100) for i in range(1_000)])
    [(_, part)] = split_by_shard(whole.slice(10, 2), "k", 1)
    assert rows_of(concatenate([part])) == [(10, "x" * 100), (11, "x" * 100)]
    assert len(part) < 2_000


def encoded(rows):
    values = pa.array([v for _, v in rows], pa.string())
    return pa.table({"k": pa.array([k for k, _ in rows], pa.int64()), "v": values.dictionary_encode()})


@given(st.lists(row_lists, max_size=4), st.integers(1, 7), st.sampled_from([40, 1_000]))
def test_an_encoded_column_is_shipped_as_its_texts_are(batches, shards, limit):
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(shuffle, "MAX_PART_BYTES", limit)
        split = [(s, part) for batch in batches for s, part in split_by_shard(encoded(batch), "k", shards)]
    for shard in {shard for shard, _ in split}:
        whole = concatenate([part for of, part in split if of == shard])
        assert in_order(rows_of(whole)) == in_order(r for rows in batches for r in rows if r[0] % shards == shard)
        texts = whole["v"].chunk(0).dictionary.to_pylist()
        assert sorted(texts) == sorted({v for _, v in rows_of(whole)} - {None})  # none twice, none of another shard


def test_a_text_that_many_rows_share_is_shipped_and_held_once_a_part():
    text = "".join(map(str, range(20_000)))
    parts = [part for _, part in split_by_shard(encoded([(k, text) for k in range(5_000)]), "k", 3)]
    assert len(parts) == 3
    assert sum(map(len, parts)) < 4 * len(text)
    assert concatenate(parts).nbytes < 2 * len(text)


def split_bundle(tables, shards):
    step = SplitByShard("k", shards)
    step.start_bundle()
    parts = [part for one in tables for part in step.process(one)]
    return parts + [windowed.value for windowed in step.finish_bundle()]


@given(st.lists(row_lists, max_size=6), st.integers(1, 7), st.sampled_from([1, 20, 200, 10_000]))
def test_a_bundle_ships_each_row_once_however_many_tables_are_gathered(batches, shards, limit):
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(shuffle, "GATHERED_BYTES", limit)
        parts = [(shard, rows_of(concatenate([part]))) for shard, part in split_bundle(map(table, batches), shards)]
    assert in_order(row for _, rows in parts for row in rows) == in_order(row for rows in batches for row in rows)
    assert all(rows and {k % shards for k, _ in rows} == {shard} for shard, rows in parts)


def test_small_tables_of_a_bundle_are_gathered_before_they_are_split():
    small = [table([(number * 100 + k, "x" * 50) for k in range(100)]) for number in range(40)]
    parts = split_bundle(small, 100)
    assert len(parts) == 100  # of 4,000 tables of one row
    assert {len(concatenate([part])) for _, part in parts} == {40}


def test_a_worker_gathers_no_more_than_the_limit_and_splits_a_large_table_at_once(monkeypatch):
    monkeypatch.setattr(shuffle, "GATHERED_BYTES", 1_000)
    step, held = SplitByShard("k", 4), []
    step.start_bundle()
    small, large = table([(k, "x" * 50) for k in range(5)]), table([(k, "x" * 50) for k in range(90)])
    for one in [small] * 9 + [large] + [small] * 9 + [large.slice(0, 2)]:
        shipped = sum(len(concatenate([part])) for _, part in step.process(one))
        held.append(sum(part.nbytes for part in step._tables))
        if one is large:
            assert shipped == 90
    assert max(held) < 4_000
    assert held[8] == held[9] > 0  # what was gathered waits while a large table passes
    assert held[-1] == held[-2]  # of a slice the whole table stays in memory, so it is not gathered


def test_tables_of_a_bundle_that_failed_are_forgotten():
    step = SplitByShard("k", 2)
    for rows in ([(1, "failed")], [(1, "again")]):
        step.start_bundle()
        assert list(step.process(table(rows))) == []
    [windowed] = step.finish_bundle()
    assert windowed.windows == (window.GlobalWindow(),)
    assert rows_of(concatenate([windowed.value[1]])) == [(1, "again")]
    assert list(step.finish_bundle()) == []


@pytest.mark.parametrize("transform", [GroupByShard("k", 2), JoinByShard("k", 2)])
def test_tables_in_other_windows_are_refused(transform):
    pipeline = new_pipeline(PipelineOptions(["--runner=FnApiRunner"]))
    windowed = pipeline | beam.Create([table([(1, "a")])]) | beam.WindowInto(window.FixedWindows(9))
    with pytest.raises(ValueError, match="global window"):
        _ = (windowed,) | transform


def test_a_part_of_a_few_rows_is_smaller_than_its_columns():
    few = table([(1_000_003 * number, f"how many people live in town {number}") for number in range(32)])
    assert len(to_ipc(few)) < few.nbytes


def test_an_empty_table_ships_nothing():
    assert list(split_by_shard(SCHEMA.empty_table(), "k", 3)) == []


def test_serialised_tables_come_back_with_their_schema():
    assert concatenate([to_ipc(table([(1, "a"), (2, None)]))]).equals(table([(1, "a"), (2, None)]))
    assert concatenate([to_ipc(SCHEMA.empty_table())]).schema == SCHEMA


def test_shards_are_even_and_the_same_in_every_run():
    keys = pa.array(np.random.default_rng(0).integers(-(2**63), 2**63 - 1, 10_000))
    counts = np.bincount(shard_of(keys, 8), minlength=8)
    assert counts.min() > 1_100  # 1,250 expected, standard deviation 33
    assert shard_of(pa.array([-1, 0, 9]), 4).tolist() == [3, 0, 1]


@pytest.mark.parametrize("shards", [1, 2, 100])
def test_rows_of_a_key_are_grouped_in_one_table_on_the_engine(shards):
    batches = [[(1, "a"), (2, "b"), (1, "c")], [], [(2, "d"), (-3, None)], [(1, "a")]]
    with PipelineUnderTest(runner="FnApiRunner") as pipeline:
        met = (
            pipeline
            | beam.Create([table(b) for b in batches], reshuffle=False)
            | GroupByShard(key="k", shards=shards)
            | beam.FlatMap(
                lambda one: [(k, sorted(v or "" for j, v in rows_of(one) if j == k)) for k in set(one["k"].to_pylist())]
            )
        )
        assert_that(met, equal_to([(1, ["a", "a", "c"]), (2, ["b", "d"]), (-3, [""])]))


@pytest.mark.parametrize("shards", [1, 3])
def test_rows_of_several_collections_are_grouped(shards):
    with PipelineUnderTest(runner="FnApiRunner") as pipeline:
        made = tuple(
            pipeline | f"Make{number}" >> beam.Create([table(rows) for rows in batches], reshuffle=False)
            for number, batches in enumerate([[[(1, "a"), (2, "b")], [(1, "c")]], [[]], [[(1, "d"), (5, "e")]]])
        )
        met = made | GroupByShard(key="k", shards=shards) | beam.Map(lambda one: sorted(rows_of(one)))
        expected = {}
        for k, v in [(1, "a"), (1, "c"), (1, "d"), (2, "b"), (5, "e")]:
            expected.setdefault(k % shards, []).append((k, v))
        assert_that(met, equal_to(list(expected.values())))


def test_only_empty_tables_give_no_table_on_the_engine():
    with PipelineUnderTest(runner="FnApiRunner") as pipeline:
        met = pipeline | beam.Create([SCHEMA.empty_table()], reshuffle=False) | GroupByShard(key="k", shards=2)
        assert_that(met, equal_to([]))


def test_no_shards_are_refused():
    with pytest.raises(ValueError, match="at least 1"):
        GroupByShard(key="k", shards=0)


@pytest.mark.parametrize("shards", [1, 3])
def test_two_kinds_of_tables_are_joined_by_shard(shards: int) -> None:
    first = [table([(k, "a") for k in range(5)]), table([(0, "b")])]
    second = pa.table({"k": pa.array([0, 0, 4, 99], pa.int64()), "x": [1, 2, 3, 4]})

    def check(found):
        joined = [tables_of(one) for one in found]
        rows = in_order(row for one, _ in joined for row in rows_of(one))
        assert rows == in_order(row for part in first for row in rows_of(part))
        for one, other in joined:
            keys = {k % shards for k in one["k"].to_pylist()}
            assert len(keys) == 1
            of_shard = [] if other is None else other["x"].to_pylist()
            of_second = zip(second["k"].to_pylist(), [1, 2, 3, 4], strict=True)
            assert sorted(of_shard) == [x for k, x in of_second if {k % shards} == keys]

    with PipelineUnderTest(runner="FnApiRunner") as pipeline:
        one = pipeline | "First" >> beam.Create(first)
        other = pipeline | "Second" >> beam.Create([second])
        assert_that((one, other) | JoinByShard(key="k", shards=shards), check)


def test_a_third_table_is_joined_too() -> None:
    first, second, third = (pa.table({"k": pa.array(keys, pa.int64())}) for keys in ([0, 1, 2], [1], [2, 5]))

    def check(joined):
        every = map(tables_of, joined)
        found = sorted([None if one is None else one["k"].to_pylist() for one in tables] for tables in every)
        assert found == [[[0], None, None], [[1], [1], None], [[2], None, [2, 5]]]

    with PipelineUnderTest(runner="FnApiRunner") as pipeline:
        tables = tuple(pipeline | f"Table{n}" >> beam.Create([one]) for n, one in enumerate((first, second, third)))
        assert_that(tables | JoinByShard(key="k", shards=3), check)
