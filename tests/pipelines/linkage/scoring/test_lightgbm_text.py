"""Trees in LightGBM's text format."""

import lightgbm
import numpy as np
import pytest

from pipelines.linkage.scoring.learned_scorers import boosted
from pipelines.linkage.scoring.lightgbm_text import trees_of
from schemas.errors import QprError

NONE = np.zeros(0, np.int64)


@pytest.fixture(scope="module")
def fitted():
    generator = np.random.default_rng(0)
    features = generator.normal(size=(2_000, 5)).astype(np.float32)
    same = features[:, 0] + features[:, 1] * features[:, 2] + generator.normal(size=2_000) > 0
    options = {"objective": "binary", "num_leaves": 15, "verbose": -1, "num_threads": 1}
    return lightgbm.train(options, lightgbm.Dataset(features, label=same), 20), features


def test_probabilities_are_those_of_lightgbm(fitted) -> None:
    model, features = fitted
    read = trees_of(model.model_to_string(), source="test")
    found = boosted(read.trees, len(read.features)).probability(features, NONE)
    assert np.abs(found - model.predict(features)).max() < 0.003  # settled pairs are not evaluated to the end


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("objective=binary", "objective=regression"),
        ("left_child=", "left_child=0 "),
        ("split_feature=", "split_feature=9"),
        ("decision_type=2", "decision_type=1"),
        ("leaf_value=", "leaf_value=nan "),
        ("threshold=", "treshold="),
        ("threshold=", "threshold=inf "),
        ("num_leaves=", "num_leaves=1"),
        ("feature_names=", "names="),
        ("\nTree=", "\nBush="),
    ],
)
def test_a_damaged_file_is_refused(fitted, old: str, new: str) -> None:
    text = fitted[0].model_to_string()
    assert old in text
    with pytest.raises(QprError, match=r"^mine\.txt: "):
        trees_of(text.replace(old, new), source="mine.txt")


def test_a_text_that_is_no_model_is_refused() -> None:
    with pytest.raises(QprError, match="no LightGBM model"):
        trees_of("hello", source="mine.txt")
