"""Certificates by the commands alone, from an index without some requests' answers to answers that are counted.

index without some clusters -> requests, half without an answer -> `qpr answer`, labels as verdicts -> `qpr certify` on
a part of the requests -> `qpr answer` with the certificate on the rest

Run: python -m benchmarks.certificates.certify commands --dataset quora --model encoder --folder made
     python -m benchmarks.certificates.certify commands --folder made
"""

from __future__ import annotations

import datetime
import io
import json
import random
import subprocess
import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Annotated, Any, Final, NamedTuple

import pyarrow as pa
import pyarrow.parquet as pq
import typer

from benchmarks.cli import AsJson, Report, Seed
from benchmarks.logs.known_logs import MissingDataError
from benchmarks.measure import measure_qpr
from benchmarks.training.answer_at_one import EVERY_LABEL, parts
from schemas.artifacts.dataset import Dataset, open_dataset
from schemas.artifacts.writer import Output
from schemas.tables import QUESTIONS
from schemas.text import fold

JUDGED: Final = 0.7
"""Share of the requests that is judged; the rest is answered with the certificate."""

Row = Mapping[str, Any]


class Request(NamedTuple):
    """A request and what decides whether a hit is right: a cluster or an answer; None if the index has none."""

    question: str
    right: str | None


def commands(
    folder: Annotated[Path, typer.Option(help="Folder for all that is made; what is there is used again.")],
    dataset: Annotated[str | None, typer.Option(help="Dataset of qpr quora; without it the help desk's log.")] = None,
    model: Annotated[str | None, typer.Option(help="Model of the dataset, or st:FOLDER.")] = None,
    questions: Annotated[
        int, typer.Option(help="Questions that are indexed, about; test and validation are whole.")
    ] = 1_000_000,
    alpha: Annotated[list[float], typer.Option(help="Promised share of wrong answers; repeatable.")] = [0.05, 0.10],
    delta: Annotated[float, typer.Option(help="Chance that a promise is broken.")] = 0.05,
    seed: Seed = 0,
    as_json: AsJson = False,
) -> None:
    """Certify answers to real requests by the commands that a user has, and count the wrong ones of later requests."""
    folder.mkdir(parents=True, exist_ok=True)
    rng = random.Random(seed)  # no secret
    if dataset is None:
        requests, indexed = help_desk(folder, rng)
    else:
        requests, indexed = _quora(dataset, folder, rng, questions)
    given = str(model or folder / "model")
    if not model and not Path(given).exists():
        measure_qpr("train", "--dataset", indexed, "--output", given)
    index = folder / ("index-st" if given.startswith("st:") else "index")
    if not index.exists():
        measure_qpr("index", "--questions", indexed, "--model", given, "--output", index)
    right = _right_answer if dataset is None else _right_cluster
    count, missing = len(requests), sum(request.right is None for request in requests)
    report = Report(as_json=as_json, requests=count, without_an_answer=missing, judged=JUDGED, delta=delta, seed=seed)
    rng.shuffle(requests)
    cut = int(JUDGED * count)
    judged = folder / f"judged-{index.name}.jsonl"
    verdicts = list(_judged(answers(index, requests[:cut]), requests[:cut], right))
    judged.write_text("".join(json.dumps(row) + "\n" for row in verdicts), "utf-8")
    for promised in alpha:
        report.row(alpha=promised, **certified(index, judged, requests[cut:], right, promised, delta, folder))


def certified(
    index: Path,
    judged: Path,
    rest: Sequence[Request],
    right: Callable[[Row, Request], bool],
    alpha: float,
    delta: float,
    folder: Path,
) -> dict[str, Any]:
    """Return the figures of a certificate and of the answers that it permits to other requests.

    Args:
        index: to certify.
        judged: requests file.
        rest: requests that are answered with the certificate.
        right: whether the answer in a row of `qpr answer --json` is right.
        alpha: promised share.
        delta: chance that it does not hold.
        folder: of the certificate.
    """
    certificate = folder / f"certificate-{index.name}-{alpha:g}"
    yesterday = datetime.datetime.now(datetime.UTC).date() - datetime.timedelta(days=1)
    named = ("--index", index, "--requests", judged, "--output", certificate, "--alpha", alpha, "--delta", delta)
    process = _qpr("certify", *named, "--log-until", yesterday, "--overwrite", "--json")
    if process.returncode not in (0, 1):
        raise SystemExit(process.stderr[-2000:])
    shown = json.loads(process.stdout) if process.returncode == 0 else None
    rows = answers(index, rest, *(("--certificate", certificate) if shown else ()))
    pairs = [(row, request) for row, request in zip(rows, rest, strict=True) if row["reason"] == "certified"]
    wrong = sum(not right(row, request) for row, request in pairs)
    return {
        "labels": sum(1 for _ in judged.open()),
        "certified": "yes" if shown else "no",
        "bound": shown["upper_bound"] if shown else None,
        "answered": len(pairs) / len(rest),
        "answered_of_the_rest": len(pairs),
        "wrong": wrong,
        "wrong_share": wrong / len(pairs) if pairs else None,
        "exact": sum(row["reason"] == "exact" for row in rows),
    }


def answers(index: Path, requests: Sequence[Request], *options: object) -> list[dict[str, Any]]:
    """Return the rows of `qpr answer --json` for requests.

    Raises:
        SystemExit: the command failed.
    """
    lines = "".join(" ".join(request.question.split()) + "\n" for request in requests)
    process = _qpr("answer", "--index", index, *options, "--json", given=lines)
    rows = [json.loads(line) for line in process.stdout.splitlines()]
    if process.returncode or len(rows) != len(requests):
        raise SystemExit(f"qpr answer: {len(rows)} rows for {len(requests)} requests\n{process.stderr[-2000:]}")
    return rows


def _judged(
    rows: Iterable[Row], requests: Sequence[Request], right: Callable[[Row, Request], bool]
) -> Iterable[dict[str, Any]]:
    """Yield the rows of a requests file: what `qpr answer --json` printed, and a verdict by the labels."""
    now = datetime.datetime.now(datetime.UTC).isoformat()
    for number, (row, request) in enumerate(zip(rows, requests, strict=True)):
        verdict = "right" if right(row, request) else "wrong"
        kept = {name: row[name] for name in ("question", "probability", "answer_id")}
        yield {**kept, "request_id": str(number), "asked_at": now, "verdict": verdict, "labeller": "labels"}


def _right_cluster(row: Row, request: Request) -> bool:
    return request.right is not None and row["hit"] is not None and row["hit"]["cluster_id"] == request.right


def _right_answer(row: Row, request: Request) -> bool:
    answer = row["hit"] and row["hit"]["answer"]
    return request.right is not None and bool(answer) and fold(answer) == fold(request.right)


def help_desk(folder: Path, rng: random.Random) -> tuple[list[Request], Path]:
    """Return the requests after the log, and the dataset of the log without half of the intents.

    The intents of split validation stay, since the confidence model needs at least five.
    """
    try:
        log, later = parts()
    except MissingDataError as error:
        raise typer.BadParameter(str(error)) from None
    whole, indexed = folder / "whole", folder / "dataset"
    if not whole.exists():
        _log_to_dataset(folder / "whole.jsonl", log, whole)
    splits = open_dataset(str(whole)).table("clusters", columns=["answer", "split"])
    validation = {fold(row["answer"]) for row in splits.to_pylist() if row["split"] == "validation"}
    movable = sorted({fold(row.answer) for row in log} - validation)
    removed = set(rng.sample(movable, len(movable) // 2))
    if not indexed.exists():
        _log_to_dataset(folder / "log.jsonl", [row for row in log if fold(row.answer) not in removed], indexed)
    known = {" ".join(row.question.split()).casefold() for row in log if fold(row.answer) not in removed}
    asked = [row for row in later if " ".join(row.question.split()).casefold() not in known]
    return [Request(q, None if fold(a) in removed else a) for q, a in asked], indexed


def _log_to_dataset(path: Path, rows: Iterable[tuple[str, str]], output: Path) -> None:
    path.write_text("".join(json.dumps({"question": q, "answer": a}) + "\n" for q, a in rows), "utf-8")
    measure_qpr("clusters", path, "--output", output, "--max-reject-ratio", 1, *EVERY_LABEL)


def _quora(url: str, folder: Path, rng: random.Random, most: int) -> tuple[list[Request], Path]:
    """Return one request of each test cluster, and the dataset without it, of half of them without the whole cluster.

    A cluster of which one question is left is none, as it would be if the request had never been asked.
    """
    dataset, out = open_dataset(url), folder / "dataset"
    columns = ["cluster_id", "question_ids", "texts"]
    clusters = dataset.table("clusters", columns=columns, split="test").to_pylist()
    requests, gone, alone = list[Request](), set[int](), set[int]()
    for number, cluster in enumerate(rng.sample(clusters, len(clusters))):
        place = rng.randrange(len(cluster["texts"]))
        answerable = number % 2 == 0
        requests.append(Request(cluster["texts"][place], None))
        gone.update(cluster["question_ids"][place : place + 1] if answerable else cluster["question_ids"])
        if answerable:
            requests[-1] = Request(cluster["texts"][place], str(cluster["cluster_id"]))
        if answerable and len(cluster["texts"]) == 2:  # one is left
            alone.update(set(cluster["question_ids"]) - gone)
    if not out.exists():
        _write_reduced(dataset, out, gone, alone, most, rng)
    return requests, out


def _write_reduced(dataset: Dataset, out: Path, gone: set[int], alone: set[int], most: int, rng: random.Random) -> None:
    """Write a dataset without some questions and without test clusters; of the rest a random part, clusters whole."""
    questions = dataset.table("questions")
    share = min(1.0, most / len(questions))
    rows = []
    kept_clusters: dict[int, bool] = {}
    for row in questions.to_pylist():
        if row["question_id"] in gone:
            continue
        if row["split"] not in ("validation", "test"):
            cluster = row["cluster_id"]
            kept = rng.random() < share if cluster is None else kept_clusters.setdefault(cluster, rng.random() < share)
            if not kept:
                continue
        rows.append(row | ({"cluster_id": None, "split": None} if row["question_id"] in alone else {}))
    clusters = dataset.table("clusters", split="validation")
    output = Output(str(out), "dataset")
    tables = {"questions": pa.Table.from_pylist(rows, QUESTIONS), "clusters": clusters}
    files = []
    for name, table in tables.items():
        sink = io.BytesIO()
        pq.write_table(table, sink)
        files.append(output.write(f"{name}/00000.parquet", sink.getvalue(), table=name, rows=len(table)))
    output.publish(files, inputs=[], configuration={}, counters={})


def _qpr(*arguments: object, given: str | None = None) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "jobs", *map(str, arguments)]
    return subprocess.run(command, input=given, capture_output=True, text=True, check=False)
