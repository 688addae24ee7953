import itertools

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pipelines.linkage.scoring import agglomeration
from pipelines.linkage.scoring.agglomeration import agglomerate


def grouped(pairs: dict[tuple[int, int], float], *, rows: int, threshold: float = 0.5) -> list[int]:
    left, right = np.array([*pairs], np.int64).reshape(-1, 2).T
    return agglomerate(left, right, np.array([*pairs.values()]), rows=rows, threshold=threshold).tolist()


def naive(pairs: dict[tuple[int, int], float], *, rows: int, threshold: float) -> list[int]:
    """Merge the two groups with the greatest mean probability, again and again."""
    groups = [[row] for row in range(rows)]
    while len(groups) > 1:

        def mean(two: tuple[list[int], list[int]]) -> float:
            return float(np.mean([pairs.get((min(i, j), max(i, j)), 0.0) for i in two[0] for j in two[1]]))

        best = max(itertools.combinations(groups, 2), key=mean)
        if mean(best) < threshold:
            break
        groups = [group for group in groups if group not in best] + [sorted(best[0] + best[1])]
    return [next(min(group) for group in groups if row in group) for row in range(rows)]


@given(st.integers(2, 8), st.randoms(use_true_random=False), st.sampled_from([0.3, 0.5, 0.8]))
@settings(max_examples=60, deadline=None)
def test_groups_are_those_of_average_linkage_by_hand(rows: int, random, threshold: float) -> None:
    pairs = {pair: random.random() for pair in itertools.combinations(range(rows), 2) if random.random() < 0.8}
    assert grouped(pairs, rows=rows, threshold=threshold) == naive(pairs, rows=rows, threshold=threshold)


def test_a_chain_is_cut_where_complete_groups_are_not() -> None:
    # 0-1 and 2-3 are certain; 1-2 alone gives the two groups a mean of 0.9 / 4 = 0.225.
    assert grouped({(0, 1): 1, (2, 3): 1, (1, 2): 0.9}, rows=5) == [0, 0, 2, 2, 4]
    assert grouped({(0, 1): 0.9, (0, 2): 0.5, (1, 2): 0.6}, rows=3) == [0, 0, 0]


def test_the_threshold_itself_is_enough() -> None:
    assert grouped({(0, 1): 0.5}, rows=2) == [0, 0]
    assert grouped({(0, 1): 0.4999}, rows=2) == [0, 1]


def test_without_pairs_everybody_is_alone() -> None:
    assert grouped({}, rows=3) == [0, 1, 2]


def test_a_component_too_large_to_link_is_cut_at_a_higher_probability(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(agglomeration, "MOST", 3)
    chain = {(i, i + 1): 0.6 for i in range(9)} | {(0, 1): 0.99, (4, 5): 0.99}
    assert grouped(chain, rows=10) == [0, 0, 2, 3, 4, 4, 6, 7, 8, 9]


def test_certain_pairs_hold_even_a_component_too_large_to_link(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(agglomeration, "MOST", 3)
    assert grouped({(i, i + 1): 1.0 for i in range(5)}, rows=6) == [0] * 6


def test_a_group_of_two_may_be_asked_for_more_than_larger_ones() -> None:
    left, right = np.array([0, 2, 2, 3]), np.array([1, 3, 4, 4])
    probability = np.array([0.6, 0.6, 0.6, 0.6])
    wanted = {0.0: [0, 0, 2, 2, 2], 0.6: [0, 0, 2, 2, 2], 0.7: [0, 1, 2, 2, 2]}
    for least, groups in wanted.items():
        found = agglomerate(left, right, probability, rows=5, threshold=0.5, least_of_two=least)
        assert found.tolist() == groups
