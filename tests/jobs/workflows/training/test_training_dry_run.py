from __future__ import annotations

import json
import os
import subprocess
import sys

import pytest

from schemas.artifacts import storage
from tests.support.engine_servers import ROOT

CLUSTERS = [
    ("train", [f"how do i {verb} it", f"{verb} it please", f"{verb} that"]) for verb in ("pay", "cancel", "find")
]
SIZES = ["--epochs", 2, "--batch-size", 3, "--dimension", 8, "--vocabulary-size", 50, "--hash-bins", 5]
SMALL = [*SIZES, "--ngram-bins", 100]
CNN = [*SIZES, "--preset", "paper"]


@pytest.fixture
def dataset(memory, make_training_data):
    return make_training_data(f"{memory}/d", CLUSTERS)


@pytest.mark.parametrize("options", [SMALL, CNN], ids=["default", "paper"])
def test_it_shows_sizes_and_time_and_writes_nothing(qpr, memory, dataset, options):
    outcome = qpr("train", "--dataset", dataset, "--output", f"{memory}/m", *options, "--dry-run", "--json")
    assert outcome.code == 0
    found = json.loads(outcome.out)
    assert (found["train_pairs"], found["train_clusters"], found["validation_pairs"]) == (9, 3, 0)
    assert (found["epochs"], found["batches_an_epoch"], found["pairs_an_epoch"]) == (2, 3, 9)
    assert found["pairs_a_step"] == 3
    assert found["seconds"] == pytest.approx(2 * found["seconds_an_epoch"])
    assert found["seconds"] > 0
    assert (found["output"], found["replaces"]) == (f"{memory}/m", False)
    assert "Nothing was written. Leave out --dry-run to do it" in outcome.err
    assert not storage.exists(f"{memory}/m")


def test_the_estimate_of_the_model_is_exact(qpr, memory, dataset):
    command = ["train", "--dataset", dataset, "--output", f"{memory}/m", *SMALL]
    plan = json.loads(qpr(*command, "--dry-run", "--json").out)
    assert qpr(*command).code == 0
    [run] = [name for name in storage.children(f"{memory}/m") if name != "manifest.json"]
    written = len(storage.read_bytes(f"{memory}/m/{run}/weights.safetensors"))
    assert written == pytest.approx(plan["model_bytes"], abs=200)
    assert json.loads(qpr(*command, "--dry-run", "--json", "--overwrite").out)["replaces"] is True


def test_for_a_person_there_are_megabytes_and_minutes(qpr, memory, dataset):
    shown = qpr("train", "--dataset", dataset, "--output", f"{memory}/m", *SMALL, "--dry-run").out
    assert "parameters" in shown
    assert "MB" in shown
    assert " s " in shown


def test_what_the_training_would_refuse_is_refused(qpr, memory, dataset, make_training_data, make_model):
    command = ["train", "--output", f"{memory}/m", *SMALL, "--dry-run", "--dataset"]
    nothing = make_training_data(f"{memory}/none", [("test", ["a", "b"])])
    refused = qpr(*command, nothing)
    assert (refused.code, "no train pair" in refused.err) == (1, True)
    make_model(f"{memory}/m")
    taken = qpr(*command, dataset)
    assert (taken.code, "--overwrite" in taken.err) == (1, True)
    other = qpr(*command, dataset, "--overwrite", "--init-from", f"{memory}/m")
    assert (other.code, "--encoder is cnn there and subword here" in other.err) == (1, True)


@pytest.mark.parametrize("options", [[], ["--loss", "multiple_negatives", *CNN]], ids=["size", "loss"])
def test_it_warns_as_the_training_does(qpr, memory, dataset, options):
    command = ["train", "--dataset", dataset, "--output", f"{memory}/m", "--json", "--epochs", 1, *options]
    planned, trained = (qpr(*command, *flag) for flag in (["--dry-run"], []))
    warnings = json.loads(planned.out)["warnings"]
    assert len(warnings) == 1
    assert json.loads(trained.out)["warnings"] == warnings


BEFORE_TORCH = """
import os, sys
class Watch:
    def find_spec(self, name, path=None, target=None):
        if name == "torch":
            print("policy", os.environ.get("OMP_WAIT_POLICY"), file=sys.stderr, flush=True)
            os._exit(0)  # it is read once, when torch is loaded
sys.meta_path.insert(0, Watch())
from jobs.cli import main
main(sys.argv[1:])
"""


@pytest.mark.parametrize("plan", [[], ["--dry-run"]], ids=["train", "dry run"])
def test_threads_learn_to_wait_before_torch_is_loaded(tmp_path, make_training_data, plan):
    dataset = make_training_data(str(tmp_path / "d"), CLUSTERS)
    arguments = map(str, ["train", "--dataset", dataset, "--output", tmp_path / "m", *SMALL, *plan])
    environment = {name: value for name, value in os.environ.items() if name != "OMP_WAIT_POLICY"}
    command = [sys.executable, "-c", BEFORE_TORCH, *arguments]
    done = subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert "policy passive" in done.stderr
