import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pipelines.privacy.user_sketches import SKETCH, Sketches, count_users, has_users, merge_sketches, sketch_users

SIZE = 4
HASHES = st.one_of(st.none(), st.integers(0, 6), st.integers(2**64 - 3, 2**64 - 1))
DAY = st.lists(st.tuples(st.integers(-2, 2), HASHES), max_size=25)


def sketched(rows, size=SIZE):
    groups = np.array([group for group, _ in rows], np.int64)
    return sketch_users(groups, pa.array([who for _, who in rows], pa.uint64()), size)


def merged(*parts, size=SIZE):
    groups = np.concatenate([part.groups for part in parts])
    return merge_sketches(groups, pa.concat_arrays([part.users for part in parts]), size)


def plain(sketches):
    assert sketches.users.type == SKETCH.type
    assert sketches.groups.dtype == np.int64
    return dict(zip(sketches.groups.tolist(), sketches.users.to_pylist(), strict=True))


def users_of(rows):
    sets = {group: set() for group, _ in rows}
    for group, who in rows:
        sets[group] |= {who} - {None}
    return sets


@given(rows=DAY)
def test_a_sketch_holds_the_smallest_hashes_of_each_group(rows):
    expected = {group: sorted(users)[:SIZE] for group, users in users_of(rows).items()}
    assert plain(sketched(rows)) == expected
    assert list(plain(sketched(rows))) == sorted(expected)


@given(one=DAY, two=DAY, three=DAY)
def test_merging_gives_the_sketch_of_all_rows_in_any_order_and_however_often(one, two, three):
    a, b, c = map(sketched, (one, two, three))
    whole = plain(sketched([*one, *two, *three]))
    assert plain(merged(a, b, c)) == whole
    assert plain(merged(merged(a, b), c)) == plain(merged(a, merged(b, c))) == plain(merged(c, b, a)) == whole
    assert plain(merged(a, a)) == plain(merged(a)) == plain(a)


@given(one=DAY, two=DAY, least=st.integers(0, SIZE))
def test_counts_below_the_size_and_decisions_up_to_it_are_exact(one, two, least):
    groups, users = merged(sketched(one), sketched(two))
    truth = users_of([*one, *two])
    for group, count, enough in zip(
        groups.tolist(), count_users(users, SIZE), has_users(users, least, SIZE).to_pylist(), strict=True
    ):
        assert enough == (len(truth[group]) >= least)
        assert count == len(truth[group]) if len(truth[group]) < SIZE else count >= SIZE


def test_the_error_of_large_counts_is_as_stated():
    size, users, rng = 64, 5_000, np.random.default_rng(0)
    groups = np.repeat(np.arange(200), users)
    hashes = rng.integers(0, 2**64, len(groups), np.uint64)
    ratio = count_users(sketch_users(groups, pa.array(hashes), size).users, size) / users
    assert abs(ratio.mean() - 1) < 0.03
    assert 0.10 < ratio.std() < 0.16  # 1 / sqrt(62) = .127


def test_a_missing_sketch_is_empty_and_sketches_are_stored_as_they_are(tmp_path):
    users = pa.array([None, [1, 2], []], SKETCH.type)
    assert plain(merge_sketches(np.array([5, 5, 6]), users, SIZE)) == {5: [1, 2], 6: []}
    assert count_users(users, SIZE).tolist() == [0, 2, 0]
    stored = sketched([(1, 2**64 - 1), (1, 0), (2, None)])
    pq.write_table(pa.table({SKETCH.name: stored.users}), tmp_path / "s.parquet")
    read = pq.read_table(tmp_path / "s.parquet")[SKETCH.name].combine_chunks()
    assert plain(Sketches(stored.groups, read.cast(SKETCH.type))) == {1: [0, 2**64 - 1], 2: []}


def test_a_size_that_cannot_decide_or_estimate_is_refused():
    with pytest.raises(ValueError, match="sketches of 4 users do not decide whether there are 5"):
        has_users(pa.array([[1]], SKETCH.type), 5, SIZE)
    with pytest.raises(ValueError, match="at least 3 hashes, not 2"):
        sketched([], size=2)
