import json
from pathlib import Path

import pytest

from benchmarks.training.paper_tables import TABLES, trained
from schemas.errors import QprError

ROWS = [options for rows in TABLES.values() for options in rows.values()]
"""Options that a row adds to the preset."""


@pytest.mark.parametrize("options", ROWS, ids=" ".join)
def test_every_row_is_a_training_that_the_command_takes(qpr, options: list[str], tmp_path: Path) -> None:
    given = ["--dataset", str(tmp_path / "none"), "--output", str(tmp_path / "model"), "--preset", "paper", *options]
    done = qpr("train", *given)
    assert done.code == 1  # the options are right, the dataset is missing; wrong options are 2


def test_figures_of_another_dataset_are_refused(make_training_data, tmp_path: Path) -> None:
    dataset, work = str(tmp_path / "d"), tmp_path / "work"
    make_training_data(dataset, [("train", ["how do i pay", "pay it"]), ("test", ["who are you", "you are who"])])
    work.mkdir()
    (work / "paper.json").write_text(json.dumps({"epochs": 1, "dataset_digest": "of another one"}))
    with pytest.raises(QprError, match=r"paper\.json: has figures of another dataset"):
        trained(dataset, work, [])
