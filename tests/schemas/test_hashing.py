import collections
import itertools

import pyarrow as pa
from hypothesis import given
from hypothesis import strategies as st

from schemas.hashing import bag_ids

GOLDEN = 4165395827275202917
bags = st.lists(st.lists(st.integers(-3, 3), max_size=5), min_size=1, max_size=12)


def ids(lists):
    return bag_ids(pa.array(lists, pa.list_(pa.int64()))).to_pylist()


@given(bags)
def test_two_lists_have_the_same_id_when_they_hold_the_same_values_equally_often(lists):
    for (one, a), (two, b) in itertools.combinations(zip(lists, ids(lists), strict=True), 2):
        assert (a == b) == (collections.Counter(one) == collections.Counter(two))


@given(bags)
def test_an_id_depends_on_its_own_list_alone(lists):
    assert ids(lists) == [ids([one])[0] for one in lists]
    sliced = pa.chunked_array([pa.array([[9], *lists], pa.list_(pa.int64())).slice(1)])
    assert bag_ids(sliced).to_pylist() == ids(lists)


def test_an_id_never_changes():
    assert ids([[1, 2], [2, 1], [1, 2, 2], []]) == [GOLDEN, GOLDEN, ids([[2, 1, 2]])[0], 0]
    assert bag_ids(pa.array([], pa.list_(pa.int64()))).to_pylist() == []
