"""Sample of the answers of a log, and the threshold of the log by its expected precision."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from pipelines.linkage.scoring.answer_sample import Sample, first_answers
from pipelines.linkage.scoring.log_threshold import HIGHEST, PAIRS, choose_threshold


def sample(answers: dict[float, list[float]]) -> Sample:
    """Return answers of two questions by hash; further probabilities are pairs of the first with further questions."""
    place = np.array(sorted(answers), float)
    pairs = [answers[one] for one in place.tolist()]
    counts = np.array([len(of_answer) for of_answer in pairs], np.int64)
    answer = np.repeat(np.arange(len(place)), counts)
    right = np.concatenate([np.zeros(0, np.int64), *(np.arange(1, count + 1) for count in counts.tolist())])
    left, probability = np.zeros(len(right), np.int64), np.concatenate([np.zeros(0), *map(np.array, pairs)])
    return Sample(place, counts, answer, left, right.astype(np.int64), probability)


probabilities = st.lists(st.integers(0, 100).map(lambda n: n / 100), min_size=1, max_size=4)
some = st.dictionaries(st.integers(0, 60).map(lambda n: n / 64), probabilities, max_size=8)


@given(some, st.integers(1, 5))
def test_the_first_answers_are_the_same_however_a_log_is_divided(answers, parts):
    divided = [sample({one: p for n, (one, p) in enumerate(answers.items()) if n % parts == part}) for part in range(5)]
    whole, again = first_answers([sample(answers)], 7), first_answers([first_answers([one], 7) for one in divided], 7)
    assert all(np.array_equal(one, other) for one, other in zip(whole, again, strict=True))
    assert whole.effort.sum() >= min(7, sample(answers).effort.sum())
    assert whole.effort[:-1].sum() < 7


def test_the_threshold_is_the_lowest_at_which_kept_pairs_are_expected_to_be_precise():
    # kept at .4: .9, .9, .45, mean .75; from .46 on: .9
    mixed = sample({0.1: [0.9], 0.2: [0.9], 0.3: [0.45]})
    assert choose_threshold(mixed, lowest=0.4, precision=0.75) == 0.4
    assert choose_threshold(mixed, lowest=0.4, precision=0.8) == 0.46
    assert choose_threshold(mixed, lowest=0.4, precision=0.95) == 0.91  # from there on no pair is kept
    assert choose_threshold(sample({0.1: [0.96]}), lowest=0.4, precision=0.99) == HIGHEST


def test_without_a_pair_the_threshold_is_the_lowest():
    assert choose_threshold(first_answers([], PAIRS), lowest=0.35, precision=0.9) == 0.35
    assert choose_threshold(sample({0.5: [0.1]}), lowest=0.35, precision=0.9) == 0.35
