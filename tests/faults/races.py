"""The state of an output after several runs began to write to it at the same moment.

Run: python -m tests.faults.races [--races 1000] [--writers 3] [--seed 0]

A quarter each by threads and by processes, on the local disk and on S3 (moto's server, which looks and then writes
where S3 does both at once, so its requests are served one by one). The place is empty, or holds an artefact that all of
them replace (``--overwrite``). Moments of waiting are drawn before the lock, between files and before publication. In
the last race of a block every process that gets the lock is killed halfway. Then the artefact is read, every file is
verified, and one more run replaces it without waiting.
"""

from __future__ import annotations

import collections
import contextlib
import dataclasses
import functools
import json
import multiprocessing
import os
import random
import signal
import sys
import tempfile
import threading
import time
import urllib.request
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Any

from schemas.artifacts import storage
from schemas.artifacts.manifest import MANIFEST, read_manifest, read_verified
from schemas.artifacts.writer import Output
from schemas.errors import QprError
from tests.faults.reporting import report

BLOCK = 25
"""Races that one set of processes runs, since each needs a connection of its own to S3."""

SPREADS_S = (0.0, 0.004, 0.1)
"""Within how many seconds the writers of a race begin; in the last they often come one after another."""

WAYS = [(store, by) for store in ("local", "s3") for by in ("threads", "processes")]
ENDS = {
    "another run is writing there": "refused_at_start",
    "exists. Choose another --output": "refused_at_start",
    "has taken this place": "discarded",
}
COUNTED = ("published", "refused_at_start", "discarded", "killed", "unclear", "one_whole_winner", "wrong")
_fork = multiprocessing.get_context("fork")


@dataclasses.dataclass(frozen=True)
class Race:
    """One race: where, what is there before, and whether whoever writes is killed."""

    url: str
    seed: str
    old: bool
    overwrite: bool
    kills: bool

    def run(self, writer: int) -> str:
        """Write the artefact as one of the writers and return how that ended."""
        draw = random.Random(f"{self.seed} {writer}")
        time.sleep(draw.uniform(0, random.Random(self.seed).choice(SPREADS_S)))
        try:
            with Output(self.url, "dataset", overwrite=self.overwrite) as output:
                return publish(output, draw, kills=self.kills)
        except QprError as error:
            known = [end for words, end in ENDS.items() if words in str(error)]
            return known[0] if known else f"unclear: {error}"


def publish(output: Output, draw: random.Random, *, kills: bool = False) -> str:
    """Write three files that name their run, and publish them."""
    files = []
    for number in range(3):
        content = f"{output.run_id} {number}".encode()
        files.append(output.write(f"questions/{number}.parquet", content, table="questions", rows=1))
        time.sleep(draw.uniform(0, 0.004))
        if kills:
            os.kill(os.getpid(), signal.SIGKILL)
    output.publish(files, inputs=[], configuration={}, counters={})
    return f"published {output.run_id}"


def judge(race: Race, ends: Iterable[str]) -> Iterator[str]:
    """Yield the outcome of every writer, and whether one whole winner is left that the next run can replace."""
    winners = [end.split()[1] for end in ends if end.startswith("published")]
    for end in ends:
        yield end.split()[0].rstrip(":")
    left = storage.children(race.url)
    whole = bool(winners) != race.kills and (race.overwrite or len(winners) <= 1)
    try:
        manifest = read_manifest(race.url)
        contents = [read_verified(race.url, file).decode() for file in manifest.files]
        whole &= contents == [f"{manifest.run_id} {number}" for number in range(3)]
        whole &= race.kills or storage.children(race.url) == [manifest.run_id, MANIFEST]
        whole &= race.old if race.kills else manifest.run_id in winners
    except QprError as error:
        whole &= race.kills and not race.old and "no run has completed there" in str(error)
    with Output(race.url, "dataset", overwrite=True) as following:
        publish(following, random.Random(0))
    whole &= storage.children(race.url) == [following.run_id, MANIFEST]
    if not whole:
        print(f"{race}: {ends} {left}", file=sys.stderr)
    yield "one_whole_winner" if whole else "wrong"


def run_block(races: list[Race], *, by: str, writers: int, folder: Path) -> collections.Counter[str]:
    """Run some races and return how often what was found."""
    (_by_threads if by == "threads" else _by_processes)(races, writers, folder)
    outcomes = folder / "outcomes"

    def look() -> None:
        ends = collections.defaultdict(list)
        for found in folder.glob("writer*"):
            for line in found.read_text().splitlines():
                url, end = line.split(" ", 1)
                ends[url].append(end)
        lost = {race.url: writers - len(ends[race.url]) for race in races}
        judged = [one for race in races for one in judge(race, [*ends[race.url], *["killed"] * lost[race.url]])]
        outcomes.write_text(json.dumps(judged))

    _join([_started(look)])
    for file in folder.glob("writer*"):
        file.unlink()
    return collections.Counter(json.loads(outcomes.read_text()))


def _by_threads(races: list[Race], writers: int, folder: Path) -> None:
    def run() -> None:
        barrier = threading.Barrier(writers)
        threads = [threading.Thread(target=_write, args=(races, n, barrier, folder)) for n in range(writers)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()

    _join([_started(run)])


def _by_processes(races: list[Race], writers: int, folder: Path) -> None:
    barrier = _fork.Barrier(writers)
    _join([_started(functools.partial(_write, races, n, barrier, folder)) for n in range(writers)])


def _write(races: list[Race], writer: int, barrier: Any, folder: Path) -> None:
    with (folder / f"writer{writer}").open("w", buffering=1) as told:
        for race in races:
            if race.old and writer == 0:
                with Output(race.url, "dataset") as output:
                    publish(output, random.Random(0))
            storage.exists(race.url)  # opens the connection
            barrier.wait(timeout=60)
            told.write(f"{race.url} {race.run(writer)}\n")


def _started(run: Callable[[], None]) -> Any:
    """Start a process that shares no connection and no thread with others."""
    process = _fork.Process(target=run)
    process.start()
    return process


def _join(processes: Iterable[Any]) -> None:
    for process in processes:
        process.join()


def serve(told: Any) -> None:
    """Serve S3, one request that writes at a time, and send the address."""
    from moto.moto_server.werkzeug_app import DomainDispatcherApplication, MotoRequestHandler, create_backend_app
    from werkzeug.serving import make_server

    class Quiet(MotoRequestHandler):
        def log(self, *_: object) -> None:
            """Write no line a request."""

    application, one = DomainDispatcherApplication(create_backend_app), threading.Lock()

    def serialised(environ: dict[str, Any], start: Any) -> Any:
        with one:
            return application(environ, start)

    server = make_server("127.0.0.1", 0, serialised, threaded=True, request_handler=Quiet)
    told.send("http://{}:{}".format(*server.server_address[:2]))
    server.serve_forever()


@contextlib.contextmanager
def serving() -> Iterator[None]:
    """Serve S3 with an empty bucket, ``s3://bucket``, to this process and those that it starts."""
    listening, telling = _fork.Pipe(duplex=False)
    server = _started(lambda: serve(telling))
    os.environ |= {"AWS_ENDPOINT_URL": listening.recv(), "AWS_DEFAULT_REGION": "us-east-1"}
    os.environ |= dict.fromkeys(("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY"), "testing")
    urllib.request.urlopen(urllib.request.Request(f"{os.environ['AWS_ENDPOINT_URL']}/bucket", method="PUT"))
    try:
        yield
    finally:
        server.kill()
        server.join()


def measure(*, races: int = 1000, writers: int = 3, seed: int = 0) -> Iterator[dict[str, int | str]]:
    """Yield the counts of each store and way."""
    with serving(), tempfile.TemporaryDirectory() as temporary:
        folder = Path(temporary)
        for store, by in WAYS:
            counts = collections.Counter(dict.fromkeys(COUNTED, 0))
            place = "s3://bucket" if store == "s3" else str(folder)
            count = races // len(WAYS)
            drawn = list(_races(f"{place}/{by}", count, f"{seed} {store} {by}", kills=by == "processes"))
            for start in range(0, count, BLOCK):
                counts += run_block(drawn[start : start + BLOCK], by=by, writers=writers, folder=folder)
            yield {"store": store, "by": by, "races": count, **{name: counts[name] for name in COUNTED}}


def _races(place: str, count: int, seed: str, *, kills: bool) -> Iterator[Race]:
    draw = random.Random(seed)
    for number in range(count):
        last = number % BLOCK == BLOCK - 1 or number == count - 1
        old = draw.random() < 1 / 3
        overwrite = old or draw.random() < 1 / 2
        yield Race(f"{place}/{number:05}", f"{seed} {number}", old, overwrite, kills and last)


if __name__ == "__main__":
    report(measure, "wrong", "unclear")
