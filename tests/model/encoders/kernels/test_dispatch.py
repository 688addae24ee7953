from __future__ import annotations

import sys

import numpy as np
import pytest

from model.encoders.kernels import dispatch as loops
from schemas.compiled import FEWEST_OF_FURTHER, SWITCH


@pytest.fixture
def unloaded(monkeypatch):
    """Act as if nothing was compiled yet."""
    monkeypatch.delitem(sys.modules, "model.encoders.kernels.numba_kernels", raising=False)
    monkeypatch.delenv(SWITCH, raising=False)


def test_a_few_questions_load_nothing(unloaded, monkeypatch):
    loops.load_compiled(FEWEST_OF_FURTHER - 1)
    monkeypatch.delitem(sys.modules, "numba", raising=False)
    loops.load_compiled(loops.FEWEST - 1)
    assert "model.encoders.kernels.numba_kernels" not in sys.modules
    assert loops.compiled() is None


def test_many_questions_load_the_loops_where_numba_is(unloaded, monkeypatch):
    pytest.importorskip("numba")
    monkeypatch.setattr(loops, "FEWEST", 3)
    loops.load_compiled(3)
    assert loops.compiled().__name__ == "model.encoders.kernels.numba_kernels"
    monkeypatch.setenv(SWITCH, "0")
    assert loops.compiled() is None


def test_the_switch_keeps_them_from_loading(unloaded, monkeypatch):
    monkeypatch.setenv(SWITCH, "0")
    loops.load_compiled(loops.FEWEST)
    assert "model.encoders.kernels.numba_kernels" not in sys.modules


def test_without_numba_numpy_does_it_and_nobody_asks_twice(unloaded, monkeypatch):
    monkeypatch.setitem(sys.modules, "numba", None)  # so that importing it fails
    loops.load_compiled(loops.FEWEST)
    assert loops.compiled() is None
    monkeypatch.delitem(sys.modules, "numba")
    loops.load_compiled(loops.FEWEST)
    assert loops.compiled() is None


def test_only_half_precision_is_spelled():
    half = np.array([1.0, -2.0], np.float16)
    assert loops.spelled(half).dtype == np.int16
    np.testing.assert_array_equal(loops.spelled(half).view(np.float16), half)
    single = half.astype(np.float32)
    assert loops.spelled(single) is single
