"""The versions of a warehouse on S3 after several runs of `qpr nightly` for the same date, begun almost together.

Run: python -m tests.faults.night_races [--races 20] [--writers 3] [--seed 0]

The second night of a small warehouse is run by several processes, which begin within a few seconds, so that a run comes
before, during or after the lock of another one, or just before its publication. S3 is the server of
`tests.faults.races`. Then one run has published version 2, every other one was refused with the advice to run it again
or found nothing new, every file of the version is whole, and one more run publishes nothing.
"""

from __future__ import annotations

import collections
import contextlib
import io
import json
import random
import sys
import tempfile
import time
from collections.abc import Iterable, Iterator
from pathlib import Path

from schemas.artifacts import storage
from schemas.errors import QprError
from tests.faults.kills import load_libraries
from tests.faults.night_kills import DAYS, command, state
from tests.faults.races import _join, _started, serving
from tests.faults.reporting import report
from tests.jobs.nightly.conftest import rows_of

SPREADS_S = (0.0, 1.0, 20.0)
"""Within how many seconds the runs of a race begin; a night on this server takes five to ten."""

ENDS = {
    "another run is writing there": "refused",
    "was published by another command meanwhile": "refused",
    "nothing new": "unchanged",
    "published: version 2": "published",
}


def night(warehouse: str, day: int) -> str:
    """Run a night in this process and return how it ended."""
    from jobs.cli import main

    printed = io.StringIO()
    with contextlib.redirect_stdout(printed), contextlib.redirect_stderr(printed), contextlib.suppress(SystemExit):
        main(command(warehouse, DAYS[day], "never"))
    ends = [end for words, end in ENDS.items() if words in printed.getvalue()]
    return ends[-1] if ends else f"unclear: {printed.getvalue()[-300:]!r}"


def prepare(warehouse: str) -> None:
    """Write two drops and run the first night."""
    for day in DAYS:
        rows = "".join(json.dumps(row) + "\n" for row in rows_of(day, seed=0, count=200))
        storage.write_bytes(storage.join(warehouse, "events", f"date={day}", "log.jsonl"), rows.encode())
    night(warehouse, 0)


def write(warehouse: str, told: Path, delay_s: float) -> None:
    """Run the second night after a delay and note how it ended."""
    time.sleep(delay_s)
    told.write_text(night(warehouse, 1))


def judge(warehouse: str, ends: Iterable[str]) -> dict[str, int]:
    """Return the counts of the ends, and whether one run has won and its version is whole."""
    counts = collections.Counter(end.partition(":")[0] for end in ends)
    try:
        number, _ = state(warehouse)
    except QprError as error:
        print(error, file=sys.stderr)
        number = 0
    whole = number == 2 and counts["published"] == 1 and night(warehouse, 1) == "unchanged"
    return {**counts, "one_winner" if whole else "wrong": 1}


def measure(*, races: int = 20, writers: int = 3, seed: int = 0) -> Iterator[dict[str, int]]:
    """Yield the counts of all races."""
    load_libraries()
    names = ("published", "refused", "unchanged", "unclear", "one_winner", "wrong")
    counts: collections.Counter[str] = collections.Counter(dict.fromkeys(names, 0))
    draw = random.Random(seed)
    with serving(), tempfile.TemporaryDirectory() as folder:
        for race in range(races):
            warehouse, told = f"s3://bucket/w{race}", [Path(folder, f"writer{n}") for n in range(writers)]
            _join([_started(lambda w=warehouse: prepare(w))])  # type: ignore[misc]
            spread = SPREADS_S[race % len(SPREADS_S)]
            delays = [draw.uniform(0, spread) for _ in told]
            _join([_started(lambda a=(warehouse, *one): write(*a)) for one in zip(told, delays, strict=True)])  # type: ignore[misc]
            judged = Path(folder, "judged")

            def look(w: str = warehouse, told: list[Path] = told, judged: Path = judged) -> None:
                judged.write_text(json.dumps(judge(w, [one.read_text() for one in told])))

            _join([_started(look)])
            for one in told:
                print(one.read_text(), file=sys.stderr) if one.read_text().startswith("unclear") else None
                one.unlink()
            counts.update(json.loads(judged.read_text()))
    yield {"races": races, "writers": writers, **counts}


if __name__ == "__main__":
    report(measure, "wrong", "unclear")
