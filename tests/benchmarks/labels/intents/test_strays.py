"""Strays of a help desk: its halves, and what is counted as lost and kept."""

import numpy as np
import pytest

from benchmarks.cli import Report
from benchmarks.labels.intents import strays
from benchmarks.logs.known_logs import MissingDataError
from pipelines.linkage.intents import Intents


def halves() -> tuple[list[strays.Row], list[strays.Row]]:
    try:
        return strays.rows_of_half(0), strays.rows_of_half(1)
    except MissingDataError as error:
        pytest.skip(str(error))


def test_each_intent_is_in_one_half() -> None:
    first, second = ({answer for _, answer in half} for half in halves())
    assert len(first | second) == len(first) + len(second) == 77


def test_lost_and_kept_questions_are_those_of_the_log(capsys, monkeypatch) -> None:
    rows = [(f"question {number} about {number % 3}", f"answer {number % 3}") for number in range(300)]
    answers = []

    def known(log, _encode):
        wrong = np.array([judged.planted for judged in log.judged])
        answers.append(wrong.mean())
        belongs = np.arange(len(wrong)) % 4 > 0
        return Intents(np.ones(len(wrong), bool), belongs | wrong, 0.98), wrong

    monkeypatch.setattr(strays, "strays_of", known)
    strays.compare(Report(as_json=False), rows, 200, seeds=range(2), encode=None)
    lines = [line.split("|")[1:-1] for line in capsys.readouterr().out.splitlines() if line.startswith("| 200")]
    assert [float(wrong) for _, wrong, _, _ in lines] == list(strays.WRONG)
    assert all(float(lost) == pytest.approx(0.25, abs=0.05) for _, _, lost, _ in lines)
    assert [float(kept) for _, _, _, kept in lines] == [0, 1, 1, 1]
    assert np.mean(answers[-2:]) == pytest.approx(0.1, abs=0.04)


def test_the_wrong_answers_of_a_drawn_log_are_found() -> None:
    found, wrong = strays.strays_of(strays.drawn_log(halves()[1], 800, wrong=0.1, seed=3), None)
    assert 0.07 < wrong.mean() < 0.13
    assert found.belongs[~wrong].mean() > 0.9
    assert found.belongs[wrong].mean() < 0.15
