"""Kills of ``qpr review`` at random moments, and the verdicts that are there afterwards.

keys -> qpr review -> kill -> database: at least the verdicts after which the next item was shown
"""

from __future__ import annotations

import importlib
import os
import random
import re
import signal
import time
from collections.abc import Iterator
from pathlib import Path

from jobs.cli import main as run_qpr
from jobs.review.store import VerdictStore
from tests.faults.reporting import report

KEYS = "rmcr" * 2000
MODULES = ("jobs.commands.datasets.review", "jobs.review.reviewing", "jobs.review.queues.clusters")


def judge(folder: Path, *, after_s: float) -> tuple[int, bool]:
    """Judge until the process is killed; return the number of verdicts that the person saw stored, and the kill."""
    shown = folder / "shown"
    pid = os.fork()
    if pid == 0:
        _child(folder, shown)
    time.sleep(after_s)
    os.kill(pid, signal.SIGKILL)
    _, status = os.waitpid(pid, 0)
    numbers = re.findall(r"^([\d,]+)\. \w", shown.read_text(errors="replace"), re.MULTILINE)
    seen = int(numbers[-1].replace(",", "")) - 1 if numbers else 0
    return seen, os.waitstatus_to_exitcode(status) == -signal.SIGKILL


def _child(folder: Path, shown: Path) -> None:
    try:
        for stream, name, flags in ((0, folder / "keys", os.O_RDONLY), (1, shown, os.O_WRONLY | os.O_TRUNC)):
            os.dup2(os.open(name, flags | os.O_CREAT), stream)
        os.dup2(1, 2)
        dataset, database = str(folder / "dataset"), str(folder / "review.db")
        run_qpr(["review", "--dataset", dataset, "--database", database, "--reviewer", "Ada"])
    finally:
        os._exit(0)


def measure(folder: Path, *, kills: int = 50, seed: int = 0) -> Iterator[dict[str, int]]:
    """Yield counts of kills, stored verdicts, and verdicts that were seen and are not stored.

    Args:
        folder: with a dataset of many clusters; the database is made in it.
        kills: number of them.
        seed: of their moments.
    """
    if not (folder / "dataset").is_dir():
        raise SystemExit(f"{folder}/dataset is missing. Write one there by `qpr clusters`")
    for module in MODULES:  # in each child these would take longer than it lives
        importlib.import_module(module)
    (folder / "keys").write_text(KEYS)
    draw = random.Random(seed)
    counts = {"kills": 0, "lost": 0, "seen": 0, "stored": 0, "shrunk": 0}
    for _ in range(kills):
        seen, killed = judge(folder, after_s=draw.uniform(0.2, 0.9))
        counts["kills"] += killed
        if not (folder / "review.db").exists():
            continue
        with VerdictStore(str(folder / "review.db")) as store:
            verdicts = store.verdicts()
            places = store.places()
        counts["lost"] += max(seen - len(verdicts), 0) + sum(verdict.item not in places for verdict in verdicts)
        counts["shrunk"] += len(verdicts) < counts["stored"]
        counts["seen"], counts["stored"] = max(seen, counts["seen"]), len(verdicts)
    yield counts


if __name__ == "__main__":
    report(measure, "lost", "shrunk")
