from pathlib import Path

import pytest

from benchmarks.training.paper_tables import TABLES

ROWS = [options for rows in TABLES.values() for options in rows.values()]
"""Options that a row adds to the preset."""


@pytest.mark.parametrize("options", ROWS, ids=" ".join)
def test_every_row_is_a_training_that_the_command_takes(qpr, options: list[str], tmp_path: Path) -> None:
    given = ["--dataset", str(tmp_path / "none"), "--output", str(tmp_path / "model"), "--preset", "paper", *options]
    done = qpr("train", *given)
    assert done.code == 1  # the options are right, the dataset is missing; wrong options are 2
