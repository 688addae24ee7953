import itertools

import numpy as np

from pipelines.linkage.candidates import ALL_PAIRS, RAREST, WINDOW, candidates
from pipelines.linkage.wording import wording
from pipelines.token_weights import merge


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
    city = [text.split()[-1] for text in members["text"].to_pylist()]
    found = set(pairs_of(members, [rows]))
    assert {(i, j) for i, j in itertools.combinations(range(rows), 2) if city[i] == city[j]} <= found
    assert len(found) <= rows * RAREST * WINDOW


def test_pairs_grow_with_the_questions_and_not_with_their_square(members_of) -> None:
    members = members_of([f"what is number {i}" for i in range(3_000)])
    assert len(pairs_of(members, [3_000])) <= 3_000 * RAREST * WINDOW  # of 4.5 million
