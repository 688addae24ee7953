import itertools
import random

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pipelines.decontamination import set_similarity as jaccard
from pipelines.decontamination.set_similarity import differences, similar_pairs
from pipelines.intermediate import SETS

LEAST = [0.8, 0.85, 0.9, 0.95, 1.0]
word_sets = st.lists(
    st.tuples(st.integers(0, 2), st.integers(0, 2), st.sets(st.integers(0, 12), min_size=1)), max_size=16
)


def sets(rows):
    """Return SETS of (key, rank, tokens); the row's number is its question id."""
    columns = {
        "shard": [0] * len(rows),
        "blocking_keys": [[m] for m, *_ in rows],
        "question_id": list(range(len(rows))),
        "rank": [rank for _, rank, _ in rows],
        "bag_id": [0] * len(rows),
        "token_ids": [sorted(tokens, key=lambda t: -t % 5) for *_, tokens in rows],
    }
    return pa.table({name: pa.array(columns[name], SETS.field(name).type) for name in SETS.names})


def index(one, two):
    return len(one & two) / len(one | two)


def naive(rows, least):
    """Return (row, partner) -> Jaccard index for all pairs that should be found."""
    found = {}
    for (i, (m, r, one)), (j, (n, s, two)) in itertools.product(enumerate(rows), repeat=2):
        if m == n and s < r and index(one, two) >= least:
            found[i, j] = index(one, two)
    return found


def told(blocks):
    return {
        (i, j): score
        for block in blocks
        for i, j, score in zip(block.row.tolist(), block.partner.tolist(), block.jaccard.tolist(), strict=True)
    }


@pytest.mark.parametrize("least", LEAST)
def test_differences_are_those_that_brute_force_finds(least):
    for size in range(1, 45):
        expected = {}
        for other, shared in itertools.product(range(1, 70), range(1, size + 1)):
            if shared <= other and shared / (size + other - shared) >= least:
                expected[other] = max(expected.get(other, 0), size + other - 2 * shared)
        assert differences(size, least) == expected


@given(word_sets, st.sampled_from(LEAST))
def test_the_similar_pairs_are_those_of_two_loops(rows, least):
    assert told(similar_pairs(sets(rows), least, equal=True)) == naive(rows, least)


@given(word_sets, st.sampled_from(LEAST))
def test_without_equal_sets_those_stay_that_may_differ(rows, least):
    expected = {
        (i, j): score
        for (i, j), score in naive(rows, least).items()
        if differences(len(rows[i][2]), least)[len(rows[j][2])]
    }
    assert told(similar_pairs(sets(rows), least, equal=False)) == expected


def test_a_large_group_is_compared_block_by_block(monkeypatch):
    monkeypatch.setattr(jaccard, "BLOCK_WORDS", 250)
    chance = random.Random(1)
    rows = [(7, i % 3, set(chance.sample(range(11), 9))) for i in range(60)]
    blocks = list(similar_pairs(sets(rows), 0.8, equal=True))
    assert len(blocks) > 10
    assert max(block.compared for block in blocks) <= 50 + 60  # a block ends after the row that fills it
    assert sum(block.compared for block in blocks) == 3 * 20 * 20  # all have nine words: every pair of two splits
    assert told(blocks) == naive(rows, 0.8)


def test_sets_of_sizes_too_different_are_not_compared():
    rows = [(1, 0, set(range(n))) for n in range(1, 30)] + [(1, 1, set(range(10)))]
    [block] = similar_pairs(sets(rows), 0.9, equal=True)
    assert block.compared == 3  # of 9, 10 and 11 words: 9/10, 10/10, 10/11
    assert sorted(block.jaccard.tolist()) == [0.9, 10 / 11, 1.0]
    assert not list(similar_pairs(SETS.empty_table(), 0.9, equal=True))
    assert not list(similar_pairs(sets(rows[:-1]), 0.9, equal=True))  # all in train
    assert np.isclose(index(rows[-1][2], rows[8][2]), 0.9)


@pytest.mark.parametrize("distinct", [1, 40])
def test_compiled_loops_count_the_same_shared_tokens(monkeypatch, distinct):
    loops = pytest.importorskip("pipelines.neighbours.numba_kernels", reason="numba is not installed")
    draw = np.random.default_rng(0)
    listed = [draw.choice(distinct, draw.integers(0, min(distinct, 9) + 1), replace=False).tolist() for _ in range(50)]
    row, partner = draw.integers(0, 50, (2, 500))
    found = []
    for used in (None, loops):
        monkeypatch.setattr(jaccard, "load_loops", lambda *_, used=used: used)
        with np.errstate(invalid="ignore"):  # two empty sets
            found.append(jaccard.jaccard(row, partner, pa.array(listed, pa.list_(pa.int64()))))
    np.testing.assert_array_equal(*found)
