from __future__ import annotations

import itertools

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from model.encoders.cnn.lookup_tables import pool
from model.encoders.kernels.dispatch import spelled
from model.encoders.subword.inference import summed
from model.text.vocabulary import TokenIds
from schemas.ragged import offsets_of

compiled = pytest.importorskip("model.encoders.kernels.numba_kernels", reason="numba is not installed")

RUNS = st.lists(st.lists(st.integers(0, 10), max_size=9), max_size=8)
TYPES = st.sampled_from([np.float16, np.float32])


def runs_of(lists):
    return TokenIds(np.array([*itertools.chain(*lists)], np.int32), offsets_of(np.array([*map(len, lists)], np.int64)))


def test_every_finite_half_is_widened_to_what_it_is():
    bits = np.arange(65_536, dtype=np.uint16)
    halves = bits.view(np.float16)[np.isfinite(bits.view(np.float16))][:, None]
    sums = np.empty((len(halves), 1), np.float32)
    every = np.arange(len(halves), dtype=np.int32)
    compiled.add_runs(every, np.arange(len(halves) + 1), spelled(halves), sums)
    assert sums.tobytes() == halves.astype(np.float32).tobytes()  # signs of zeros too


@given(RUNS, TYPES)
def test_sums_are_those_of_numpy_to_the_last_bit(lists, kind):
    table = np.random.default_rng(0).normal(size=(11, 37)).astype(kind)
    runs = runs_of(lists)
    sums = np.full((len(lists), 37), np.nan, np.float32)
    compiled.add_runs(runs.ids, runs.offsets, spelled(table), sums)
    assert sums.tobytes() == summed(runs, table).tobytes()


@given(RUNS, TYPES, st.integers(1, 7))
def test_maxima_are_those_of_numpy_to_the_last_bit(lists, kind, width):
    rows = np.random.default_rng(1).normal(size=(12, width, 19)).astype(kind)
    rows[-1] = 0  # stands for the places outside
    runs = runs_of(lists)
    pooled = np.full((len(lists), 19), np.nan, np.float32)
    compiled.pool_windows(runs.ids, runs.offsets, spelled(rows), pooled)
    assert pooled.tobytes() == pool(runs, rows).tobytes()


@given(RUNS)
def test_a_part_of_the_questions_is_read_where_it_lies(lists):
    rows = np.random.default_rng(2).normal(size=(12, 3, 5)).astype(np.float32)
    runs = runs_of([[1, 2], *lists])
    pooled = np.empty((len(lists), 5), np.float32)
    compiled.pool_windows(runs.ids, runs.offsets[1:], rows, pooled)
    rows[-1] = 0
    np.testing.assert_array_equal(pooled, pool(runs_of(lists), rows))
