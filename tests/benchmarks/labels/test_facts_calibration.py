import functools

import numpy as np
import pytest

from benchmarks.labels.facts_calibration import (
    RECALL,
    JudgedPairs,
    chosen_threshold,
    figures,
    fit,
    groups,
    over_parts,
    part_of,
)
from benchmarks.labels.known_logs import Judged, KnownLog
from pipelines.linkage.scoring.agreement_required import Calibration, calibrated

ANSWERS = 4_000
LINE = Calibration(-3.0, 0.5, 4.0, knee=0.9, threshold=0.5)


def drawn() -> JudgedPairs:
    """Return answers of two questions, whose pairs are paraphrases with the probability of a line."""
    generator = np.random.default_rng(0)
    stated, similarity = generator.random((2, ANSWERS))
    same = generator.random(ANSWERS) < calibrated(stated, similarity, LINE)
    left = np.arange(0, 2 * ANSWERS, 2)
    return JudgedPairs(left, left + 1, 2 * ANSWERS, left // 2, stated, stated, similarity, same)


def test_the_line_that_drew_the_paraphrases_is_found() -> None:
    found = fit(drawn(), np.ones(ANSWERS, bool), knee=LINE.knee, similarity=True)
    assert found[:3] == pytest.approx(LINE[:3], abs=0.4)
    assert fit(drawn(), np.ones(ANSWERS, bool), knee=LINE.knee, similarity=False).similarity == 0


def test_lines_of_other_parts_are_calibrated() -> None:
    pairs = drawn()
    probability, group = over_parts(pairs, pairs.answer % 5, functools.partial(fit, pairs, knee=0.9, similarity=True))
    found = figures(pairs, probability, group)
    assert found["recall"] == pytest.approx(RECALL, abs=0.1)
    assert found["precision"] == pytest.approx(found["stated"], abs=0.05)
    assert found["error"] < 0.05


def test_a_higher_threshold_than_the_chosen_one_keeps_too_few() -> None:
    pairs = drawn()
    values = calibrated(pairs.stated, pairs.similarity, LINE)
    threshold = chosen_threshold(pairs, values, np.ones(ANSWERS, bool))
    recalls = [figures(pairs, values, groups(pairs, values, t))["recall"] for t in (threshold, threshold + 0.05)]
    assert recalls[0] >= RECALL > recalls[1]


def test_a_part_of_a_log_has_all_judged_answers() -> None:
    rows = [(f"question {n}", f"answer {n}") for n in range(300)]
    log = KnownLog("many", rows, [Judged(f"answer {n}", n, n) for n in range(10)])
    part = part_of(log, 0.2)
    assert part.rows[:10] == rows[:10]
    assert 30 < len(part.rows) < 120
