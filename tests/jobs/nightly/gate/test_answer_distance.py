import numpy as np
import pytest

from jobs.nightly.gate.answer_distance import Counts, UsualMix, compare_day, distance, together, usual_mix

ONE, OTHER = Counts(np.arange(5), np.full(5, 100)), Counts(np.arange(5, 10), np.full(5, 100))


def rows(known, new):
    """Return a day with rows of known answers, the same for each of them, and of new ones."""
    return Counts(np.arange(10 if new else 5), np.array([known // 5] * 5 + [new // 5] * (5 if new else 0)))


def test_equal_days_are_at_distance_0_and_disjoint_ones_at_1():
    before = UsualMix(ONE, 0.0, 0.0)
    assert compare_day(ONE, before) == (pytest.approx(0), 0, 0)
    assert compare_day(OTHER, before) == (0, 1, pytest.approx(1))


def test_answers_that_the_days_before_lack_do_not_change_the_distance_of_the_others():
    skewed = Counts(np.arange(5), np.array([300, 50, 50, 50, 50]))
    with_new = together([skewed, OTHER])
    assert distance(with_new, ONE) == distance(skewed, ONE) > 0.2


def test_the_usual_distance_is_that_of_the_most_distant_day():
    skewed = Counts(np.arange(5), np.array([460, 10, 10, 10, 10]))
    days = [ONE, ONE, ONE, skewed]
    assert distance(skewed, ONE) > 0.4
    assert usual_mix(days).distance == pytest.approx(distance(skewed, ONE))
    assert usual_mix(days[:3]).distance == pytest.approx(0)


@pytest.mark.parametrize(("others", "faults", "usual"), [(10, 1, 0.0), (9, 2, 0.5), (9, 1, 0.5)])
def test_the_usual_share_of_new_answers_is_the_largest_but_for_one_of_many_days(others, faults, usual):
    new = [together([rows(100, 0), Counts(np.full(1, 50 + n), np.full(1, 100))]) for n in range(faults)]
    assert usual_mix([*[ONE] * others, *new]).new == usual


def test_new_answers_of_early_days_are_not_counted():
    assert usual_mix([ONE, OTHER, Counts(OTHER.answers + 5, OTHER.events), *[ONE] * 6]).new == 0


@pytest.mark.parametrize(
    ("known", "new", "usual", "distant"),
    [(900, 100, 0.2, False), (800, 200, 0.2, False), (700, 300, 0.2, True), (35, 5, 0.1, False), (20, 20, 0.1, True)],
)
def test_a_share_of_new_answers_counts_where_it_is_larger_than_usual_and_not_by_chance(known, new, usual, distant):
    day = compare_day(rows(known, new), UsualMix(ONE, 0.0, usual))
    assert (day.of_new > 0) == distant
    assert day.excess(0.05) == (max(day.known - 0.05, day.of_new) if distant else day.known - 0.05)


def test_a_single_row_with_a_new_answer_is_chance_where_there_were_none():
    assert compare_day(Counts(np.arange(6), np.array([8, 8, 8, 8, 7, 1])), UsualMix(ONE, 0.0, 0.0)).of_new == 0


def test_rare_answers_share_a_bin_so_that_chance_alone_does_not_make_a_small_day_distant():
    draw, answers = np.random.default_rng(0), 20_000
    before = together([Counts(np.arange(answers), draw.multinomial(100_000, np.full(answers, 1 / answers)))])
    small = Counts(*np.unique(draw.integers(0, answers, 300), return_counts=True))
    assert distance(small, before) < 0.2  # .9 with a bin for each answer
