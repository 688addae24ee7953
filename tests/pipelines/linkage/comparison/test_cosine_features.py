import itertools

import numpy as np
import pytest

from pipelines.linkage.comparison.cosine_features import COSINES, cosine_features

ANSWERS = np.array([0, 0, 1, 1, 1, 1])
LEFT, RIGHT = np.array([(0, 1), *itertools.combinations(range(2, 6), 2)]).T


def columns(vectors: np.ndarray) -> dict[str, np.ndarray]:
    return dict(zip(COSINES, cosine_features(vectors, LEFT, RIGHT, answer_of_row=ANSWERS).T, strict=True))


def test_each_cosine_is_compared_with_those_of_the_best_other_partner() -> None:
    vectors = np.random.default_rng(0).normal(size=(6, 5))
    found = columns(vectors)
    wanted = np.array([a @ b / np.linalg.norm(a) / np.linalg.norm(b) for a, b in zip(vectors[LEFT], vectors[RIGHT])])  # noqa: B905
    assert found["cosine"] == pytest.approx(wanted, abs=1e-6)
    for pair, (i, j) in enumerate(zip(LEFT, RIGHT, strict=True)):
        if ANSWERS[i] == 1:
            best = [max(wanted[((r == LEFT) | (r == RIGHT)) & (np.arange(len(LEFT)) != pair)]) for r in (i, j)]
            assert found["cosine_margin_min"][pair] == pytest.approx(wanted[pair] - max(best), abs=1e-5)
            assert found["cosine_margin_max"][pair] == pytest.approx(wanted[pair] - min(best), abs=1e-5)
    inside = wanted[1:]
    assert found["cosine_above_answer"][1:] == pytest.approx((inside - inside.mean()) / inside.std(), abs=1e-4)


def test_an_answer_of_one_pair_has_nothing_to_compare_with() -> None:
    found = columns(np.ones((6, 3)))
    assert found["cosine_above_answer"].tolist() == [0] * len(LEFT)
    assert (found["cosine"][0], found["cosine_margin_min"][0]) == (pytest.approx(1), pytest.approx(2))


def test_zero_vectors_and_no_pairs_are_no_error() -> None:
    assert np.isfinite(cosine_features(np.zeros((6, 2)), LEFT, RIGHT, answer_of_row=ANSWERS)).all()
    none = np.zeros(0, np.int64)
    assert cosine_features(np.zeros((0, 2)), none, none, answer_of_row=none).shape == (0, len(COSINES))


@pytest.mark.parametrize("size", [1, 7])
def test_a_cosine_does_not_depend_on_what_else_is_compared(size):
    vectors = np.random.default_rng(0).normal(size=(60, 300)).astype(np.float32)
    left, right = np.triu_indices(60, 1)
    answers = np.zeros(60, np.int64)
    together = cosine_features(vectors, left, right, answer_of_row=answers)[:, 0]
    parts = [slice(start, start + size) for start in range(0, len(left), size)]
    alone = [cosine_features(vectors, left[part], right[part], answer_of_row=answers)[:, 0] for part in parts]
    assert np.concatenate(alone).tobytes() == together.tobytes()
