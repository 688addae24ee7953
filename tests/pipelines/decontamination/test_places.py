import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pipelines.decontamination import places
from pipelines.decontamination.places import contested, earliest, mixed, place_in_lists, place_once

pairs = st.lists(st.tuples(st.integers(0, 5), st.integers(-(2**63), 2**63 - 1)), max_size=20)


def pairs_of(table, shards):
    """Return (row, key) of all keys of a table, which are those of their shard."""
    assert all(m % shards == row["shard"] for row in table.to_pylist() for m in row["blocking_keys"])
    return sorted((row["text"], m) for row in table.to_pylist() for m in row["blocking_keys"])


@given(pairs, st.integers(1, 4), st.sampled_from([1, 40, 2**26]))
def test_a_row_is_copied_once_for_each_shard_of_its_keys(keys, shards, block):
    rows = pa.table({"text": pa.array(range(6), pa.int64())})
    row, blocking_key = (np.array([pair[i] for pair in keys], np.int64) for i in (0, 1))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(places, "BLOCK_BYTES", block)
        tables = list(place_in_lists(rows, row, blocking_key, sizes=np.full(6, 20), shards=shards))
    assert len(tables) <= 1 or block < 2**26
    assert all(len(table) <= max(2, block // 20 + 1) for table in tables)
    found = [pair for table in tables for pair in pairs_of(table, shards)]
    assert sorted(found) == sorted(keys)
    copies = [(r["text"], r["shard"]) for table in tables for r in table.to_pylist()]
    assert sorted(copies) == sorted({(text, m % shards) for text, m in keys})


@given(st.lists(st.integers(-(2**63), 2**63 - 1), max_size=9), st.integers(1, 4))
def test_rows_with_one_key_stay_as_they_are(keys, shards):
    rows = pa.table({"text": pa.array(range(len(keys)), pa.int64())})
    placed = place_once(rows, pa.array(keys, pa.int64()), shards)
    assert placed["text"].to_pylist() == list(range(len(keys)))
    assert pairs_of(placed, shards) == list(enumerate(keys))


def test_places_are_contested_where_another_split_has_the_key():
    rows = pa.table(
        {
            "blocking_keys": pa.array([[1, 2], [3], [2, 3, 4], [4]], pa.list_(pa.int64())),
            "rank": pa.array([0, 0, 1, 1], pa.int8()),
            "size": [10, 20, 30, 40],
        }
    )
    assert contested(rows, ("size",)).to_pylist() == [
        {"row": 0, "blocking_key": 2, "size": 10},
        {"row": 1, "blocking_key": 3, "size": 20},
        {"row": 2, "blocking_key": 2, "size": 30},
        {"row": 2, "blocking_key": 3, "size": 30},
    ]


@given(st.lists(st.tuples(st.integers(0, 4), st.integers(0, 2)), max_size=20))
def test_mixed_groups_have_several_ranks(rows):
    groups, ranks = (np.array([row[i] for row in rows], np.int8) for i in (0, 1))
    assert mixed(groups, ranks).tolist() == [len({r for h, r in rows if h == g}) > 1 for g, _ in rows]


@given(st.lists(st.tuples(st.integers(0, 4), st.integers(0, 2)), max_size=20))
def test_earliest_is_the_lowest_rank_of_a_group(rows):
    groups, ranks = (np.array([row[i] for row in rows], np.int8) for i in (0, 1))
    assert earliest(groups, ranks).tolist() == [min(r for h, r in rows if h == g) for g, _ in rows]
