"""The versions of a warehouse after SIGKILL at random moments of `qpr nightly`, and after the night was run again.

Run: python -m tests.faults.night_kills [--kills 200] [--skip 0] [--seed 0] [--retrain always]

The second night of a small warehouse is killed just before a file system operation in it, all of them in random order.
Then the current version is the first or the second, and every file that it names is whole. The night is run again:
then the second version is current, with the digests of an undisturbed night, and a third run publishes nothing.
"""

from __future__ import annotations

import collections
import datetime
import itertools
import json
import random
import shutil
import signal
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Annotated, Literal

import typer

from schemas.artifacts import storage
from schemas.artifacts.manifest import read_verified
from schemas.errors import QprError
from schemas.versions import history
from schemas.versions.version import check_artefact
from tests.faults.kills import load_libraries, run
from tests.faults.reporting import report
from tests.jobs.nightly.conftest import rows_of

DAYS = (datetime.date(2025, 11, 1), datetime.date(2025, 11, 2))
SMALL = ["--epochs", "1", "--dimension", "16", "--vocabulary-size", "200", "--hash-bins", "50", "--ngram-bins", "50"]
SMALL += ["--shards", "1", "--split-salt", "another"]


def command(warehouse: str | Path, day: datetime.date, retrain: str) -> list[str]:
    """Return the words of a night."""
    return ["nightly", "--warehouse", str(warehouse), "--date", str(day), "--retrain", retrain, *SMALL]


def state(warehouse: str | Path) -> tuple[int, tuple[str, ...]]:
    """Return the current version and the digests of its artefacts, every file of which is verified.

    Raises:
        QprError: a record or an artefact cannot be read.
    """
    found = history.current(str(warehouse))
    if found is None:
        return 0, ()
    number, version = found
    for artefact, kind in version.artefacts.items():
        manifest = check_artefact(str(warehouse), artefact, kind, version=f"version {number}")
        for file in manifest.files:
            read_verified(storage.join(str(warehouse), artefact.path), file)
    parts = (version.dataset, version.model, version.index, version.splits)
    return number, tuple(part.digest for part in parts)


def measure(
    *,
    kills: int = 200,
    skip: Annotated[int, typer.Option(help="Kills of this seed that another run has done.")] = 0,
    seed: int = 0,
    retrain: Annotated[Literal["never", "always"], typer.Option(help="Train in the killed night.")] = "never",
) -> Iterator[dict[str, int]]:
    """Yield how often which version was current after a kill, and how often a rerun differed."""
    load_libraries()
    counts = collections.Counter(dict.fromkeys(("killed", "first", "second", "broken", "rerun_differs"), 0))
    with tempfile.TemporaryDirectory() as folder:
        warehouse, saved = Path(folder) / "warehouse", Path(folder) / "saved"
        for day in DAYS:
            (warehouse / "events" / f"date={day}").mkdir(parents=True)
            rows = "".join(json.dumps(row) + "\n" for row in rows_of(day, seed=0, count=200))
            (warehouse / "events" / f"date={day}" / "log.jsonl").write_text(rows)
        assert run(command(warehouse, DAYS[0], retrain), warehouse).code == 0, (Path(folder) / "log").read_text()
        shutil.copytree(warehouse, saved)
        first, night = state(warehouse), command(warehouse, DAYS[1], retrain)
        whole = run(night, warehouse)
        assert whole.code == 0, (Path(folder) / "log").read_text()
        second = state(warehouse)
        assert (first[0], second[0]) == (1, 2)
        operations = list(range(1, whole.operations + 1))
        random.Random(seed).shuffle(operations)
        for before in itertools.islice(itertools.cycle(operations), skip, skip + kills):
            shutil.rmtree(warehouse)
            shutil.copytree(saved, warehouse)
            counts["killed"] += run(night, warehouse, before=before).code == -signal.SIGKILL
            try:
                counts[{first: "first", second: "second"}.get(state(warehouse), "broken")] += 1
            except QprError as error:
                counts["broken"] += 1
                print(f"killed before operation {before}: {error}", file=sys.stderr)
            codes = [run(night, warehouse).code for _ in range(2)]
            counts["rerun_differs"] += codes != [0, 0] or state(warehouse) != second
    yield {"kills": kills, "operations": whole.operations, **counts}


if __name__ == "__main__":
    report(measure, "broken", "rerun_differs")
