import itertools
import time

import pytest

from model.index.sizing import machine_speed
from model.index.sizing.machine_speed import PRODUCTS_S, ROWS_S, measured_speed


def test_a_machine_is_neither_a_hundred_times_faster_nor_slower_and_is_measured_in_seconds():
    started = time.process_time()
    speed = measured_speed()
    assert time.process_time() - started < 20
    assert all(0.01 < part < 100 for part in speed)


def test_the_fastest_of_some_rounds_counts(monkeypatch):
    rounds = machine_speed._ROUNDS
    lengths = [2 * PRODUCTS_S + n for n in range(rounds)][::-1] + [3 * ROWS_S + n for n in range(rounds)]
    clock = itertools.accumulate(itertools.chain.from_iterable((1.0, length) for length in lengths))
    monkeypatch.setattr(machine_speed.time, "process_time", lambda: next(clock))
    speed = measured_speed()
    assert speed.products == pytest.approx(2)
    assert speed.rows == pytest.approx(3)
