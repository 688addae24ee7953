"""Worth of answers and of their kinds, from counters."""

import itertools

import numpy as np
import pytest

from pipelines.summary.worth_by_kind import (
    MANY,
    SHOWN,
    SIZES,
    as_json,
    counter,
    posterior,
    size_class,
    worth_of_answers,
    worth_of_kinds,
)
from pipelines.writing.reported import JudgedAnswer


def counters_of(shares: list[float], *, kind: str = "entity", size: int = 0) -> dict[str, int]:
    sums = {"answers": len(shares), "expected": round(1e6 * sum(shares))}
    sums["squares"] = round(1e6 * sum(share**2 for share in shares))
    return {counter(kind, size, name): value for name, value in sums.items()}


def test_a_size_class_ends_with_its_largest_size() -> None:
    assert [size_class(n) for n in (2, 3, 5, 6, 20, 21, 10**6)] == [0, 1, 1, 2, 2, 3, 3]
    assert size_class(SIZES[-1] + 1) == len(SIZES)


def test_the_prior_is_that_of_the_answers_of_the_same_kind_and_size() -> None:
    low, high = counters_of([0.1] * 50), counters_of([0.9] * 50, kind="sentence")
    both = low | high
    assert posterior(0.5, 2, "entity", both).value < 0.3 < 0.7 < posterior(0.5, 2, "sentence", both).value
    assert posterior(0.5, 2, "number", both) == posterior(0.5, 2, "id", {})  # a kind that does not occur knows nothing


def test_more_questions_outweigh_the_prior_and_narrow_the_interval() -> None:
    counters = {name: value for size in range(4) for name, value in counters_of([0.1, 0.2] * 9, size=size).items()}
    estimates = [posterior(0.8, questions, "entity", counters) for questions in (2, 5, 20, 500)]
    assert all(one.value < other.value < 0.8 for one, other in itertools.pairwise(estimates))
    assert estimates[-1].high - estimates[-1].low < estimates[0].high - estimates[0].low
    assert estimates[-1].high - estimates[-1].low > 0.3  # dependent pairs count as ten at most


def test_an_end_that_may_be_the_truth_belongs_to_the_interval() -> None:
    certain = counters_of([1.0] * 50)
    assert posterior(1.0, 2, "entity", certain).high == 1.0
    mixed = counters_of([0.0, 1.0] * 50)
    assert posterior(0.5, 2, "entity", mixed)[1:] == (0.0, 1.0)  # one pair is right or wrong
    half = posterior(0.5, 100, "entity", counters_of([0.5] * 50, size=3))
    assert 0 < half.low < 0.5 < half.high < 1


def test_intervals_contain_the_drawn_worth_of_95_percent_of_the_answers() -> None:
    generator = np.random.default_rng(0)
    worth = generator.beta(3.0, 1.0, 2_000)  # weight 4, below the maximum of a prior
    shares = generator.binomial(1, worth).astype(float)  # a pair of each answer
    counters = counters_of(shares.tolist())
    found = [posterior(share, 2, "entity", counters) for share in (0.0, 1.0)]
    inside = np.array(
        [found[int(share)].low <= drawn <= found[int(share)].high for share, drawn in zip(shares, worth, strict=True)]
    )
    assert inside.mean() >= 0.95


def test_kinds_are_listed_with_the_mean_of_their_answers() -> None:
    counters = counters_of([0.1] * 4) | counters_of([0.4] * 2, size=3) | counters_of([1.0] * 9, kind="sentence", size=1)
    sentence, entity = worth_of_kinds(counters | {"worth_pairs": 3})
    assert (sentence.kind, sentence.answers, sentence.worth.value, sentence.worth.high) == ("sentence", 9, 1.0, 1.0)
    assert (entity.kind, entity.answers) == ("entity", 6)
    assert entity.worth.value == pytest.approx(0.2)
    assert entity.worth.low < 0.2 < entity.worth.high
    assert worth_of_kinds({"rows_read": 3}) == []


def test_the_extreme_answers_of_all_shards_are_listed_once() -> None:
    judged = [JudgedAnswer(f"answer {n:02}", "entity", MANY + n % 3, n / 40) for n in range(40)]
    lowest, highest = worth_of_answers([*judged[::-1], *judged[:3]], {})
    assert [answer.answer for answer in lowest] == [f"answer {n:02}" for n in range(SHOWN)]
    assert [answer.answer for answer in highest] == [f"answer {n:02}" for n in range(39, 39 - SHOWN, -1)]
    few_lowest, few_highest = worth_of_answers(judged[:3], {})
    assert [len(few_lowest), len(few_highest)] == [2, 1]


def test_answers_of_one_worth_are_listed_with_it_and_others_in_its_order() -> None:
    alike = [JudgedAnswer(f"answer {n:02}", "entity", MANY + 9 * n, 0.98) for n in range(40)]
    ends = worth_of_answers(alike, counters_of([0.98] * 3, size=2) | counters_of([0.98] * 37, size=3))
    assert {answer.worth.value for end in ends for answer in end} == {0.98}
    mixed = [JudgedAnswer("few", "entity", MANY, 0.1), JudgedAnswer("many", "entity", 500, 0.2)]
    [low], [high] = worth_of_answers(mixed, counters_of([0.9] * 50, size=2) | counters_of([0.2] * 50, size=3))
    assert (low.worth.value, high.worth.value) == (0.1, 0.2)
    assert all(one.worth.low <= one.worth.value <= one.worth.high for one in (low, high))
    assert low.worth.high > high.worth.high  # by its prior


def test_programs_get_rounded_numbers() -> None:
    counters = counters_of([1 / 3] * 9, size=2)
    found = as_json(worth_of_kinds(counters), worth_of_answers([JudgedAnswer("a", "entity", 12, 1 / 3)], counters))
    assert found["kinds"][0] | {"low": 0, "high": 0} == {
        "kind": "entity",
        "answers": 9,
        "value": 0.3333,
        "low": 0,
        "high": 0,
    }
    assert found["lowest"][0]["questions"] == 12
    assert found["highest"] == []
