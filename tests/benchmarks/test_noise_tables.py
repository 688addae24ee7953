from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from benchmarks import noise_tables
from benchmarks.noise_tables import LOSSES, SHARES, heading, noisy, picture, report
from benchmarks.paper_tables import FIGURES, SPLITS
from schemas.artifacts.manifest import Manifest
from schemas.artifacts.writer import Output


def figures(mrr: float) -> dict[str, Any]:
    metrics = dict.fromkeys(FIGURES, mrr)
    of_splits = {split: {"per_question": metrics, "per_pair": metrics} for split in SPLITS}
    return {**of_splits, "best_epoch": 2, "epochs": 2, "cpu_minutes": 1.0}


def test_the_picture_is_a_png_that_the_figures_alone_decide() -> None:
    found, again, other = (
        picture({share: {name: figures(top - share) for name in LOSSES} for share in SHARES}) for top in (0.7, 0.7, 0.8)
    )
    assert found.startswith(b"\x89PNG")
    assert found == again != other


def test_a_heading_says_how_many_pairs_are_wrong() -> None:
    shown = heading(0.3, {"pairs_train": 1000, "pairs_train_wrong": 288})
    assert shown == "### 30% of the clusters wrong: 29% of 1,000 train pairs"


def test_every_share_and_loss_is_a_row_of_a_dataset_of_its_own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    trained: list[tuple[str, Path, tuple[str, ...]]] = []

    def note(dataset: str, work: Path, options: list[str]) -> dict[str, Any]:
        trained.append((dataset, work, tuple(options)))
        return figures(0.5)

    monkeypatch.setattr(noise_tables, "trained", note)
    monkeypatch.setattr(
        noise_tables, "noisy", lambda _, folder, **__: (str(folder), {"pairs_train": 9, "pairs_train_wrong": 0})
    )
    text, found = report("clean", tmp_path, shares=SHARES, pairs=9, options=["--epochs", "2"])
    assert len(set(trained)) == len(trained) == len(SHARES) * len(LOSSES)
    assert all(options[-2:] == ("--epochs", "2") and dataset == str(work) for dataset, work, options in trained)
    assert text.count(" 2 of 2 | 1.0 |") == len(trained)
    assert [*found] == [*SHARES]
    assert all([*rows] == [*LOSSES] for rows in found.values())


def test_a_dataset_that_is_there_is_not_written_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def write(_: Any, url: str, *, share: float, pairs: int) -> Manifest:
        output = Output(url, "dataset")
        return output.publish([], inputs=[], configuration={"share": share}, counters={"pairs_train": pairs})

    monkeypatch.setattr(noise_tables, "open_dataset", lambda url: url)
    monkeypatch.setattr(noise_tables, "write_noisy", write)
    first = noisy("clean", tmp_path, share=0.3, pairs=20)
    assert first == (str(tmp_path / "dataset"), {"pairs_train": 20})
    assert noisy("clean", tmp_path, share=0.3, pairs=30) == first
