from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import safetensors.numpy

from jobs.display import console
from schemas.artifacts.manifest import read_manifest

CLUSTERS = [
    ("validation" if verb == "find" else "train", [f"how do i {verb} my {t}", f"{verb} {t} please", f"{verb} the {t}"])
    for verb in ("pay", "cancel", "find")
    for t in ("bill", "rent", "card", "flight", "train", "hotel")
]
OPTIONS = ["--preset", "paper", "--loss", "multiple_negatives", "--epochs", "2", "--batch-size", "16"]
SIZES = ["--dimension", "8", "--vocabulary-size", "50", "--hash-bins", "5", "--json"]


def weights_of(url):
    (path,) = [file.path for file in read_manifest(url, "model").files if file.path.endswith(".safetensors")]
    return safetensors.numpy.load((Path(url) / path).read_bytes())


def test_torchrun_trains_the_model_of_one_process_and_only_the_first_prints(qpr, tmp_path, make_training_data):
    dataset = tmp_path / "d"
    make_training_data(dataset, CLUSTERS)
    arguments = ["train", "--dataset", str(dataset), *OPTIONS, *SIZES, "--output"]
    assert qpr(*arguments, tmp_path / "one").code == 0
    launch = ["-m", "torch.distributed.run", "--standalone", "--nproc-per-node", "2", "-m", "jobs"]
    environment = os.environ | {"OMP_NUM_THREADS": "1", "TMPDIR": str(tmp_path)}  # where torchrun leaves its logs
    command = [sys.executable, *launch, *arguments, str(tmp_path / "two"), "--resume", "--max-minutes", "60"]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=300, check=False)
    assert done.returncode == 0, done.stderr
    result = json.loads(done.stdout)  # one document, of the first process
    assert (result["model"], result["train_pairs"]) == (str(tmp_path / "two"), 36)
    assert done.stderr.count("epoch 2: loss") == done.stderr.count("no checkpoint to continue from") == 1
    one, two = (weights_of(str(tmp_path / name)) for name in ("one", "two"))
    for name, values in one.items():
        np.testing.assert_allclose(two[name], values, rtol=0, atol=1e-4, err_msg=name)


def test_another_process_than_the_first_writes_nothing_and_prints_only_its_failure(
    qpr, tmp_path, make_training_data, monkeypatch
):
    monkeypatch.setattr(console.messages, "quiet", False)  # and so it is again for the next test
    monkeypatch.setattr(console.results, "quiet", False)
    monkeypatch.setenv("RANK", "1")
    make_training_data(tmp_path / "d", CLUSTERS)
    arguments = ["--output", tmp_path / "m", *OPTIONS, *SIZES]
    assert qpr("train", "--dataset", tmp_path / "d", *arguments) == (0, "", "")
    assert not (tmp_path / "m").exists()
    failed = qpr("train", "--dataset", tmp_path / "none", *arguments)
    assert (failed.code, "qpr clusters" in failed.err) == (1, True)
