import itertools

import numpy as np
import pytest

from pipelines.linkage.comparison import neighbourhood as neighbours
from pipelines.linkage.comparison.neighbourhood import Neighbours
from schemas.compiled import SWITCH

SIZES = [2, 3, 3, 1, 6, 9]


def graph(*, share: float = 1.0) -> Neighbours:
    """Return answers of `SIZES` questions; of those of more than three only a share of the pairs is given."""
    random = np.random.default_rng(0)
    pairs, first = [], 0
    for size in SIZES:
        every = list(itertools.combinations(range(first, first + size), 2))
        pairs += [pair for pair in every if size <= 3 or random.random() < share]
        first += size
    left, right = np.array(pairs).T
    alike = random.integers(0, 6, len(left)) / 5  # with ties
    return Neighbours(left, right, alike, np.repeat(np.arange(len(SIZES)), SIZES))


def resemblances(pairs: Neighbours) -> np.ndarray:
    rows = len(pairs.answer_of_row)
    square = np.zeros((rows, rows))
    square[pairs.left, pairs.right] = square[pairs.right, pairs.left] = pairs.alike
    return square


@pytest.mark.parametrize("share", [1.0, 0.5])
def test_profiles_are_compared_over_the_other_questions_of_the_answer(share: float) -> None:
    pairs = graph(share=share)
    square = resemblances(pairs)
    correlation, difference = pairs.profiles()
    for place, (i, j) in enumerate(zip(pairs.left, pairs.right, strict=True)):
        inside = np.flatnonzero(pairs.answer_of_row == pairs.answer_of_row[i])
        others = inside[(inside != i) & (inside != j)]
        one, two = square[i, others], square[j, others]
        wanted = np.corrcoef(one, two)[0, 1] if len(others) > 1 and one.std() > 0 and two.std() > 0 else 0
        assert correlation[place] == pytest.approx(wanted, abs=1e-6)
        root = np.sqrt(np.mean((one - two) ** 2)) if len(others) else 0
        assert difference[place] == pytest.approx(root, abs=1e-6)


def test_a_rival_is_the_best_other_partner() -> None:
    left, right = np.array(list(itertools.combinations(range(7), 2))).T
    alike = np.random.default_rng(0).integers(0, 5, len(left)) / 4  # with ties
    found = Neighbours(left, right, alike, np.zeros(7, np.int64)).rivals()
    for pair, (i, j) in enumerate(zip(left, right, strict=True)):
        for row, best in ((i, found[0][pair]), (j, found[1][pair])):
            others = ((left == row) | (right == row)) & (np.arange(len(left)) != pair)
            assert best == alike[others].max()


@pytest.mark.parametrize("share", [1.0, 0.5])
def test_figures_of_some_pairs_are_those_among_all(share: float) -> None:
    for name in ("rivals", "profiles", "standing"):
        whole = np.stack(getattr(graph(share=share), name)())
        some = np.stack(getattr(graph(share=share), name)(slice(5, 30)))
        assert some.tobytes() == whole[:, 5:30].tobytes()


def test_batches_change_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    whole = graph().profiles()
    monkeypatch.setattr(neighbours, "DENSE", 40)
    assert np.allclose(whole, graph().profiles())


def test_compiled_loops_give_the_same_bits(monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("pipelines.neighbours.numba_kernels", reason="numba is not installed")
    pytest.importorskip("pipelines.linkage.comparison.numba_kernels")
    found = []
    for switch in ("0", "1"):
        monkeypatch.setenv(SWITCH, switch)
        pairs = graph(share=0.5)
        found.append(np.stack([*pairs.profiles(), *pairs.standing()]).tobytes())
    assert found[0] == found[1]


@pytest.mark.parametrize("share", [1.0, 0.5])
def test_standing_counts_the_partners_that_are_resembled_more(share: float) -> None:
    pairs = graph(share=share)
    square = resemblances(pairs)
    for place, (i, j, alike) in enumerate(zip(pairs.left, pairs.right, pairs.alike, strict=True)):
        for row, better in ((i, pairs.standing()[0]), (j, pairs.standing()[1])):
            assert better[place] == np.count_nonzero(square[row] > alike)


def test_two_questions_alone_have_no_neighbours() -> None:
    lonely = Neighbours(np.array([0]), np.array([1]), np.array([0.5]), np.array([0, 0]))
    assert [values.tolist() for values in (*lonely.profiles(), *lonely.standing())] == [[0], [0], [0], [0]]
