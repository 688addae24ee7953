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
    assert compare_day(OTHER, before) == (pytest.approx(1), 1, pytest.approx(0.963842))  # of 1 from .02


def test_rare_answers_that_the_days_before_lack_count_as_equal_shares_in_the_distance():
    skewed, rare = Counts(np.arange(5), np.array([300, 50, 50, 50, 50])), Counts(np.arange(10, 510), np.ones(500, int))
    with_new = together([skewed, rare])
    assert distance(skewed, ONE) > 0.3
    assert distance(with_new, together([ONE, rare])) == pytest.approx(distance(with_new, ONE))
    assert distance(with_new, ONE) == pytest.approx(distance(skewed, ONE) * np.sqrt(0.5))


@pytest.mark.parametrize("share", [0.5, 0.95])
def test_in_a_log_of_new_answers_one_that_many_rows_get_is_distant_and_harmless_days_are_not(share):
    """With a share of .95, 5 of 100 rows repeat an answer; the distance of these alone refused 14 % of the nights."""
    draw, days = np.random.default_rng(0), list[Counts]()
    for number in range(36):
        again = draw.integers(0, 100 * number, draw.binomial(100, 1 - share)) if number else np.zeros(0, np.int64)
        rows_of_day = np.concatenate([100 * number + np.arange(100 - len(again)), again])
        days.append(Counts(*np.unique(rows_of_day, return_counts=True)))
    harmless, faulty = list[float](), list[float]()
    for night in range(8, 36):
        before = usual_mix(days[max(0, night - 28) : night])
        answers, events = days[night]
        outage = Counts(np.append(answers[30:], 10**6), np.append(events[30:], events[:30].sum()))
        harmless.append(compare_day(days[night], before).excess(before.distance))
        faulty.append(compare_day(outage, before).excess(before.distance))
    assert max(harmless) < 0.1 < np.median(faulty)


@pytest.mark.parametrize(("share", "refused"), [(0.03, False), (0.05, False), (0.15, True)])
def test_a_help_desk_may_add_an_answer_a_week_that_gets_some_rows(share, refused):
    draw, days = np.random.default_rng(0), list[Counts]()
    popular = 1 / np.arange(1, 51)
    for number in range(29):
        if number % 7 == 0:
            popular = np.append(popular, popular.sum() * share / (1 - share))
        answers = draw.choice(len(popular), 2000, p=popular / popular.sum())
        days.append(Counts(*np.unique(answers, return_counts=True)))
    before = usual_mix(days[:28])
    assert (compare_day(days[28], before).excess(before.distance) > 0.1) == refused


@pytest.mark.parametrize("seed", [20, 156, 253, 291, 319])
def test_days_that_differ_by_rounding_alone_are_at_distance_0(seed):
    """The other shares, 1 - 2/5 and 1 - 14/35, can differ in the last bit; scipy's distance of these is no number."""
    draw = np.random.default_rng([5, seed])
    days = [Counts(*np.unique(draw.choice(12, 5), return_counts=True)) for _ in range(8)]
    before = usual_mix(days[:7])
    assert np.isfinite([before.distance, compare_day(days[7], before).excess(before.distance)]).all()


def test_days_without_rows_are_nothing_to_compare_with():
    empty = Counts(np.zeros(0, np.int64), np.zeros(0, np.int64))
    assert compare_day(ONE, usual_mix([empty] * 28)) == (0, 0, 0)
    assert compare_day(empty, usual_mix([ONE] * 28)) == (0, 0, 0)
    assert compare_day(ONE, usual_mix([*[ONE] * 14, *[empty] * 14])) == (pytest.approx(0), 0, 0)


def test_the_usual_distance_is_that_of_the_most_distant_day():
    skewed = Counts(np.arange(5), np.array([460, 10, 10, 10, 10]))
    days = [ONE, ONE, ONE, skewed]
    assert distance(skewed, ONE) > 0.4
    assert usual_mix(days).distance == pytest.approx(distance(skewed, ONE))
    assert usual_mix(days[:3]).distance == pytest.approx(0)


@pytest.mark.parametrize(("others", "faults", "usual"), [(13, 1, 0.0), (12, 2, 0.5), (12, 1, 0.5)])
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
    assert day.excess(0.05) == (max(day.mix - 0.05, day.of_new) if distant else day.mix - 0.05)


def test_a_single_row_with_a_new_answer_is_chance_where_there_were_none():
    assert compare_day(Counts(np.arange(6), np.array([8, 8, 8, 8, 7, 1])), UsualMix(ONE, 0.0, 0.0)).of_new == 0


def test_rare_answers_share_a_bin_so_that_chance_alone_does_not_make_a_small_day_distant():
    draw, answers = np.random.default_rng(0), 20_000
    before = together([Counts(np.arange(answers), draw.multinomial(100_000, np.full(answers, 1 / answers)))])
    small = Counts(*np.unique(draw.integers(0, answers, 300), return_counts=True))
    assert distance(small, before) < 0.2  # .9 with a bin for each answer
