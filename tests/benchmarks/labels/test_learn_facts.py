import numpy as np
import pytest

from benchmarks.labels.known_logs import Judged, KnownLog
from benchmarks.labels.learn_facts import JudgedPairs, figures, fit, over_parts, part_of

ANSWERS = 2_000
NAMES = ("similarity", "others_nearer_min", "length_min")


def drawn() -> JudgedPairs:
    """Return answers of two questions, which are paraphrases with a probability that rises with the similarity."""
    generator = np.random.default_rng(0)
    features = generator.random((ANSWERS, len(NAMES))).astype(np.float32)
    same = generator.random(ANSWERS) < 1 / (1 + np.exp(4 - 8 * features[:, 0]))
    left = np.arange(0, 2 * ANSWERS, 2)
    return JudgedPairs(left, left + 1, 2 * ANSWERS, left // 2, features, NAMES, features[:, 0], same)


def test_trees_of_other_parts_are_calibrated() -> None:
    found = figures(drawn(), over_parts(drawn(), seed=0), 0.5)
    assert found["precision"] == pytest.approx(found["stated"], abs=0.1)
    assert found["error"] < 0.1
    assert found["recall"] > 0.6


def test_a_higher_similarity_never_lowers_the_probability() -> None:
    pairs = drawn()
    trees = fit(pairs, np.ones(ANSWERS, bool), seed=0)
    rising = np.column_stack([np.linspace(0, 1, 50), np.full((50, 2), 0.5)])
    assert (np.diff(trees.predict(rising)) >= 0).all()


def test_a_part_of_a_log_has_all_judged_answers() -> None:
    rows = [(f"question {n}", f"answer {n}") for n in range(300)]
    log = KnownLog("many", rows, [Judged(f"answer {n}", n, n) for n in range(10)])
    part = part_of(log, 0.2)
    assert part.rows[:10] == rows[:10]
    assert 30 < len(part.rows) < 120
