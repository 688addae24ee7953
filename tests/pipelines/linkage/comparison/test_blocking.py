import collections
import itertools

import numpy as np

from pipelines.linkage.comparison import blocking
from pipelines.linkage.comparison.blocking import (
    ALL_PAIRS,
    RAREST,
    SAMPLED,
    WINDOW,
    candidates,
    sampled,
    with_all_pairs_of,
)
from pipelines.linkage.comparison.tokenization import wording
from pipelines.questions.token_frequencies import merge


def pairs_of(members, sizes: list[int]) -> list[tuple[int, int]]:
    words = wording(members["text"], np.repeat(np.arange(len(sizes)), sizes), merge([]))
    left, right = candidates(np.array(sizes), words.stems)
    assert (np.diff(left) >= 0).all()
    return list(zip(left.tolist(), right.tolist(), strict=True))


def test_small_answers_are_compared_in_full_and_never_with_one_another(members_of) -> None:
    members = members_of(["a b", "c d", "e f"], ["g"], ["a b", "c d"])
    assert pairs_of(members, [3, 1, 2]) == [(0, 1), (0, 2), (1, 2), (4, 5)]


def test_large_answers_are_searched_by_rare_stems(members_of) -> None:
    rows = 2 * ALL_PAIRS
    members = members_of(
        [f"what is the {form} of city{i // 2}" for i in range(rows) for form in [("age", "ages")[i % 2]]]
    )
    rows_of = collections.defaultdict(list)
    for row, text in enumerate(members["text"].to_pylist()):
        rows_of[text.split()[-1]].append(row)
    found = set(pairs_of(members, [rows]))
    assert len(rows_of) == ALL_PAIRS
    assert {pair for of_city in rows_of.values() for pair in itertools.combinations(of_city, 2)} <= found
    assert len(found) <= rows * RAREST * WINDOW


def test_pairs_grow_with_the_questions_and_not_with_their_square(members_of) -> None:
    members = members_of([f"what is number {i}" for i in range(3_000)])
    assert len(pairs_of(members, [3_000])) <= 3_000 * RAREST * WINDOW  # of 4.5 million


def test_a_component_is_completed_and_pairs_between_components_stay() -> None:
    left, right = with_all_pairs_of(np.array([4, 1, 4, 1, 4]), np.array([0, 0]), np.array([1, 2]))
    assert list(zip(left.tolist(), right.tolist(), strict=True)) == [(0, 1), (0, 2), (0, 4), (1, 3), (2, 4)]


def test_large_answers_alone_are_sampled_and_each_question_as_often() -> None:
    sizes = [3, ALL_PAIRS + 1, 2, 2 * ALL_PAIRS]
    answer = np.repeat(np.arange(len(sizes)), sizes)
    left, right = sampled(np.array(sizes))
    assert (left < right).all()
    assert (answer[left] == answer[right]).all()
    times = np.bincount(np.concatenate([left, right]), minlength=len(answer))
    assert set(times[np.isin(answer, [1, 3])].tolist()) == {2 * SAMPLED}
    assert not times[np.isin(answer, [0, 2])].any()
    assert len(set(zip(left.tolist(), right.tolist(), strict=True))) == len(left)


def test_of_a_very_large_answer_some_questions_are_sampled(monkeypatch) -> None:
    monkeypatch.setattr(blocking, "SAMPLED_ROWS", ALL_PAIRS + 500)
    sizes = np.array([ALL_PAIRS + 1, 2 * ALL_PAIRS])
    left, right = sampled(sizes)
    assert len(left) == SAMPLED * (ALL_PAIRS + 1 + ALL_PAIRS + 500)
    of_second = left > ALL_PAIRS
    assert right[of_second].max() == ALL_PAIRS + ALL_PAIRS + 500 + SAMPLED
