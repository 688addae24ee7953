"""Intervals for the worth of answers contain the truth on simulated logs."""

import pytest

from benchmarks.labels.intents.worth import coverage
from benchmarks.logs.gold_logs import gold_of_known, gold_of_simulated
from benchmarks.logs.known_logs import known_log
from benchmarks.measure import simulate


@pytest.mark.parametrize("seed", [1, 2])
def test_intervals_contain_the_truth_of_a_simulated_log(tmp_path, seed: int) -> None:
    found = coverage(gold_of_simulated(simulate(tmp_path, events=3_000, seed=seed)))
    assert found.answers > 200
    assert found.covered >= 0.95
    assert found.kinds_covered == 1.0
    assert found.width < 0.9


def test_a_known_log_is_compared_on_its_judged_answers_alone() -> None:
    gold, judged = gold_of_known(known_log("faq-shop"))
    every = coverage(gold, judged)
    assert (every.answers, every.truth) == (12, 1.0)
    assert coverage(gold, frozenset(sorted(judged)[:5])).answers == 5
