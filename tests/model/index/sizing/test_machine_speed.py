import itertools
import time

import pytest

from model.index.sizing import machine_speed
from model.index.sizing.machine_speed import PRODUCT_S, product_time


def test_a_machine_is_neither_a_hundred_times_faster_nor_slower_and_is_measured_in_seconds():
    started = time.process_time()
    measured = product_time()
    assert time.process_time() - started < 20
    assert 0.01 < measured < 100


def test_the_fastest_of_some_rounds_counts(monkeypatch):
    lengths = [2 * PRODUCT_S + n for n in range(machine_speed._ROUNDS)][::-1]
    clock = itertools.accumulate(itertools.chain.from_iterable((1.0, length) for length in lengths))
    monkeypatch.setattr(machine_speed.time, "process_time", lambda: next(clock))
    assert product_time() == pytest.approx(2)
