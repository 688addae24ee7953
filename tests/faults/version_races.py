"""The history of a warehouse after several writers published a version at the same moment.

Run: python -m tests.faults.version_races [--races 1000] [--writers 3] [--seed 0]

Half of the races on the local disk, half on S3 (the server of `tests.faults.races`, one request at a time),
all by processes. Every writer of a race has the same parent. Then exactly one has won, its record is the current one,
byte for byte, and no older record has changed.
"""

from __future__ import annotations

import collections
import datetime
import json
import random
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from schemas.artifacts import storage
from schemas.artifacts.conditional_writes import ConflictError
from schemas.errors import QprError
from schemas.versions import history
from schemas.versions.version import Artefact, Training, Version
from tests.faults.races import _fork, _join, _started, serving
from tests.faults.reporting import report

_NAMED = Artefact(path="datasets/one", digest="0" * 64)


def record(parent: int, writer: int) -> Version:
    """Return the record of one writer."""
    day = datetime.date(2026, 11, 20)
    named = dict.fromkeys(("dataset", "model", "index", "splits", "report", "test"), _NAMED)
    training = Training(date=day, dataset=_NAMED)
    metrics = {"writer": float(writer)}
    shared: dict[str, Any] = {"date": day, "window_days": 1, "days": 1, "inputs": "0" * 64, "trained": training}
    return Version(parent=parent or None, metrics=metrics, **shared, **named)


def write(warehouse: str, races: int, writer: int, barrier: Any, folder: Path, seed: int) -> None:
    """Publish in every race as one of the writers, and note how each ended."""
    draw = random.Random(f"{seed} {writer}")
    with (folder / f"writer{writer}").open("w", buffering=1) as told:
        for number in range(races):
            barrier.wait(timeout=60)
            time.sleep(draw.choice((0, 0, draw.uniform(0, 0.004))))
            version = record(number, writer)
            try:
                history.publish(warehouse, version)
                told.write(f"{number} won {version.model_dump_json()}\n")
            except ConflictError:
                told.write(f"{number} lost\n")
            except QprError as error:
                told.write(f"{number} unclear {error}\n")


def judge(warehouse: str, races: int, folder: Path) -> collections.Counter[str]:
    """Return how many races had one winner whose record is in the history."""
    ends = collections.defaultdict(list)
    for file in folder.glob("writer*"):
        for line in file.read_text().splitlines():
            number, end = line.split(" ", 1)
            ends[int(number)].append(end)
        file.unlink()
    counts: collections.Counter[str] = collections.Counter()
    for number in range(races):
        won = [end.removeprefix("won ") for end in ends[number] if end.startswith("won ")]
        counts["unclear"] += sum(end.startswith("unclear") for end in ends[number])
        stored = history.read_version(warehouse, number + 1)
        counts["one_winner" if [stored.model_dump_json()] == won else "wrong"] += 1
    counts["wrong"] += history.numbers(warehouse) != list(range(1, races + 1))
    return counts


def measure(*, races: int = 1000, writers: int = 3, seed: int = 0) -> Iterator[dict[str, int | str]]:
    """Yield the counts of each store."""
    with serving(), tempfile.TemporaryDirectory() as temporary:
        folder = Path(temporary)
        for store, place in (("local", str(folder)), ("s3", "s3://bucket")):
            warehouse, count = storage.join(place, "w"), races // 2
            barrier = _fork.Barrier(writers)
            arguments = warehouse, count
            _join(
                [
                    _started(lambda n=n, a=arguments, b=barrier: write(*a, n, b, folder, seed))  # type: ignore[misc]
                    for n in range(writers)
                ]
            )
            judged = folder / "judged"

            def look(a: tuple[str, int] = arguments, judged: Path = judged) -> None:
                judged.write_text(json.dumps(judge(*a, folder)))

            _join([_started(look)])
            counts = json.loads(judged.read_text())
            named = {name: counts.get(name, 0) for name in ("one_winner", "unclear", "wrong")}
            yield {"store": store, "races": count, "writers": writers, **named}


if __name__ == "__main__":
    report(measure, "wrong", "unclear")
