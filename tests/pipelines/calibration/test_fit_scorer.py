import importlib.resources
import json

import lightgbm
import numpy as np
import pytest
from threadpoolctl import threadpool_limits

from pipelines.calibration.fit_scorer import learn
from pipelines.linkage.comparison.cosine_features import COSINES
from pipelines.linkage.comparison.pair_features import NAMES
from pipelines.linkage.scoring.shipped_weights import load_model, model_of
from schemas.errors import QprError

NONE = np.zeros(0, np.int64)


def labelled(rows: int = 2_000) -> tuple[np.ndarray, np.ndarray]:
    random = np.random.default_rng(0)
    features = random.random((rows, len(NAMES))).astype(np.float32)
    same = random.random(rows) < 1 / (1 + np.exp(-8 * (features[:, 0] + features[:, 2] - 1)))
    return features, same


@pytest.mark.parametrize("kind", ["boosted", "logistic"])
def test_what_is_learned_survives_json_and_is_calibrated(kind) -> None:
    features, same = labelled()
    saved = json.loads(json.dumps(learn(features, same, kind=kind, rounds=40)))
    probability = model_of(saved, source="test").pairs.probability(features, NONE)
    likely = probability > 0.7
    assert abs(probability[likely].mean() - same[likely].mean()) < 0.1
    assert np.mean((probability > 0.5) == same) > 0.8


def test_boosted_weights_are_the_text_of_a_lightgbm_model() -> None:
    features, same = labelled()
    saved = learn(features, same, kind="boosted", rounds=15)
    theirs = lightgbm.Booster(model_str=saved["trees"]).predict(features)
    assert np.abs(model_of(saved, source="test").pairs.probability(features, NONE) - theirs).max() < 0.003


def test_trees_for_other_features_than_stated_are_refused() -> None:
    features, same = labelled(500)
    saved = learn(features, same, kind="boosted", rounds=2)
    other = saved["trees"].replace(" grams ", " clams ")
    with pytest.raises(QprError, match=r"^mine\.json: trees: of other features"):
        model_of(saved | {"trees": other}, source="mine.json")


def test_weights_for_other_features_are_refused() -> None:
    features, same = labelled(500)
    saved = learn(features, same, kind="logistic") | {"features": ["stems"]}
    with pytest.raises(QprError, match=r"mine\.json: logistic\.features: learned from other features"):
        model_of(saved, source="mine.json")


def test_extra_columns_are_those_of_the_cosine() -> None:
    features, same = labelled(500)
    saved = learn(np.column_stack([features, features[:, : len(COSINES)]]), same, kind="logistic")
    assert tuple(saved["features"][-len(COSINES) :]) == COSINES
    assert model_of(saved, source="test").cosine


def test_shipped_weights_state_what_they_were_learned_from() -> None:
    assert 0 < load_model("boosted").threshold < 1
    assert not load_model("logistic").cosine
    folder = importlib.resources.files("pipelines.linkage.scoring") / "learned"
    trees = json.loads((folder / "boosted.json").read_text("utf-8"))["provenance"]
    assert trees["command"].startswith("python -m benchmarks.labels.learn_trees ")
    for name in ("boosted-words", "logistic"):
        told = json.loads((folder / f"{name}.json").read_text("utf-8"))["provenance"]
        assert told["command"].startswith("python -m benchmarks.labels.learn_weights learn ")
        assert all(len(digest) == 64 for digest in told["sha256_of_rows"].values())


@pytest.mark.parametrize("kind", ["boosted", "logistic"])
def test_the_same_pairs_give_the_same_bytes_on_any_number_of_threads(kind) -> None:
    features, same = labelled()
    with threadpool_limits(2):
        first = json.dumps(learn(features, same, kind=kind, rounds=5))
    with threadpool_limits(1):
        assert json.dumps(learn(features, same, kind=kind, rounds=5)) == first


def test_a_pair_counts_by_its_weight() -> None:
    features, same = labelled()
    wrong = np.concatenate([same, ~same])
    weight = np.repeat([1.0, 1e-6], len(same))
    saved = learn(np.vstack([features, features]), wrong, kind="logistic", weight=weight)
    probability = model_of(saved, source="test").pairs.probability(features, NONE)
    assert np.mean((probability > 0.5) == same) > 0.8
