"""`qpr train` killed, stopped, out of space, with its checkpoints damaged: what it leaves and how it goes on."""

from __future__ import annotations

import errno
import json
import os
import random
import signal
import subprocess
import sys
import time

import pytest

from model.encoders.saved_model import load_parts
from schemas.artifacts import storage
from schemas.artifacts.manifest import read_manifest
from schemas.artifacts.writer import CHECKPOINTS
from tests.support.engine_servers import ROOT

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
def killed(qpr, dataset, tmp_path, stopped):
    """Return a function that trains into ``m`` and is stopped after some step; it returns the outcome and arguments."""

    def train(*options, after):
        arguments = ["train", "--dataset", dataset, "--output", tmp_path / "m", *options]
        with stopped(after=after):
            return qpr(*arguments), arguments

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
    return process.wait(timeout=300) == -signal.SIGKILL


@pytest.mark.fault
@pytest.mark.slow
def test_killed_at_random_moments_and_resumed_it_gives_the_model_of_one_never_killed(dataset, tmp_path):
    options = ["train", "--dataset", dataset, *map(str, KINDS["default"]), "--epochs", "8", "--output"]
    assert not run([*options, str(tmp_path / "whole")])
    resumable, draw = [*options, str(tmp_path / "m"), "--resume", *map(str, OFTEN)], random.Random(0)
    assert any(run(resumable, kill_after_s=draw.uniform(0, 0.3)) for _ in range(2))
    assert not run(resumable)
    assert digest(tmp_path / "m") == digest(tmp_path / "whole")
    left = [read_manifest(str(tmp_path / "m")).run_id, "manifest.json"]
    assert storage.children(str(tmp_path / "m")) == left


def test_what_is_stopped_states_that_it_can_go_on_and_does(qpr, killed, tmp_path, dataset):
    assert qpr("train", "--dataset", dataset, "--output", tmp_path / "whole", *KINDS["default"]).code == 0
    outcome, arguments = killed(*EVERY_STEP, after=4)
    assert outcome.code == 143
    assert "the checkpoint of epoch 1, step 4 stays; --resume continues from it" in outcome.err
    assert storage.children(str(tmp_path / "m")) == [CHECKPOINTS]
    resumed = qpr(*arguments, "--resume", "--json")
    assert resumed.code == 0
    assert "continuing from the checkpoint of epoch 1, step 4" in resumed.err
    assert json.loads(resumed.out)["epochs"] == 3
    assert digest(tmp_path / "m") == digest(tmp_path / "whole")
    assert CHECKPOINTS not in storage.children(str(tmp_path / "m"))


def test_a_stopped_training_leaves_the_old_model_readable(qpr, killed, tmp_path, dataset):
    assert qpr("train", "--dataset", dataset, "--output", tmp_path / "m", *KINDS["default"]).code == 0
    old = digest(tmp_path / "m")
    _, arguments = killed(*EVERY_STEP, "--seed", 5, "--overwrite", after=4)
    assert digest(tmp_path / "m") == old
    assert qpr(*arguments, "--resume").code == 0
    assert digest(tmp_path / "m") != old


def test_without_resume_it_starts_again_and_reports_it(qpr, killed, tmp_path):
    _, arguments = killed(*EVERY_STEP, after=4)
    anew = qpr(*arguments)
    assert (anew.code, "starting over; --resume continues from the checkpoint that exists" in anew.err) == (0, True)
    assert "going on" not in anew.err
    assert storage.children(str(tmp_path / "m"))[1:] == ["manifest.json"]


def test_with_resume_and_no_checkpoint_it_starts_at_the_beginning(qpr, dataset, tmp_path):
    outcome = qpr("train", "--dataset", dataset, "--output", tmp_path / "m", *KINDS["default"], "--resume")
    assert (outcome.code, "no checkpoint to continue from" in outcome.err) == (0, True)


@pytest.mark.parametrize(
    ("options", "told"),
    [
        (["--seed", 3], "--seed is 0 there and 3 here"),
        (["--dimension", 9, "--epochs", 4], "--dimension is 8 there and 9 here, --epochs is 3 there and 4 here"),
    ],
)
def test_a_checkpoint_of_other_options_is_refused_and_stays(qpr, killed, tmp_path, options, told):
    _, arguments = killed(*EVERY_STEP, after=4)
    refused = qpr(*arguments, *options, "--resume")
    assert refused.code == 1
    assert f"error: {tmp_path}/m/{CHECKPOINTS}: the checkpoint is of another training: {told}. Give" in refused.err
    assert qpr(*arguments, "--resume").code == 0


def test_a_checkpoint_of_other_data_is_refused(qpr, killed, tmp_path, make_training_data):
    _, arguments = killed(*EVERY_STEP, after=4)
    make_training_data(str(tmp_path / "d"), CLUSTERS[:-1])
    refused = qpr(*arguments, "--resume")
    assert (refused.code, "the digest of --dataset is " in refused.err) == (1, True)


@pytest.mark.parametrize("damage", ["truncated", "flipped"])
def test_a_damaged_checkpoint_is_reported_and_the_one_before_it_taken(qpr, killed, tmp_path, dataset, damage):
    assert qpr("train", "--dataset", dataset, "--output", tmp_path / "whole", *KINDS["default"]).code == 0
    _, arguments = killed(*EVERY_STEP, after=4)
    paths = sorted((tmp_path / "m" / CHECKPOINTS).glob("*/weights.safetensors"))
    assert len(paths) == 2
    content = bytearray(paths[-1].read_bytes())
    content[-1] ^= 1
    paths[-1].write_bytes(content[:-100] if damage == "truncated" else content)
    resumed = qpr(*arguments, "--resume")
    assert resumed.code == 0
    assert f"{paths[-1]}: does not match the manifest's sha256" in resumed.err
    assert "continuing from the checkpoint of epoch 1, step 3" in resumed.err
    assert digest(tmp_path / "m") == digest(tmp_path / "whole")


def test_if_both_are_damaged_it_fails_and_states_how_to_go_on(qpr, killed, tmp_path):
    _, arguments = killed(*EVERY_STEP, after=4)
    for path in (tmp_path / "m" / CHECKPOINTS).glob("*/weights.safetensors"):
        path.write_bytes(path.read_bytes()[:-1])
    failed = qpr(*arguments, "--resume")
    assert (failed.code, "no checkpoint is whole. Leave out --resume to start over" in failed.err) == (1, True)
    assert qpr(*arguments).code == 0


def test_a_full_disk_costs_a_checkpoint_and_not_the_training(qpr, dataset, tmp_path, monkeypatch):
    from model.training.checkpoints import checkpoints
    from schemas.errors import QprError

    real, calls = checkpoints.write_file, []

    def full(run_url, path, content, *, table, rows=0):
        calls.append(path)
        if len(calls) in (7, 8):  # files of the second and the third checkpoint
            raise QprError(f"{run_url}/{path}: {os.strerror(errno.ENOSPC)}")
        return real(run_url, path, content, table=table, rows=rows)

    monkeypatch.setattr(checkpoints, "write_file", full)
    outcome = qpr("train", "--dataset", dataset, "--output", tmp_path / "m", *EVERY_STEP)
    assert outcome.code == 0
    said = [line for line in outcome.err.splitlines() if "No space left on device" in line]
    assert len(said) == 2
    assert said[1].endswith("Training goes on; the last one is of epoch 1, step 1")


def test_a_loss_that_explodes_names_the_batch_and_leaves_the_last_good_checkpoint(qpr, dataset, tmp_path):
    given = [*SIZES, "--preset", "paper", "--learning-rate", 1e30, *OFTEN]
    outcome = qpr("train", "--dataset", dataset, "--output", tmp_path / "m", *given)
    assert outcome.code == 1
    [error] = [line for line in outcome.err.splitlines() if line.startswith("error:")]
    assert "epoch 1, step 2: the loss is" in error
    assert "In this batch of 4 pairs" in error
    assert "Lower --learning-rate" in error
    assert storage.children(str(tmp_path / "m")) == [CHECKPOINTS]
    assert "the checkpoint of epoch 1, step 1 stays" in outcome.err


def test_a_network_too_large_for_the_memory_states_what_to_lower(qpr, dataset, tmp_path):
    outcome = qpr(
        "train", "--dataset", dataset, "--output", tmp_path / "m", "--ngram-bins", 2**28, "--dimension", 2**16
    )
    assert outcome.code == 1
    assert "not enough memory. Lower --batch-size (now " in outcome.err
    assert "--ngram-bins" in outcome.err
    assert not storage.exists(str(tmp_path / "m"))


def test_time_over_keeps_what_was_learned_and_reports_it(qpr, dataset, tmp_path):
    def train(name, *options):
        return qpr("train", "--dataset", dataset, "--output", tmp_path / name, *options)

    outcome = train("m", *KINDS["default"], "--max-minutes", 1e-9)
    assert outcome.code == 0
    assert (
        "stopped after 1e-09 minutes at epoch 1 of 3, step 1 of 6; the learning rate fell to 0 by then" in outcome.err
    )
    assert read_manifest(str(tmp_path / "m")).counters["epochs"] == 1
    paper = train("p", *KINDS["paper"], "--max-minutes", 1e-9)
    assert (paper.code, "step 1 of 6; kept epoch 1" in paper.err) == (0, True)
    much = qpr(
        "train", "--dataset", dataset, "--output", tmp_path / "q", *KINDS["paper"], "--max-minutes", 1e9, "--json"
    )
    assert json.loads(much.out)["ending"] == "all epochs done"


@pytest.mark.parametrize(
    ("options", "told"),
    [
        (["--max-minutes", 0], "--max-minutes 0"),
        (["--max-minutes", "nan"], "--max-minutes nan"),
        (["--checkpoint-every", -1], "error: --checkpoint-every: must be at least 0"),
    ],
)
def test_times_that_make_no_sense_are_wrong_usage(qpr, dataset, tmp_path, options, told):
    outcome = qpr("train", "--dataset", dataset, "--output", tmp_path / "m", *KINDS["default"], *options)
    assert (outcome.code, told in outcome.err) == (2, True)
