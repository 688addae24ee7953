from pathlib import Path

import pytest

from benchmarks.paper_tables import FIGURES, TABLES, line

ROWS = [options for rows in TABLES.values() for options in rows.values()]
"""What every row adds to the preset."""


def test_a_row_shows_both_splits_and_the_best_epoch() -> None:
    metrics = dict.fromkeys(FIGURES, 0.5)
    found = {split: {"per_question": metrics, "per_pair": metrics} for split in ("validation", "test")}
    shown = line("SDML", {**found, "best_epoch": 2, "epochs": 3, "cpu_minutes": 1.25})
    assert shown == f"| SDML |{' .5000 / .5000 / .5000 |' * 3} 2 of 3 | 1.2 |"


@pytest.mark.parametrize("options", ROWS, ids=" ".join)
def test_every_row_is_a_training_that_the_command_takes(qpr, options: list[str], tmp_path: Path) -> None:
    given = ["--dataset", str(tmp_path / "none"), "--output", str(tmp_path / "model"), "--preset", "paper", *options]
    done = qpr("train", *given)
    assert done.code == 1  # the options are right, the dataset is missing; wrong options are 2
