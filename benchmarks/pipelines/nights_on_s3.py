"""Requests to S3 and seconds of `qpr nightly`, beside the same nights on the local disk.

Run: python -m benchmarks.pipelines.nights_on_s3 --days 10 --days 60 --delay-ms 30

A simulated log is divided by day. All days but the last two are ingested together, then the night of each of the last
three is run, and the last one again, which finds nothing to do. moto's server stands for S3 and answers each request
after the delay, as a store in the same region does; it runs beside the command on the same cores.
"""

from __future__ import annotations

import collections
import contextlib
import datetime
import json
import os
import subprocess
import sys
import tempfile
import urllib.request
from collections.abc import Iterator
from pathlib import Path
from typing import Annotated

import typer

from benchmarks.cli import AsJson, Report, Seed, run
from benchmarks.measure import measure_qpr, simulate
from benchmarks.pipelines.nights import divide
from schemas.artifacts import storage

_SERVER = """
import collections, json, sys, time
from moto.server import DomainDispatcherApplication, create_backend_app
from werkzeug.serving import WSGIRequestHandler, make_server

application, delay, counts = DomainDispatcherApplication(create_backend_app), float(sys.argv[1]), collections.Counter()

def delayed(environment, start):
    if environment["PATH_INFO"] == "/requests":
        start("200 OK", [])
        answer = json.dumps(counts)
        counts.clear()
        return [answer.encode()]
    counts[environment["REQUEST_METHOD"]] += 1
    time.sleep(delay)
    return application(environment, start)

WSGIRequestHandler.protocol_version = "HTTP/1.1"
WSGIRequestHandler.log = lambda *_: None
server = make_server("127.0.0.1", 0, delayed, threaded=True)
print(server.server_port, flush=True)
server.serve_forever()
"""

_SMALL = ("--epochs", 1, "--dimension", 16, "--vocabulary-size", 2000, "--hash-bins", 500, "--ngram-bins", 500)
_OPTIONS = (*_SMALL, "--shards", 2, "--retrain", "never", "--max-drift", 1, "--max-regression", 1)


@contextlib.contextmanager
def s3(delay_ms: float) -> Iterator[str]:
    """Start a server and give its URL; commands use it from then on."""
    command = [sys.executable, "-c", _SERVER, str(delay_ms / 1000)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as server:
        try:
            assert server.stdout is not None
            url = f"http://127.0.0.1:{server.stdout.readline().strip()}"
            keys = {"AWS_ACCESS_KEY_ID": "key", "AWS_SECRET_ACCESS_KEY": "key", "AWS_DEFAULT_REGION": "us-east-1"}
            os.environ.update({"AWS_ENDPOINT_URL": url, **keys})
            yield url
        finally:
            server.terminate()


def requests(server: str) -> collections.Counter[str]:
    """Return the requests since the last call, by method."""
    with urllib.request.urlopen(f"{server}/requests") as answer:
        return collections.Counter(json.loads(answer.read()))


def upload(warehouse: Path, url: str) -> None:
    """Copy the drops of a warehouse into a new bucket."""
    storage.locate(url)[0].mkdir(url.removeprefix("s3://").partition("/")[0])
    for file in sorted(warehouse.rglob("*.parquet")):
        storage.write_bytes(storage.join(url, str(file.relative_to(warehouse))), file.read_bytes())


def main(
    days: Annotated[list[int] | None, typer.Option(help="Days of a warehouse. Repeatable.", min=4)] = None,
    events: Annotated[int, typer.Option(help="Rows of a day.", min=100)] = 500,
    delay_ms: Annotated[float, typer.Option(help="Time before the store answers a request.", min=0)] = 30.0,
    seed: Seed = 0,
    as_json: AsJson = False,
) -> None:
    """Run the same nights on S3 and on the local disk."""
    report = Report(as_json=as_json, events=events, delay_ms=delay_ms, seed=seed)
    for count in days or [10, 60]:
        with tempfile.TemporaryDirectory() as folder, s3(delay_ms) as server:
            local = Path(folder) / "warehouse"
            log = simulate(folder, events=count * events, seed=seed, options=("--days", count))
            dates = [datetime.date.fromisoformat(date) for date in divide(log, local)]
            remote = f"s3://days-{count}/warehouse"
            upload(local, remote)
            ingest = ("ingest", "--from", dates[0], "--to", dates[-3])
            nights = [("nightly", "--date", date, *_OPTIONS) for date in (*dates[-3:], dates[-1])]
            steps: list[tuple[object, ...]] = [ingest, *nights]
            for step, (name, *options) in enumerate(steps):
                seconds = {}
                for place, warehouse in (("local", str(local)), ("s3", remote)):
                    requests(server)
                    cost = measure_qpr(name, "--warehouse", warehouse, *options, "--quiet", "--json")
                    seconds[place] = cost.wall_s
                counts = requests(server)
                report.row(
                    days=count,
                    step=("ingest", "first night", "night", "night", "same night again")[step],
                    requests=counts.total(),
                    heads=counts["HEAD"],
                    s3_s=seconds["s3"],
                    local_s=seconds["local"],
                )


if __name__ == "__main__":
    run(main)
