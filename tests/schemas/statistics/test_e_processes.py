import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.integrate import quad
from scipy.stats import beta

from schemas.statistics.e_processes import (
    ALARM,
    BETS,
    LARGE,
    MULTIPLES,
    clean_reviews_missing,
    excess_evidence,
    mean_bound,
    mean_evidence,
    reviews_needed,
    share_bound,
    share_evidence,
)

COUNTS = st.integers(0, 300)


def naive_excess(observations, share):
    """Multiply the bets observation by observation."""
    bets = [multiple * share for multiple in MULTIPLES if multiple * share < 1]
    wealth = [1.0] * len(bets)
    for wrong in observations:
        for place, bet in enumerate(bets):
            wealth[place] *= bet / share if wrong else (1 - bet) / (1 - share)
    return sum(wealth) / len(wealth)


@given(st.lists(st.booleans(), max_size=60), st.floats(0.001, 0.6))
def test_evidence_of_an_excess_is_the_mean_wealth_of_the_bets(observations, share):
    found = excess_evidence(sum(observations), len(observations), share)
    assert found == pytest.approx(naive_excess(observations, share), rel=1e-6)


@pytest.mark.parametrize("share", [0.005, 0.02, 0.3, 0.9])
def test_one_more_observation_of_a_kept_promise_expects_the_same_evidence(share):
    before = excess_evidence(3, 40, share)
    after = share * excess_evidence(4, 41, share) + (1 - share) * excess_evidence(3, 41, share)
    assert after == pytest.approx(before)


@pytest.mark.parametrize(("true", "days"), [(0.06, 10), (0.10, 4)])
def test_twenty_audits_a_day_see_a_broken_promise_of_2_percent(true, days):
    rng = np.random.default_rng(2)
    wrong = rng.binomial(20, true, (1_000, 60)).cumsum(1)
    alarm = excess_evidence(wrong, 20 * np.arange(1, 61), 0.02) >= ALARM
    assert np.median(alarm.argmax(1) + 1) == pytest.approx(days, abs=2)


def test_a_kept_promise_raises_an_alarm_in_at_most_1_percent_of_400_days():
    rng = np.random.default_rng(3)
    wrong = rng.binomial(20, 0.02, (4_000, 400)).cumsum(1)
    alarm = (excess_evidence(wrong, 20 * np.arange(1, 401), 0.02) >= ALARM).any(1).mean()
    assert 0.001 <= alarm <= 0.01


@given(COUNTS, st.integers(0, 20), st.sampled_from([0.5, 0.9, 0.98, 0.99, 0.995]))
def test_evidence_of_a_share_is_the_mean_likelihood_ratio_over_the_cut_prior(right, wrong, share):
    def integrand(p):
        return math.exp(beta.logpdf(p, 500, 1) + right * math.log(p / share)) * ((1 - p) / (1 - share)) ** wrong

    mean = quad(integrand, share, 1, epsabs=0, epsrel=1e-8)[0] / beta.sf(share, 500, 1)
    assert share_evidence(right, wrong, share) == pytest.approx(mean, rel=1e-5)


@pytest.mark.parametrize(("wrong", "reviews"), [(0, 351), (1, 619), (2, 847)])
def test_known_numbers_of_reviews_for_99_percent(wrong, reviews):
    assert reviews_needed(0.99, wrong, 0.05) == reviews
    assert share_evidence(reviews - wrong, wrong, 0.99) >= 20 > share_evidence(reviews - wrong - 1, wrong, 0.99)


def test_200_clean_reviews_support_98_35_percent():
    assert share_bound(200, 0, 0.05) == pytest.approx(0.9835, abs=5e-5)


def test_a_bound_far_below_the_share_that_was_seen_is_found_without_a_warning():
    assert share_evidence(50, 1_000, 50 / 1_050) == 0  # rounded
    assert share_bound(50, 1_000, 0.05) == pytest.approx(1.78e-9, rel=1e-3)


@given(COUNTS, COUNTS)
def test_every_share_below_the_bound_is_supported(right, wrong):
    bound = share_bound(right, wrong, 0.05)
    assert 0 <= bound <= (right / (right + wrong) if right else 0)
    if bound:
        assert share_evidence(right, wrong, bound) == pytest.approx(20, rel=1e-3)  # rounded near 0
        assert all(share_evidence(right, wrong, bound * part) >= 20 for part in (0.25, 0.5, 0.9, 0.999))


def test_without_a_right_one_nothing_is_supported():
    assert share_bound(0, 0, 0.05) == share_bound(0, 7, 0.05) == 0


def test_looking_after_every_review_makes_few_false_claims():
    rng = np.random.default_rng(4)
    broken = 0
    for _ in range(400):
        wrong = (rng.random(800) < 0.01).cumsum()
        looks = range(50, 800, 25)
        broken += any(share_evidence(n - int(wrong[n - 1]), int(wrong[n - 1]), 0.99) >= 20 for n in looks)
    assert 0.004 <= broken / 400 <= 0.05 + 2 * math.sqrt(0.05 * 0.95 / 400)


@given(st.integers(0, 900), st.integers(0, 3), st.sampled_from([0.9, 0.98, 0.99]))
def test_the_missing_clean_reviews_are_just_enough(right, wrong, share):
    missing = clean_reviews_missing(right, wrong, share, 0.05)
    assert share_evidence(right + missing, wrong, share) >= 20
    if missing:
        assert share_evidence(right + missing - 1, wrong, share) < 20


def test_numbers_of_missing_clean_reviews_for_99_percent():
    missing = [clean_reviews_missing(0, wrong, 0.99, 0.05) + wrong for wrong in (0, 1, 2)]
    assert missing == [351, 619, 847]
    assert clean_reviews_missing(200, 0, 0.99, 0.05) == 151
    assert clean_reviews_missing(351, 0, 0.99, 0.05) == 0


def chance_of(number, right, wrong, population):
    """Return the chance of one order of draws without repetition, if ``number`` of the population are right."""
    chance = Fraction(1)
    for left in range(number, number - right, -1):
        chance *= left
    for left in range(population - number, population - number - wrong, -1):
        chance *= left
    return chance


def naive_evidence_of_population(right, wrong, share, population):
    """Return the mean chance of larger numbers by that of the largest denied one, weighted by the beta-binomial."""
    denied = math.ceil(Fraction(share) * population) - 1
    weights = {k: Fraction(math.factorial(k + 499), math.factorial(k)) for k in range(denied + 1, population + 1)}
    mean = sum(weight * chance_of(k, right, wrong, population) for k, weight in weights.items()) / sum(weights.values())
    against = chance_of(denied, right, wrong, population)
    if not against:
        return math.inf if denied < right else 0.0
    return float(mean / against)


@given(st.integers(1, 40), st.integers(0, 40), st.integers(0, 5), st.fractions(Fraction(1, 50), Fraction(49, 50)))
def test_evidence_of_a_population_is_the_mean_likelihood_ratio_over_its_cut_prior(population, right, wrong, share):
    right = min(right, population)
    wrong = min(wrong, population - right)
    found = share_evidence(right, wrong, float(share), population)
    expected = min(naive_evidence_of_population(right, wrong, share, population), math.exp(700))
    assert found == pytest.approx(expected, rel=1e-6)


@pytest.mark.parametrize("true", [98, 97, 90])
def test_one_more_draw_expects_no_more_evidence_if_too_few_of_the_population_are_right(true):
    right, wrong = 60, 1
    before = share_evidence(right, wrong, 0.99, 100)
    chance = (true - right) / (100 - right - wrong)
    after = chance * share_evidence(61, 1, 0.99, 100) + (1 - chance) * share_evidence(60, 2, 0.99, 100)
    assert after == pytest.approx(before) if true == 98 else after < before


def test_evidence_of_a_large_population_is_nearly_that_of_independent_draws():
    assert share_evidence(351, 0, 0.99, LARGE) == pytest.approx(share_evidence(351, 0, 0.99), rel=0.05)
    assert share_evidence(351, 0, 0.99, LARGE + 1) == share_evidence(351, 0, 0.99)
    assert share_bound(351, 1, 0.05, LARGE) == pytest.approx(share_bound(351, 1, 0.05), abs=2e-4)


@given(st.integers(1, 300), st.data())
def test_every_share_of_a_population_up_to_the_bound_is_supported(population, data):
    right = data.draw(st.integers(0, population))
    wrong = data.draw(st.integers(0, population - right))
    bound = share_bound(right, wrong, 0.05, population)
    assert 0 <= bound <= (right / (right + wrong) if right else 0)
    if right + wrong == population:
        assert bound == right / population
    if bound:
        assert all(share_evidence(right, wrong, bound * part, population) >= 20 for part in (0.25, 0.5, 0.9, 1))


@given(st.integers(1, 400), st.data(), st.sampled_from([0.9, 0.98, 0.99]))
def test_the_missing_clean_reviews_of_a_population_are_just_enough(population, data, share):
    right = data.draw(st.integers(0, population))
    wrong = data.draw(st.integers(0, min(population - right, 4)))
    missing = clean_reviews_missing(right, wrong, share, 0.05, population)
    if missing is None:
        assert population - wrong < math.ceil(share * population - 1e-9)
        return
    assert right + wrong + missing <= population
    assert share_evidence(right + missing, wrong, share, population) >= 20
    if missing:
        assert share_evidence(right + missing - 1, wrong, share, population) < 20


def test_known_numbers_of_reviews_of_small_populations_for_99_percent():
    assert [reviews_needed(0.99, 0, 0.05, population) for population in (30, 77, 400)] == [29, 74, 193]
    assert reviews_needed(0.99, 1, 0.05, 77) is None


def test_looking_after_every_draw_makes_few_false_claims_of_a_population():
    rng = np.random.default_rng(7)
    size, right = 120, 118  # 98.3 %
    looks = [reviews_needed(0.99, wrong, 0.05, size) for wrong in range(2)]
    broken = 0
    for _ in range(4_000):
        wrong = rng.permutation(np.arange(size) >= right).cumsum()
        broken += any(look is not None and wrong[look - 1] <= number for number, look in enumerate(looks))
    assert 0.01 <= broken / 4_000 <= 0.05 + 2 * math.sqrt(0.05 * 0.95 / 4_000)


def naive_mean(values, mean):
    """Multiply the wealth of each bet value by value."""
    wealth = [1.0] * len(BETS)
    for value in values:
        wealth = [have * (1 + bet * (value / mean - 1)) for have, bet in zip(wealth, BETS, strict=True)]
    return sum(wealth) / len(wealth)


@given(st.lists(st.floats(0, 1), max_size=60), st.floats(0.05, 1))
def test_evidence_of_a_mean_is_the_mean_wealth_of_the_bets(values, mean):
    assert mean_evidence(values, mean) == pytest.approx(naive_mean(values, mean), rel=1e-6)


@given(st.lists(st.floats(0, 1), max_size=80))
def test_every_mean_below_the_bound_is_supported_and_none_above_the_sample_mean(values):
    bound = mean_bound(values, 0.05)
    assert 0 <= bound <= (np.mean(values) + 1e-9 if values else 0)
    if bound:
        assert mean_evidence(values, bound * 0.999) >= 20 > mean_evidence(values, bound * 1.001)


def test_the_bound_of_a_mean_is_rarely_ever_above_it():
    rng = np.random.default_rng(5)
    loss = np.where(rng.random((1_000, 600)) < 0.05, rng.uniform(0.2, 1, (1_000, 600)), 0)  # mean .05 * .6
    broken = [any(mean_evidence(1 - row[:n], 0.97) >= 20 for n in range(20, 600, 20)) for row in loss]
    assert np.mean(broken) <= 0.05
    assert mean_bound(1 - loss[0], 0.05) > 0.9


@given(st.lists(st.floats(0, 1), min_size=1, max_size=60))
def test_the_mean_of_a_whole_population_is_known(values):
    assert mean_bound(values, 0.05, len(values)) == pytest.approx(np.mean(values), abs=1e-6)


def test_the_bound_of_the_mean_of_a_population_is_rarely_ever_above_it_and_higher_than_of_independent_draws():
    rng = np.random.default_rng(8)
    population = 1 - np.where(np.arange(200) < 10, 0.6, 0)  # mean .97
    drawn = np.stack([rng.permutation(population) for _ in range(1_000)])
    broken = [any(mean_evidence(row[:n], 0.97, 200) >= 20 for n in range(10, 200, 10)) for row in drawn]
    assert np.mean(broken) <= 0.05
    assert mean_bound(drawn[0][:150], 0.05, 200) > mean_bound(drawn[0][:150], 0.05)


def test_evidence_of_a_share_is_that_of_the_bets_of_confseq(monkeypatch):
    monkeypatch.setattr(np, "float_", np.float64, raising=False)  # confseq 0.0.11 precedes NumPy 2
    betting = pytest.importorskip("confseq.betting", reason="confseq is not installed: it has no wheel")
    rng = np.random.default_rng(6)
    values, share = (rng.random(300) < 0.995).astype(float), 0.98
    chances = (np.arange(400) + 0.5) / 400  # quantiles of the prior above the share
    bets = (beta.ppf(beta.cdf(share, 500, 1) + chances * beta.sf(share, 500, 1), 500, 1) - share) / share / (1 - share)
    wealth = [
        betting.betting_mart(values, share, lambdas_fn_positive=lambda *_, bet=bet: bet, theta=1, trunc_scale=1)[-1]
        for bet in np.minimum(bets, 1 / share)
    ]
    right = int(values.sum())
    assert share_evidence(right, len(values) - right, share) == pytest.approx(np.mean(wealth), rel=0.02)
