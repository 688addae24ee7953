import functools

import numpy as np
import pytest
from sklearn.metrics import roc_auc_score

from benchmarks.labels.learn_facts import figures, other_kinds, part_of
from benchmarks.labels.learning.fact_scorers import JudgedPairs, fit_trees, line_of, on_line, over_parts
from benchmarks.logs.known_logs import Judged, KnownLog
from pipelines.linkage.comparison.word_differences import Differences

ANSWERS = 2_000
NAMES = ("similarity", "others_nearer_min", "length_min")
WORDS = 10
"""Number of words, one of which each pair differs in."""


def drawn(*, decisive: float = 0.0) -> JudgedPairs:
    """Return answers of two questions, which are paraphrases with a probability that rises with the similarity.

    Args:
        decisive: what one half of the words add to the log odds, and the other half take from them.
    """
    generator = np.random.default_rng(0)
    features = generator.random((ANSWERS, len(NAMES))).astype(np.float32)
    word = generator.integers(0, WORDS, ANSWERS)
    odds = 8 * features[:, 0] - 4 + np.where(word < WORDS / 2, decisive, -decisive)
    same = generator.random(ANSWERS) < 1 / (1 + np.exp(-odds))
    left = np.arange(0, 2 * ANSWERS, 2)
    differences, quiz = Differences(np.arange(ANSWERS), word.astype(np.uint64)), np.arange(ANSWERS) % 2.0
    return JudgedPairs(left, left + 1, 2 * ANSWERS, left // 2, features, differences, quiz, NAMES, features[:, 0], same)


@functools.cache
def learned(decisive: float) -> tuple[np.ndarray, np.ndarray]:
    """Return the probabilities by trees, and by trees and words, of pairs that `drawn` makes."""
    return over_parts(drawn(decisive=decisive), seed=0)


@pytest.mark.parametrize("decisive", [0.0, 3.0])
def test_scorers_of_other_parts_are_calibrated(decisive: float) -> None:
    pairs = drawn(decisive=decisive)
    found = figures(pairs, learned(decisive)[1], 0.5)
    assert found["precision"] == pytest.approx(found["stated"], abs=0.1)
    assert found["error"] < 0.1
    assert found["recall"] > 0.6


def test_words_that_decide_are_learned() -> None:
    same = drawn(decisive=3.0).same
    by_trees, by_both = (roc_auc_score(same, probability) for probability in learned(3.0))
    assert by_both > by_trees + 0.05


def test_words_that_decide_nothing_do_little_harm() -> None:
    same = drawn().same
    by_trees, by_both = (roc_auc_score(same, probability) for probability in learned(0.0))
    assert by_both > by_trees - 0.01


def test_a_higher_similarity_never_lowers_the_probability() -> None:
    pairs = drawn()
    trees = fit_trees(pairs, np.ones(ANSWERS, bool), seed=0)
    rising = np.column_stack([np.linspace(0, 1, 50), np.full((50, 2), 0.5)])
    assert (np.diff(trees.predict(rising)) >= 0).all()


def test_a_line_calibrates_log_odds() -> None:
    generator = np.random.default_rng(0)
    odds = generator.normal(0, 2, 20_000)
    stated = 1 / (1 + np.exp(-(odds / 2 + 1)))  # not sure enough, and too high
    line = line_of(generator.random(len(odds)) < 1 / (1 + np.exp(-odds)), stated)
    assert line == pytest.approx((2, -2), abs=0.1)
    assert on_line(stated, (2, -2)) == pytest.approx(1 / (1 + np.exp(-odds)))


def test_some_pairs_keep_their_differences() -> None:
    pairs = drawn()
    rows = pairs.same
    some = pairs.take(rows)
    assert some.differences.pair.tolist() == list(range(rows.sum()))
    assert some.differences.key.tolist() == pairs.differences.key[rows].tolist()
    assert some.answer.tolist() == list(range(rows.sum()))
    assert some.same.all()
    assert pairs.of_few(2).all()


def test_each_kind_of_question_is_judged_by_what_was_learned_from_the_other() -> None:
    for _, learned_from, judged in other_kinds(drawn()):
        assert learned_from.sum() == judged.sum() == ANSWERS / 2
        assert not (learned_from & judged).any()


def test_a_part_of_a_log_has_all_judged_answers() -> None:
    rows = [(f"question {n}", f"answer {n}") for n in range(300)]
    log = KnownLog("many", rows, [Judged(f"answer {n}", n, n) for n in range(10)])
    part = part_of(log, 0.2)
    assert part.rows[:10] == rows[:10]
    assert 30 < len(part.rows) < 120
