import numpy as np
import pytest

from pipelines.linkage.scoring.shipped_weights import load_model
from schemas.compiled import SWITCH

pytest.importorskip("pipelines.linkage.scoring.numba_kernels", reason="numba is not installed")


@pytest.mark.parametrize("of_words", [False, True])
@pytest.mark.parametrize("pairs", [0, 1, 511, 512, 1_300])
def test_shipped_trees_give_the_same_bits_as_numpy(monkeypatch, pairs, of_words):
    model = load_model("boosted", None)
    trees = (model.words if of_words else model).pairs
    generator = np.random.default_rng(pairs)
    columns = np.zeros((trees.features, pairs), np.float32)
    for stage in trees.stages:
        for splits in stage.splits:
            for feature, thresholds in zip(splits.features, splits.thresholds, strict=True):
                columns[feature] = generator.choice(thresholds, pairs)  # a value at a threshold goes left
                columns[feature] += generator.choice([0, 1e-3], pairs)
    found, every_third = [], np.arange(0, pairs, 3)
    for switch in ("0", "1"):
        monkeypatch.setenv(SWITCH, switch)
        added = np.zeros((len(trees.stages), pairs))
        for stage, logits in zip(trees.stages, added, strict=True):
            stage.add(columns.T, every_third, logits)
        found.append([*added, trees.probability(columns.T, np.zeros(pairs, np.int64))])
    for plain, compiled in zip(*found, strict=True):
        assert plain.tobytes() == compiled.tobytes()
    assert pairs < 100 or len(np.unique(found[0][0])) > 50
    assert not np.delete(found[0][0], every_third).any()
