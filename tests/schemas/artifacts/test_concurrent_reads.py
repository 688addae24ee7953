import itertools
import threading

import pytest
from hypothesis import given
from hypothesis import strategies as st

from schemas.artifacts.concurrent_reads import groups, read_each


def test_what_is_read_side_by_side_comes_in_order():
    together = threading.Barrier(16, timeout=20)  # none returns before 16 run

    def read(number):
        together.wait()
        return number * 2

    assert [*read_each(read, range(32))] == [number * 2 for number in range(32)]
    assert [*read_each(read, [])] == []


def test_the_first_error_is_raised_and_no_further_group_begins():
    begun = []

    def read(number):
        begun.append(number)
        if number in (3, 5):
            raise ValueError(number)

    with pytest.raises(ValueError, match="3"):
        [*read_each(read, range(1000))]
    assert set(begun) <= set(range(16))


def test_large_files_are_read_one_after_another():
    alone = threading.Lock()

    def read(_):
        assert alone.acquire(blocking=False)
        alone.release()

    assert len([*read_each(read, range(5), lambda _: 2**24)]) == 5


@given(st.lists(st.integers(0, 9), max_size=60), st.integers(0, 20))
def test_groups_have_all_places_in_order_and_neither_too_many_nor_too_large_ones(sizes, most_bytes):
    found = [*groups(sizes, lambda size: size, most_bytes=most_bytes)]
    assert [size for group in found for size in group] == sizes
    assert all(0 < len(group) <= 16 and (len(group) == 1 or sum(group) <= most_bytes) for group in found)
    for group, following in itertools.pairwise(found):
        assert len(group) == 16 or sum(group) + following[0] > most_bytes
