"""Share of clusters that keep their id from one night to the next.

Run: python -m benchmarks.pipelines.cluster_ids --nights 8 --events 5000
     python -m benchmarks.pipelines.cluster_ids --log faq_logs.jsonl.gz --nights 5 --window 3

A simulated log has times; the rows of a given one are shuffled into days and have none. A cluster goes on in that of
the next night which has most of its questions, and more than half of them; of several that go on in one the largest
should keep its id. "smallest" is the rule that names a cluster by its answer and its smallest question, whenever that
was asked.
"""

from __future__ import annotations

import collections
import datetime
import gzip
import json
import random
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Annotated, NamedTuple

import typer

from benchmarks.cli import AsJson, Report, Seed, run
from benchmarks.measure import simulate
from benchmarks.pipelines.nights import divide
from jobs.nightly.folding import fold_days, read_splits, remember_splits
from jobs.nightly.ingestion import ingest_day
from jobs.nightly.warehouse import days_of, open_warehouse
from pipelines.engine.runner import parse_options
from pipelines.graphs.settings import ClustersConfig
from schemas.artifacts import storage
from schemas.artifacts.dataset import open_dataset


class Cluster(NamedTuple):
    """A cluster of a night: its id, its answer and its questions."""

    id: int
    answer: int
    questions: frozenset[int]


def nights_of(warehouse: str, dates: list[str], window: int) -> Iterator[list[Cluster]]:
    """Yield the clusters of each night."""
    config, terms = ClustersConfig(), {"options": parse_options([]), "max_reject_ratio": 0.5}
    open_warehouse(warehouse)
    earlier = None
    for date in map(datetime.date.fromisoformat, dates):
        ingest_day(warehouse, date, config.ingestion, **terms)
        days = days_of(warehouse, date, window)
        dataset = fold_days(warehouse, days, config, earlier=earlier, **terms)
        earlier = remember_splits(warehouse, dataset, earlier, read_splits(warehouse, earlier), days=days)
        opened = open_dataset(storage.join(warehouse, dataset.path))
        rows = opened.table("clusters", columns=["cluster_id", "answer_hash", "question_ids"]).to_pylist()
        yield [Cluster(row["cluster_id"], row["answer_hash"], frozenset(row["question_ids"])) for row in rows]


def kept(before: list[Cluster], after: list[Cluster]) -> Iterator[tuple[str, bool, bool]]:
    """Yield what became of each cluster that goes on, and whether its id and its smallest question are the same."""
    of_answer = collections.defaultdict(list)
    for cluster in after:
        of_answer[cluster.answer].append(cluster)
    parts = collections.defaultdict(list)
    for old in before:
        new = max(of_answer[old.answer], key=lambda new: len(new.questions & old.questions), default=None)
        if new is not None and 2 * len(new.questions & old.questions) > len(old.questions):
            parts[new].append(old)
    for new, joined in parts.items():
        largest = max(joined, key=lambda old: (len(old.questions), old.id == new.id))
        for old in joined:
            kind = "same" if new.questions == old.questions else "grew" if new.questions > old.questions else "changed"
            yield (
                "joined a larger one" if old != largest else kind,
                new.id == old.id,
                min(new.questions) == min(old.questions),
            )


def divided_log(log: Path, warehouse: Path, nights: int, seed: int) -> list[str]:
    """Write the rows of a log, shuffled, as drops of as many days; return their dates."""
    with gzip.open(log, "rt", encoding="utf-8") as lines:
        rows = [json.loads(line) for line in lines]
    random.Random(seed).shuffle(rows)  # no secret
    dates = [str(datetime.date(2024, 1, 1) + datetime.timedelta(days=night)) for night in range(nights)]
    for night, date in enumerate(dates):
        folder = warehouse / "events" / f"date={date}"
        folder.mkdir(parents=True)
        asked = [{"question": row["question"], "answer": row["answer"]} for row in rows[night::nights]]
        (folder / "log.jsonl").write_text("".join(json.dumps(row) + "\n" for row in asked))
    return dates


def main(
    nights: Annotated[int, typer.Option(help="Number of nights.", min=2)] = 8,
    events: Annotated[int, typer.Option(help="Rows of a simulated day.")] = 5_000,
    window: Annotated[int, typer.Option(help="Days of the window.")] = 365,
    log: Annotated[Path | None, typer.Option(help="Log in place of a simulated one: .jsonl.gz.")] = None,
    seed: Seed = 0,
    as_json: AsJson = False,
) -> None:
    """Print a row for each kind of change, over all nights."""
    report = Report(as_json=as_json, log=log and log.name, nights=nights, events=events, window=window, seed=seed)
    total: collections.Counter[str] = collections.Counter()
    same: collections.Counter[tuple[str, str]] = collections.Counter()
    with tempfile.TemporaryDirectory() as folder:
        warehouse = Path(folder) / "warehouse"
        if log is None:
            dates = divide(simulate(folder, events=nights * events, seed=seed, options=("--days", nights)), warehouse)
        else:
            dates = divided_log(log, warehouse, nights, seed)
        before: list[Cluster] = []
        for after in nights_of(str(warehouse), dates, window):
            for kind, by_id, by_smallest in kept(before, after):
                total[kind] += 1
                same[kind, "id"] += by_id
                same[kind, "smallest"] += by_smallest
            before = after
    for kind in ("same", "grew", "changed", "joined a larger one"):
        shares = {name: same[kind, name] / max(total[kind], 1) for name in ("id", "smallest")}
        report.row(cluster=kind, clusters=total[kind], kept_id=shares["id"], smallest=shares["smallest"])


if __name__ == "__main__":
    run(main)
