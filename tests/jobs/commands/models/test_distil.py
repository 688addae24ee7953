from __future__ import annotations

import json

import numpy as np
import pytest

from model.encoders.loading import load_encoder
from schemas.artifacts import storage
from schemas.artifacts.manifest import read_manifest
from schemas.artifacts.writer import CHECKPOINTS

THINGS = ["bill", "rent", "card", "flight"]
CLUSTERS = [("train", [f"how do i {verb} my {t}", f"{verb} the {t}"]) for verb in ("pay", "cancel") for t in THINGS]


@pytest.fixture
def distil(qpr, make_training_data, sentence_transformer, tmp_path):
    make_training_data(str(tmp_path / "d"), CLUSTERS)

    def run(*options):
        given = ["--dataset", tmp_path / "d", "--teacher", sentence_transformer, "--output", tmp_path / "m"]
        return qpr("distil", *given, "--epochs", 2, "--batch-size", 8, "--dimension", 4, *options)

    return run


def test_a_distilled_encoder_is_a_model_that_training_can_start_from(distil, qpr, tmp_path, sentence_transformer):
    outcome = distil("--json")
    assert outcome.code == 0, outcome.err
    assert json.loads(outcome.out)["questions_taught"] == 16
    assert load_encoder(str(tmp_path / "m")).encode(["pay my bill"]).shape == (1, 4)
    manifest = read_manifest(str(tmp_path / "m"), "model")
    assert [source.url for source in manifest.inputs] == [str(tmp_path / "d"), sentence_transformer]
    card = next(file for file in manifest.files if file.path.endswith("README.md"))
    assert "Trained with the vectors of `st:sentences`" in (tmp_path / "m" / card.path).read_text()
    given = ["--dataset", tmp_path / "d", "--init-from", tmp_path / "m", "--output", tmp_path / "n"]
    outcome = qpr("train", *given, "--epochs", 1, "--batch-size", 8, "--dimension", 4)
    assert outcome.code == 0, outcome.err
    assert "beginning with the weights of a model: it has " in outcome.err


def test_the_card_names_the_batch_size_that_was_used(distil, tmp_path):
    assert distil("--batch-size", 100).code == 0
    [card] = (tmp_path / "m").rglob("README.md")
    assert "| batch size | 16 |" in card.read_text()


def test_the_card_lists_what_distillation_used_and_nothing_of_pairs(distil, tmp_path):
    assert distil().code == 0
    [page] = (tmp_path / "m").rglob("README.md")
    text = page.read_text()
    rows = [line.split("|")[1].strip() for line in text.splitlines() if line.startswith("| ")]
    assert {"learning rate", "linear decay", "dropout", "seed", "questions taught"} <= set(rows)
    assert not {"pairs per cluster", "smoothing", "scale", "mates", "patience", "precision"} & set(rows)
    assert "ROC AUC" not in text
    assert all(len(line) <= 120 for line in text.splitlines() if str(tmp_path) not in line)


def test_vectors_are_kept_and_the_same_command_gives_the_same_model(distil, tmp_path):
    vectors = tmp_path / "v.safetensors"
    assert distil("--vectors", vectors, "--questions", 10).code == 0
    first, written = load_encoder(str(tmp_path / "m")), vectors.stat().st_mtime_ns
    again = distil("--vectors", vectors, "--questions", 10, "--overwrite")
    assert (again.code, "encoding" in again.err) == (0, False)
    assert vectors.stat().st_mtime_ns == written
    again = load_encoder(str(tmp_path / "m"))
    assert again.digest == first.digest
    np.testing.assert_array_equal(again.encode(["pay"]), first.encode(["pay"]))


@pytest.mark.parametrize("after", [1, 3])
def test_stopped_and_resumed_it_gives_the_model_of_one_never_stopped(distil, stopped, tmp_path, after):
    assert distil("--output", tmp_path / "whole").code == 0
    with stopped(after=after):  # of 4 steps
        outcome = distil("--checkpoint-every", 1e-9)
    assert outcome.code == 143
    assert "stays; --resume continues from it" in outcome.err
    assert storage.children(str(tmp_path / "m")) == [CHECKPOINTS]
    refused = distil("--resume", "--seed", 1)
    assert (refused.code, "--seed is 0 there and 1 here" in refused.err) == (1, True)
    resumed = distil("--resume", "--json")
    assert resumed.code == 0, resumed.err
    assert f"continuing from the checkpoint of epoch {1 + after // 2}, step {after % 2}" in resumed.err
    assert json.loads(resumed.out)["ending"] == "all epochs done"
    digests = {read_manifest(str(tmp_path / name), "model").digest for name in ("m", "whole")}
    assert (len(digests), CHECKPOINTS in storage.children(str(tmp_path / "m"))) == (1, False)


def test_a_time_limit_writes_the_model_as_it_is(distil, tmp_path):
    outcome = distil("--max-minutes", 1e-9, "--json")
    assert outcome.code == 0, outcome.err
    assert "stopped after 1e-09 minutes at epoch 1 of 2, step 1 of 2" in outcome.err
    assert json.loads(outcome.out)["ending"] == "time over"
    assert load_encoder(str(tmp_path / "m")).encode(["pay my bill"]).shape == (1, 4)


@pytest.mark.parametrize(
    ("options", "code", "message"),
    [
        (["--teacher", "st:nowhere"], 1, "no modules.json"),
        (["--teacher", "nowhere"], 1, "qpr train"),
        (["--questions", 2], 1, "2 questions to teach with"),
        (["--learning-rate", 1e30], 1, "embedding.weight is not finite as float16"),
        (["--learning-rate", 0], 2, "--learning-rate 0"),
        (["--encoder", "cnn", "--dropout", 0.1], 2, "--dropout is no option of --encoder cnn"),
    ],
)
def test_mistakes_are_named_and_nothing_is_left_behind(distil, tmp_path, options, code, message):
    outcome = distil(*options)
    assert (outcome.code, message in outcome.err) == (code, True), outcome.err
    assert not storage.exists(str(tmp_path / "m"))


def test_a_dataset_without_train_pairs_is_refused_before_the_teacher_encodes(distil, make_training_data, tmp_path):
    make_training_data(str(tmp_path / "few"), [("test", ["pay my bill", "how do i pay it", "pay it"])])
    outcome = distil("--dataset", tmp_path / "few", "--teacher", "st:nowhere", "--vectors", tmp_path / "v.safetensors")
    assert outcome.code == 1
    assert "more logs: the vocabulary of the model is that of the train pairs" in outcome.err


def test_a_model_does_not_replace_its_teacher(distil, tmp_path, monkeypatch):
    assert distil().code == 0
    content = (tmp_path / "m" / "manifest.json").read_bytes()
    monkeypatch.chdir(tmp_path)
    outcome = distil("--teacher", "./m/", "--overwrite")
    assert (outcome.code, "is the teacher" in outcome.err) == (2, True), outcome.err
    assert (tmp_path / "m" / "manifest.json").read_bytes() == content
