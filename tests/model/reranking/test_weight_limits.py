from __future__ import annotations

import numpy as np
import pyarrow as pa
import pytest

from model.reranking.reranker import RerankerSettings, logits, weight_shapes
from model.reranking.saved_reranker import save_reranker
from model.reranking.term_statistics import WordCounts
from model.reranking.weight_limits import LEAST_DEVIATION, unusable
from schemas.artifacts import storage
from schemas.artifacts.writer import Output
from schemas.errors import QprError

SETTINGS = RerankerSettings(model_digest="m", depth=2, hidden=6, questions=1, mean_length=1)


@pytest.fixture
def weights():
    random = np.random.default_rng(0)
    drawn = {name: random.normal(size=shape).astype(np.float32) for name, shape in weight_shapes(SETTINGS).items()}
    return drawn | {"deviation": np.full_like(drawn["mean"], LEAST_DEVIATION)}


def test_weights_as_training_writes_them_are_usable(weights):
    assert unusable(weights) is None


@pytest.mark.parametrize("number", [0, -1, 9e-7, 1e-45])
def test_a_deviation_below_the_least_is_refused(weights, number):
    weights["deviation"][3] = number
    assert unusable(weights) == "'deviation' holds a number below 1e-06"


@pytest.mark.parametrize("name", ["mean", "deviation", "hidden.weight", "hidden.bias", "out.weight"])
def test_huge_weights_are_refused_and_the_largest_usable_ones_give_finite_scores(weights, name):
    kept = weights[name].copy()
    weights[name] = np.full_like(kept, 3e38)
    assert unusable(weights) == f"{name!r} holds numbers so large that scores would not be finite"
    weights[name] = kept.copy()
    power = next(power for power in range(38, 0, -1) if usable(weights, name, kept, 10.0**power))
    assert power > 20
    table = np.random.default_rng(1).normal(size=(3, 2, len(weights["mean"]))).astype(np.float32) * 1e9
    with np.errstate(all="raise", under="ignore"):
        assert np.isfinite(logits(weights, table)).all()


def usable(weights, name, kept, factor):
    """Multiply the weights of a name and return True if they are usable."""
    with np.errstate(over="ignore"):
        weights[name] = np.clip(np.abs(kept) * np.float32(factor), 0, np.float32(3e38))
    return unusable(weights) is None


def test_unusable_weights_are_not_saved(weights, memory):
    weights["out.weight"] *= np.float32(1e37)
    output = Output(f"{memory}/r", "reranker")
    with pytest.raises(QprError, match=r"'out.weight' holds numbers so large .*, so no reranker is written"):
        save_reranker(output, SETTINGS, WordCounts.of(pa.array(["pay"])), weights, inputs=[], counters={})
    assert not storage.exists(f"{memory}/r/manifest.json")
