import collections

import pytest

from benchmarks.pipelines.nights import STEPS, timed_steps
from jobs.nightly import flow


def test_the_steps_of_a_night_are_timed(monkeypatch):
    for function in STEPS:
        monkeypatch.setattr(flow, function, lambda: sum(range(10_000)))
    spent = collections.Counter()
    timed_steps(spent)
    for function, name in STEPS.items():
        assert getattr(flow, function)() == sum(range(10_000))
        assert spent[name] > 0


@pytest.mark.parametrize("function", STEPS)
def test_a_step_is_a_function_of_the_flow(function):
    assert callable(getattr(flow, function))
