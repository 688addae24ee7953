"""CPU time of the steps of `qpr nightly` from night to night, beside a new build of the same index.

Run: python -m benchmarks.pipelines.nights --nights 30 --events 4000
     python -m benchmarks.pipelines.nights --nights 30 --first 29 --events 200000 --no-rebuilds

A simulated log is divided by day, and each night adds a day. The nights run in this process, so that start-up, the same
each night, does not hide growth; two nights of `WARM_EVENTS` rows run before, so that no night pays for code that is
loaded once. The encoder is kept after the first night (``--retrain never``). "rebuilt" is what the index of that night
costs when all its questions are encoded and its ways of searching are measured again, as a night without an index to
start from does. ``of_night_2`` is the cost of a night divided by that of the second one.
"""

from __future__ import annotations

import collections
import datetime
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Annotated, Any

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
import typer

from benchmarks.cli import AsJson, Report, Seed, run
from benchmarks.measure import cpu_ms, simulate
from jobs.nightly import flow
from jobs.nightly.gate.settings import GateSettings
from jobs.nightly.outcome import Outcome
from jobs.nightly.settings import NightSettings, NightTerms
from jobs.nightly.warehouse import open_warehouse
from jobs.options.encoder_training import EncoderTraining
from jobs.workflows.indexing import build_index
from pipelines.engine.runner import parse_options
from pipelines.graphs.settings import ClustersConfig, IndexConfig
from schemas.artifacts.manifest import read_manifest
from schemas.versions.version import Version

WARM_EVENTS = 20_000
"""More questions than those up to which all pairs are compared and vectors have no codes."""

STEPS = {"ingest_days": "ingest", "fold_days": "fold", "index_of_night": "index", "write_report": "report"}


def divide(log: str, warehouse: Path) -> list[str]:
    """Write the rows of each day as a drop and return the days."""
    rows = pq.read_table(log)
    of_row = pc.strftime(rows["timestamp"], "%Y-%m-%d")
    days: list[str] = sorted(pc.unique(of_row).to_pylist())
    for day in days:
        folder = warehouse / "events" / f"date={day}"
        folder.mkdir(parents=True)
        pq.write_table(rows.filter(pc.equal(of_row, pa.scalar(day))), folder / "log.parquet")
    return days


def timed_steps(spent: collections.Counter[str]) -> None:
    """Add the CPU seconds of the steps of a night, by name, to ``spent`` from now on."""

    def timed(name: str, step: Callable[..., Any]) -> Callable[..., Any]:
        def call(*arguments: Any, **options: Any) -> Any:
            began = time.process_time()
            try:
                return step(*arguments, **options)
            finally:
                spent[name] += time.process_time() - began  # type: ignore[assignment]

        return call

    for function, name in STEPS.items():
        setattr(flow, function, timed(name, getattr(flow, function)))


def rebuild(warehouse: Path, version: Version, folder: str) -> float:
    """Return the CPU seconds of a new build of a version's index."""
    questions, model = (str(warehouse / artefact.path) for artefact in (version.dataset, version.model))
    output, options = f"{folder}/rebuilt", parse_options([])

    def build() -> None:
        build_index([questions], IndexConfig(), model=model, output=output, overwrite=True, options=options, show=False)

    return cpu_ms(build) / 1_000


def run_nights(
    warehouse: Path,
    terms: NightTerms,
    *,
    nights: int,
    events: int,
    seed: int,
    first: int = 1,
    last: int | None = None,
    spent: collections.Counter[str] | None = None,
) -> Iterator[tuple[int, float, Outcome]]:
    """Yield number of days, CPU seconds and outcome of each night of a simulated log.

    Args:
        warehouse: folder to make.
        terms: of all nights.
        nights: number of days of the log.
        events: rows of a day.
        seed: of the log.
        first: number of days of the first night.
        last: night to end with; None: the last one of the log.
        spent: is cleared before each night.
    """
    log = simulate(warehouse.parent, events=nights * events, seed=seed, options=("--days", nights))
    days = divide(log, warehouse)
    open_warehouse(str(warehouse))
    dates = [datetime.date.fromisoformat(day) for day in days]
    for number in range(first, (last or nights) + 1):
        if spent is not None:
            spent.clear()
        began = time.process_time()
        outcome = flow.run_night(
            str(warehouse), dates[:first] if number == first else dates[number - 1 : number], terms
        )
        yield number, time.process_time() - began, outcome


def main(
    nights: Annotated[int, typer.Option(help="Number of nights, and days of the log.", min=2)] = 5,
    events: Annotated[int, typer.Option(help="Rows of a day.")] = 20_000,
    epochs: Annotated[int, typer.Option(help="Epochs of the first night's training.")] = 1,
    window: Annotated[int, typer.Option(help="Days of the window.")] = 365,
    first: Annotated[int, typer.Option(help="Number of days of the first night.", min=1)] = 1,
    last: Annotated[int | None, typer.Option(help="Night to end with; default: the last one.", min=1)] = None,
    seed: Seed = 0,
    rebuilds: Annotated[bool, typer.Option(help="Build the index of each night again too.")] = True,
    as_json: AsJson = False,
) -> None:
    """Measure each night."""
    report = Report(
        as_json=as_json, nights=nights, events=events, epochs=epochs, window=window, first=first, last=last, seed=seed
    )
    spent: collections.Counter[str] = collections.Counter()
    timed_steps(spent)
    terms = NightTerms(
        clusters=ClustersConfig(),
        encoder=EncoderTraining.of_values({"epochs": epochs}),
        night=NightSettings(retrain="never", window=f"{window}d"),
        gate=GateSettings(max_kept_fall=1),
        options=parse_options([]),
        max_reject_ratio=0.1,
    )
    with tempfile.TemporaryDirectory() as folder:
        for _ in run_nights(Path(folder) / "warm", terms, nights=2, events=WARM_EVENTS, seed=seed):
            pass
        second, warehouse = 0.0, Path(folder) / "warehouse"
        log = {"nights": nights, "events": events, "seed": seed}
        timed = run_nights(warehouse, terms, **log, first=first, last=last, spent=spent)
        for number, whole, outcome in timed:
            second = whole if number == 2 else second
            index = read_manifest(str(warehouse / outcome.version.index.path))
            report.row(
                night=number,
                cpu_s=whole,
                **({"of_night_2": whole / second} if second else {}),
                **{f"{name}_s": spent[name] for name in STEPS.values()},
                **({"rebuilt_s": rebuild(warehouse, outcome.version, folder)} if rebuilds else {}),
                questions=index.configuration["questions"],
                encoded=index.counters.get("questions_encoded", index.counters.get("questions_indexed", 0)),
                mrr=outcome.version.metrics.get("mrr", 0.0),
            )


if __name__ == "__main__":
    run(main)
