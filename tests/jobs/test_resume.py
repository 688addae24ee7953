"""`qpr train` killed, stopped, out of space, with its checkpoints damaged: what it leaves and how it goes on."""

from __future__ import annotations

import os
import random
import signal
import subprocess
import sys
import time

import pytest

from benchmarks.engine_servers import ROOT
from model.saved import load_parts
from schemas import storage
from schemas.manifest import read_manifest
from schemas.output import CHECKPOINTS

THINGS = ["bill", "rent", "card", "flight"]
CLUSTERS = [
    ("validation" if verb == "find" else "train", [f"how do i {verb} my {t}", f"{verb} {t} please", f"{verb} the {t}"])
    for verb in ("pay", "cancel", "find")
    for t in THINGS
]
SIZES = ["--epochs", 3, "--batch-size", 4, "--dimension", 8, "--vocabulary-size", 50, "--hash-bins", 5]
KINDS = {"default": [*SIZES, "--ngram-bins", 100], "paper": [*SIZES, "--preset", "paper"]}
OFTEN = ["--checkpoint-every", 1e-9]
EVERY_STEP = [*KINDS["default"], *OFTEN]


@pytest.fixture
def dataset(tmp_path, make_training_data):
    return make_training_data(str(tmp_path / "d"), CLUSTERS)


@pytest.fixture
def killed(qpr, dataset, tmp_path, monkeypatch):
    """Return a function that trains into ``m`` and fails after some step, and the arguments it was given."""
    from model.training import Run

    def train(*options, after):
        arguments = ["train", "--dataset", dataset, "--output", tmp_path / "m", *options]
        done, step = [], Run.step

        def fails(self, batch):
            done.append(batch)
            if len(done) > after:
                os.kill(os.getpid(), signal.SIGTERM)
            return step(self, batch)

        monkeypatch.setattr(Run, "step", fails)
        outcome = qpr(*arguments)
        monkeypatch.setattr(Run, "step", step)
        return outcome, arguments

    return train


def digest(url):
    load_parts(str(url))
    return read_manifest(str(url), "model").digest


def run(arguments, *, kill_after_s=None):
    """Run a command in a process of its own; kill it so long after its first new checkpoint. Return whether it died."""
    output = arguments[arguments.index("--output") + 1]
    there = set(storage.children(f"{output}/{CHECKPOINTS}"))
    environment = os.environ | {"OMP_NUM_THREADS": "1"}  # as many threads, as many bits
    process = subprocess.Popen([sys.executable, "-m", "jobs", *arguments], cwd=ROOT, env=environment)
    if kill_after_s is not None:
        while process.poll() is None and set(storage.children(f"{output}/{CHECKPOINTS}")) <= there:
            time.sleep(0.002)
        time.sleep(kill_after_s)
        process.kill()
    return process.wait(timeout=60) == -signal.SIGKILL


@pytest.mark.slow
@pytest.mark.parametrize("kind", KINDS)
def test_killed_at_random_moments_and_resumed_it_gives_the_model_of_one_never_killed(dataset, tmp_path, kind):
    options = ["train", "--dataset", dataset, *map(str, KINDS[kind]), "--epochs", "8", "--patience", "8", "--output"]
    assert not run([*options, str(tmp_path / "whole")])
    resumable, draw = [*options, str(tmp_path / "m"), "--resume", *map(str, OFTEN)], random.Random(kind)
    assert any(run(resumable, kill_after_s=draw.uniform(0, 0.3)) for _ in range(2))
    assert not run(resumable)
    assert digest(tmp_path / "m") == digest(tmp_path / "whole")
    left = [read_manifest(str(tmp_path / "m")).run_id, "manifest.json"]
    assert storage.children(str(tmp_path / "m")) == left
