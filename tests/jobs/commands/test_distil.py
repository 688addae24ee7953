from __future__ import annotations

import json

import numpy as np
import pytest

from model.encoders.registry import load_encoder
from schemas.artifacts import storage
from schemas.artifacts.manifest import read_manifest

THINGS = ["bill", "rent", "card", "flight"]
CLUSTERS = [("train", [f"how do i {verb} my {t}", f"{verb} the {t}"]) for verb in ("pay", "cancel") for t in THINGS]


@pytest.fixture
def distil(qpr, make_training_data, sentence_transformer, tmp_path):
    make_training_data(str(tmp_path / "d"), CLUSTERS)

    def run(*options):
        given = ["--dataset", tmp_path / "d", "--teacher", sentence_transformer, "--output", tmp_path / "m"]
        return qpr("distil", *given, "--epochs", 2, "--batch-size", 8, "--dimension", 4, *options)

    return run


def test_what_was_taught_is_a_model_that_training_goes_on_from(distil, qpr, tmp_path, sentence_transformer):
    outcome = distil("--json")
    assert outcome.code == 0, outcome.err
    assert json.loads(outcome.out)["questions_taught"] == 16
    assert load_encoder(str(tmp_path / "m")).encode(["pay my bill"]).shape == (1, 4)
    manifest = read_manifest(str(tmp_path / "m"), "model")
    assert [source.url for source in manifest.inputs] == [str(tmp_path / "d"), sentence_transformer]
    card = next(file for file in manifest.files if file.path.endswith("README.md"))
    assert f"Trained with the vectors of `{sentence_transformer}`" in (tmp_path / "m" / card.path).read_text()
    given = ["--dataset", tmp_path / "d", "--init-from", tmp_path / "m", "--output", tmp_path / "n"]
    outcome = qpr("train", *given, "--epochs", 1, "--batch-size", 8, "--dimension", 4)
    assert outcome.code == 0, outcome.err
    assert "words are known to it" in outcome.err


def test_vectors_are_kept_and_the_same_command_gives_the_same_model(distil, tmp_path):
    vectors = tmp_path / "v.safetensors"
    assert distil("--vectors", vectors, "--questions", 10).code == 0
    first, written = load_encoder(str(tmp_path / "m")), vectors.stat().st_mtime_ns
    assert distil("--vectors", vectors, "--questions", 10, "--overwrite").code == 0
    assert vectors.stat().st_mtime_ns == written
    again = load_encoder(str(tmp_path / "m"))
    assert again.digest == first.digest
    np.testing.assert_array_equal(again.encode(["pay"]), first.encode(["pay"]))


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
