import numpy as np
import pytest

from pipelines.linkage.scoring import learned_scorers
from pipelines.linkage.scoring.learned_scorers import TREES_A_STAGE, Logistic, boosted

NONE = np.zeros(0, np.int64)


def stump(feature: int, threshold: float, low: float, high: float) -> dict[str, list[float]]:
    return {
        "feature": [feature, 0, 0], "threshold": [threshold, 0, 0], "left": [1, -1, -1], "right": [2, -1, -1],
        "value": [0, low, high],
    }  # fmt: skip


def walk(tree: dict[str, list[float]], row: np.ndarray) -> float:
    node = 0
    while tree["left"][node] >= 0:
        went_left = row[tree["feature"][node]] <= np.float32(tree["threshold"][node])
        node = tree["left"][node] if went_left else tree["right"][node]
    return tree["value"][node]


def random_tree(random: np.random.Generator, *, leaves: int, features: int) -> dict[str, list[float]]:
    tree: dict[str, list[float]] = {"feature": [0], "threshold": [0], "left": [-1], "right": [-1], "value": [0.0]}
    for _ in range(leaves - 1):
        node = int(random.choice([n for n, left in enumerate(tree["left"]) if left < 0]))
        tree["feature"][node], tree["threshold"][node] = int(random.integers(features)), float(random.normal())
        tree["left"][node], tree["right"][node] = len(tree["left"]), len(tree["left"]) + 1
        for _ in range(2):
            for name, value in {
                "feature": 0,
                "threshold": 0,
                "left": -1,
                "right": -1,
                "value": random.normal(),
            }.items():
                tree[name].append(value)
    return tree


def test_masks_find_the_leaf_that_a_walk_finds() -> None:
    random = np.random.default_rng(0)
    trees = [random_tree(random, leaves=leaves, features=4) for leaves in (1, 2, 3, 7, 15, 16, 16, 16)]
    rows = random.normal(size=(5_000, 4)).astype(np.float32)
    rows[0, :] = np.float32(trees[1]["threshold"][0])  # a value at a threshold goes left
    logits = np.array([sum(walk(tree, row) for tree in trees) for row in rows])
    expected = 1 / (1 + np.exp(-logits))
    assert np.allclose(boosted(trees, 4).probability(rows, NONE), expected)


def test_a_pair_that_is_settled_early_keeps_what_it_has_and_no_other_changes() -> None:
    random = np.random.default_rng(1)
    others = [random_tree(random, leaves=7, features=2) for _ in range(40)]
    rows = random.normal(size=(2_000, 2)).astype(np.float32)
    trees = [stump(0, 0.0, -0.07, 0.13) for _ in range(TREES_A_STAGE)] + others
    early = np.where(rows[:, 0] <= 0, -0.07, 0.13) * TREES_A_STAGE  # -7 is settled, 13 is too
    assert set(early.round().tolist()) == {-7.0, 13.0}
    assert np.allclose(boosted(trees, 2).probability(rows, NONE), 1 / (1 + np.exp(-early)))
    trees = [stump(0, 0.0, -0.17, 0.03) for _ in range(TREES_A_STAGE)] + others
    expected = [sum(walk(tree, row) for tree in trees) for row in rows]
    open_rows = rows[:, 0] > 0  # 3 after the first stage: the other trees decide
    found = boosted(trees, 2).probability(rows, NONE)
    assert np.allclose(found[open_rows], 1 / (1 + np.exp(-np.array(expected)[open_rows])))


def test_a_feature_no_tree_asks_for_changes_nothing() -> None:
    model = boosted([stump(1, 0.5, -1, 1)], 2)
    found = model.probability(np.array([[9, 0.5], [-9, 0.6]], np.float32), NONE)
    assert found == pytest.approx([1 / (1 + np.e), np.e / (1 + np.e)])


def test_trees_of_seventeen_leaves_are_refused() -> None:
    with pytest.raises(ValueError, match="17 leaves"):
        boosted([random_tree(np.random.default_rng(0), leaves=17, features=2)], 2)


def test_a_hinge_bends_the_line() -> None:
    # logit = 1 + 2 x - 3 max(x - 1, 0): at 0.5 it is 2, at 2 it is 2.
    model = Logistic(np.array([[1.0]]), np.array([2.0, -3.0]), 1.0)
    assert model.probability(np.array([[0.5], [2.0]]), NONE) == pytest.approx([1 / (1 + np.exp(-2))] * 2)


def test_features_with_few_thresholds_share_a_table(monkeypatch: pytest.MonkeyPatch) -> None:
    random = np.random.default_rng(2)
    trees = [random_tree(random, leaves=8, features=6) for _ in range(10)]
    rows = random.normal(size=(500, 6)).astype(np.float32)
    found = {}
    for most in (1, 200):
        monkeypatch.setattr(learned_scorers, "JOINED", most)
        model = boosted(trees, 6)
        assert sorted(feature for table in model.stages[0].splits for feature in table.features) == [*range(6)]
        found[len(model.stages[0].splits)] = model.probability(rows, NONE).tolist()
    assert max(found) == 6
    assert min(found) < 6
    assert found[6] == found[min(found)]
