from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pytest

from benchmarks.logs.noisy_clusters import write_noisy
from benchmarks.retrieval.figures import METRICS
from benchmarks.training import wrong_labels
from benchmarks.training.paper_tables import SPLITS
from benchmarks.training.wrong_labels import LOSSES, SHARES, fit, heading, noisy, picture, sampled_pairs, train
from schemas.artifacts.dataset import Dataset, open_dataset
from schemas.artifacts.manifest import Manifest, Source
from schemas.artifacts.writer import Output
from schemas.errors import QprError


def figures(mrr: float) -> dict[str, Any]:
    metrics = dict.fromkeys(METRICS, mrr)
    of_splits = {split: {"per_question": metrics, "per_pair": metrics} for split in SPLITS}
    return {**of_splits, "best_epoch": 2, "epochs": 2, "cpu_minutes": 1.0}


def test_the_picture_is_a_png_that_the_figures_alone_decide() -> None:
    found, again, other = (
        picture({share: {name: figures(top - share) for name in LOSSES} for share in SHARES}) for top in (0.7, 0.7, 0.8)
    )
    assert found.startswith(b"\x89PNG")
    assert found == again != other


def test_a_heading_has_the_share_of_wrong_pairs() -> None:
    shown = heading(0.3, {"pairs_train": 1000, "pairs_train_wrong": 288})
    assert shown == "30% of the clusters wrong: 29% of 1,000 train pairs"


def test_every_share_and_loss_is_a_row_of_a_dataset_of_its_own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    trained: list[tuple[str, Path, tuple[str, ...]]] = []

    def note(dataset: str, work: Path, options: list[str]) -> dict[str, Any]:
        trained.append((dataset, work, tuple(options)))
        return figures(0.5)

    monkeypatch.setattr(wrong_labels, "trained", note)
    monkeypatch.setattr(
        wrong_labels, "noisy", lambda _, folder, **__: (str(folder), {"pairs_train": 9, "pairs_train_wrong": 0})
    )
    train("clean", tmp_path, shares=[*SHARES], pairs=9)
    assert len(set(trained)) == len(trained) == len(SHARES) * len(LOSSES)
    assert all(options[-2:] == ("--epochs", "2") and dataset == str(work) for dataset, work, options in trained)


def test_a_dataset_that_is_there_is_not_written_again(
    make_training_data: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    written: list[str] = []

    def write(clean: Dataset, url: str, *, share: float, pairs: int) -> Manifest:
        written.append(url)
        inputs = [Source(url=clean.url, digest=clean.manifest.digest)]
        configuration = {"share": share, "pairs": pairs}
        return Output(url, "dataset").publish(
            [], inputs=inputs, configuration=configuration, counters={"pairs_train": pairs}
        )

    monkeypatch.setattr(wrong_labels, "write_noisy", write)
    clean, other = str(tmp_path / "clean"), str(tmp_path / "other")
    for url, question in ((clean, "how do i pay"), (other, "how do i leave")):
        make_training_data(url, [("train", [question, "do it"]), ("test", ["who are you", "you are who"])])
    first = noisy(clean, tmp_path, share=0.3, pairs=20)
    assert first == (str(tmp_path / "dataset"), {"pairs_train": 20})
    assert noisy(clean, tmp_path, share=0.3, pairs=20) == first
    for dataset, share, pairs in ((clean, 0.3, 30), (clean, 0.5, 20), (other, 0.3, 20)):
        with pytest.raises(QprError, match="with other options"):
            noisy(dataset, tmp_path, share=share, pairs=pairs)
    assert written == [str(tmp_path / "dataset")]


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
