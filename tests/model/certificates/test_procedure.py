import itertools
import warnings

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import binomtest

from model.certificates.procedure import (
    THRESHOLDS,
    bound_of,
    certify,
    divide,
    further_try,
    missing_requests,
    order_thresholds,
    try_thresholds,
)
from model.certificates.settings import Promise

PROMISE = Promise(alpha=0.05, delta=0.1)


def traffic(seed, requests=3_000):
    """Return scores and wrong answers: the best are nearly always right, a part has no answer at all."""
    rng = np.random.default_rng(seed)
    scores = rng.random(requests)
    wrong = rng.random(requests) > np.where(scores > 0.5, 0.999 - 0.4 * (1 - scores) ** 2, 0.1)
    return scores, wrong


def naive_tests(scores, wrong, thresholds, alpha):
    tests = []
    for threshold in thresholds:
        answers = [bad for score, bad in zip(scores, wrong, strict=True) if score >= threshold]
        p_value = binomtest(sum(answers), len(answers), alpha, alternative="less").pvalue
        tests.append((threshold, len(answers), sum(answers), p_value))
    return tests


def test_the_tests_are_exact_binomial_tests_of_the_test_part_up_to_the_first_that_fails():
    scores, wrong = traffic(0)
    in_order = divide([f"request {n}" for n in range(len(scores))])
    outcome = certify(scores, wrong, in_order, PROMISE)
    thresholds = order_thresholds(scores[in_order], wrong[in_order], PROMISE)
    naive = naive_tests(scores[~in_order], wrong[~in_order], thresholds, 0.05)
    passed = list(itertools.takewhile(lambda test: test[3] <= 0.1, naive))
    assert 0 < outcome.passed == len(passed) < len(naive)
    np.testing.assert_allclose(outcome.tests, naive[: outcome.passed + 1])
    assert outcome.chosen == outcome.tests[-2]
    assert (outcome.order, outcome.tested) == (900, 2_100)
    assert bound_of(outcome.chosen, 0.1) <= 0.05 < bound_of(outcome.tests[-1], 0.1)


@given(st.integers(0, 40), st.sampled_from([0.01, 0.02, 0.05]), st.integers(0, 1_500))
def test_thresholds_descend_from_enough_requests_on_and_see_the_order_part_only(seed, alpha, requests):
    scores, wrong = traffic(seed, requests)
    thresholds = order_thresholds(scores, wrong, Promise(alpha=alpha, delta=0.05))
    enough = {0.01: 299, 0.02: 149, 0.05: 59}[alpha]
    assert len(thresholds) <= THRESHOLDS
    assert (len(thresholds) > 0) == (requests >= enough)
    assert (np.diff(thresholds) < 0).all()
    assert {*thresholds} <= {*scores}
    assert all((scores >= threshold).sum() >= enough for threshold in thresholds)


def test_the_order_part_decides_where_the_sequence_begins_and_ends():
    # 200 best ones are wrong too often to begin with; beyond 1,000 nothing is right
    scores = np.linspace(1, 0, 2_000)
    wrong = np.zeros(2_000, bool)
    wrong[[10, 30, 60, 90]] = wrong[1_000:] = True
    thresholds = order_thresholds(scores, wrong, Promise(alpha=0.02, delta=0.05))
    assert 200 < (scores >= thresholds[0]).sum() < 700
    assert 1_000 < (scores >= thresholds[-1]).sum() < 1_040


def test_requests_below_the_lowest_threshold_are_not_answered_and_change_nothing():
    scores, wrong = traffic(1)
    in_order = divide([str(n) for n in range(len(scores))])
    outcome = certify(scores, wrong, in_order, PROMISE, lowest=0.6)
    other = certify(scores, np.where(scores < 0.6, ~wrong, wrong), in_order, PROMISE, lowest=0.6)
    assert outcome == other
    assert outcome.tests[-1].threshold >= 0.6


def test_requests_that_a_guard_stopped_have_a_negative_score_and_are_never_answered():
    scores, wrong = traffic(2)
    stopped = np.arange(len(scores)) % 3 == 0
    in_order = divide([str(n) for n in range(len(scores))])
    outcome = certify(np.where(stopped, -1, scores), wrong, in_order, PROMISE)
    answered = ~in_order & ~stopped & (scores >= outcome.chosen.threshold)
    assert outcome.chosen.answered == answered.sum()
    assert outcome.tests[-1].threshold >= 0


@given(st.integers(0, 60), st.randoms(use_true_random=False))
def test_a_request_stays_in_its_part_wherever_it_stands(number, random):
    names = [f"request {n}" for n in range(number)]
    chosen = {name for name, ordered in zip(names, divide(names), strict=True) if ordered}
    shuffled = random.sample(names, len(names))
    assert {name for name, ordered in zip(shuffled, divide(shuffled), strict=True) if ordered} == chosen
    assert len(chosen) == int(0.3 * len(names) + 1e-9)


@settings(max_examples=12)
@given(st.integers(0, 30), st.randoms(use_true_random=False))
def test_equal_scores_count_together_whatever_the_order_of_the_rows(seed, random):
    scores, wrong = traffic(seed, 1_500)
    scores = scores.round(2)
    by_verdict, drawn = np.argsort(wrong, kind="stable"), np.array(random.sample(range(1_500), 1_500))
    orders = [by_verdict, by_verdict[::-1], drawn]
    assert len({order_thresholds(scores[rows], wrong[rows], PROMISE).tobytes() for rows in orders}) == 1
    assert len({missing_requests(scores[rows], wrong[rows], PROMISE) for rows in orders}) == 1


def test_too_few_requests_are_counted_until_the_first_threshold():
    scores, wrong = traffic(3, 100)
    assert missing_requests(scores, np.zeros(100, bool), PROMISE) == 50  # 45 show it in 30 %
    assert missing_requests(np.where(scores < 0.5, -1, scores), wrong, PROMISE) > 150
    outcome = certify(scores, wrong, divide([str(n) for n in range(100)]), PROMISE)
    assert outcome.tests == ()
    assert outcome.chosen is None


def test_as_many_further_requests_as_are_missing_mostly_suffice():
    promise = Promise(alpha=0.05, delta=0.05)
    rng = np.random.default_rng(0)
    passed = []
    for _ in range(60):
        scores, wrong = skewed(rng, 300)
        missing = missing_requests(scores, wrong, promise)
        if missing is not None:
            scores, wrong = skewed(rng, 300 + missing)
            passed.append(certify(scores, wrong, divide([str(n) for n in range(len(scores))]), promise).passed > 0)
    assert len(passed) >= 40
    assert np.mean(passed) >= 0.5


def skewed(rng, requests):
    """Return scores and wrong answers: 2 % of the better ones are wrong."""
    scores = rng.random(requests)
    return scores, rng.random(requests) < np.where(scores > 0.4, 0.02, 0.8)


def test_no_number_of_requests_suffices_where_the_best_answers_are_wrong_too_often():
    rng = np.random.default_rng(5)
    assert missing_requests(rng.random(2_000), rng.random(2_000) < 0.1, PROMISE) is None


def test_no_number_of_requests_suffices_where_none_has_the_lowest_probability():
    assert missing_requests(np.full(2_000, 0.4), np.zeros(2_000, bool), PROMISE, lowest=0.5) is None


def test_the_chances_of_all_further_tries_together_stay_below_that_of_the_first():
    tries = [PROMISE]
    while further_try(tries[-1]).delta < tries[-1].delta:
        tries.append(further_try(tries[-1]))
    assert {promise.alpha for promise in tries} == {0.05}
    assert [promise.delta for promise in tries[:3]] == [0.1, 0.05, 0.025]
    assert sum(promise.delta for promise in tries[1:-1]) < 0.1
    assert tries[-1].delta == 0.0001


def test_mapie_finds_the_same_thresholds():
    risk_control = pytest.importorskip("mapie.risk_control", reason="mapie is not installed")
    for seed in range(5):
        scores, wrong = traffic(seed)
        in_order = divide([f"{seed} {n}" for n in range(len(scores))])
        thresholds = order_thresholds(scores[in_order], wrong[in_order], PROMISE)
        controller = risk_control.BinaryClassificationController(
            lambda x: np.column_stack([1 - x[:, 0], x[:, 0]]),
            risk="precision",
            target_level=0.95,
            confidence_level=0.9,
            list_predict_params=thresholds,
            fwer_method="fixed_sequence",
        )
        tested, bad = scores[~in_order], wrong[~in_order]
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            controller.calibrate(tested[:, None], (~bad).astype(int))
        ours = try_thresholds(tested, bad, thresholds, 0.05)
        # its p-value rounds the number of wrong ones up, which adds one where 1 - precision is rounded up
        one_more = try_thresholds_with_one_more(ours)
        theirs = controller.p_values[:, 0]
        for test, p_value, rounded in zip(ours, theirs, one_more, strict=True):
            assert test.p_value * (1 - 1e-9) <= p_value <= rounded * (1 + 1e-9)
        passed = certify(scores, wrong, in_order, PROMISE).passed
        assert {*controller.valid_predict_params} <= {*thresholds[:passed]}
        assert len(controller.valid_predict_params) >= passed - 1


def try_thresholds_with_one_more(tests):
    return [binomtest(min(t.wrong + 1, t.answered), t.answered, 0.05, alternative="less").pvalue for t in tests]
