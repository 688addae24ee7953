from __future__ import annotations

from pathlib import Path

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pytest

from benchmarks.noise_fit import fit, sampled_pairs
from benchmarks.noisy_clusters import write_noisy
from schemas.artifacts.dataset import open_dataset


class Numbers:
    """An encoder of texts that are numbers."""

    def encode(self, texts: pa.ChunkedArray) -> npt.NDArray[np.float32]:
        """Return each number as a vector of one."""
        return np.array([[float(text)] for text in texts.to_pylist()], np.float32)


def test_pairs_as_far_as_random_ones_are_not_learned_and_near_ones_are() -> None:
    random = np.random.default_rng(0)
    places = random.normal(size=2000)
    right = np.arange(2000) % 2 == 0
    others = np.where(right, places + 0.01, random.normal(size=2000))  # a right pair is near, a wrong one anywhere
    pairs = pa.table({"text_1": [str(place) for place in places], "text_2": [str(place) for place in others]})
    found = fit(Numbers(), pairs, right)
    assert found.right == pytest.approx(0.0001, rel=0.05)
    assert found.wrong == pytest.approx(found.random, rel=0.2)
    assert found.right_auc > 0.98
    assert found.wrong_auc == pytest.approx(0.5, abs=0.03)
    assert np.isnan(fit(Numbers(), pairs, right | True).wrong_auc)


def test_right_pairs_are_those_of_one_cluster_before_the_noise(qpr, tmp_path: Path) -> None:
    log, made, url = str(tmp_path / "log.jsonl"), str(tmp_path / "clean"), str(tmp_path / "noisy")
    assert qpr("simulate", "--output", log, "--events", "3000").code == 0
    assert qpr("clusters", log, "--output", made).code == 0
    counters = write_noisy(open_dataset(made), url, share=0.5, pairs=100).counters
    pairs, right = sampled_pairs(open_dataset(url), open_dataset(made), sample=1000)
    assert (len(pairs), int((~right).sum())) == (100, counters["pairs_train_wrong"])
    assert 0 < right.sum() < 100
