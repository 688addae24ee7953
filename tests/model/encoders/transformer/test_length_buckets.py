from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from model.encoders.transformer.length_buckets import length_groups

LENGTHS = st.lists(st.integers(0, 40), max_size=60).map(lambda found: np.array(found, np.int64))


@given(LENGTHS, st.integers(1, 200), st.integers(0, 50))
def test_every_question_comes_once_and_no_group_is_too_large_or_too_uneven(lengths, most, padding):
    groups = list(length_groups(lengths, max_tokens=most, padding=padding))
    assert sorted(np.concatenate([*groups, np.empty(0, int)]).tolist()) == list(range(len(lengths)))
    for rows in groups:
        longest = lengths[rows].max()
        assert len(rows) == 1 or len(rows) * longest <= most
        assert (longest - lengths[rows]).sum() <= padding


@given(LENGTHS)
def test_without_padding_a_length_has_one_group(lengths):
    groups = list(length_groups(lengths, padding=0, max_tokens=10**6))
    assert [lengths[rows[0]] for rows in groups] == sorted(set(lengths.tolist()), reverse=True)
    assert all(rows.tolist() == np.flatnonzero(lengths == lengths[rows[0]]).tolist() for rows in groups)


@pytest.mark.parametrize(
    ("lengths", "padding", "expected"),
    [
        ([5, 3, 5, 4], 3, [[0, 2, 3, 1]]),  # filled up with 1 + 2
        ([5, 3, 5, 4], 2, [[0, 2, 3], [1]]),
        ([5, 3, 5, 4], 0, [[0, 2], [3], [1]]),
        ([], 0, []),
    ],
)
def test_a_group_is_filled_up_as_far_as_it_may(lengths, padding, expected):
    assert [rows.tolist() for rows in length_groups(np.array(lengths, np.int64), padding=padding)] == expected
