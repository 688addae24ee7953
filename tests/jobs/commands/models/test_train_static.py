"""Training that begins with the tokens somebody else embedded."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from model.encoders.loading import load_encoder
from schemas.artifacts.manifest import read_manifest
from tests.support.manifests import signed

THINGS = ["bill", "rent", "card", "flight"]
CLUSTERS = [("train", [f"how do i {verb} my {t}", f"{verb} the {t}"]) for verb in ("pay", "cancel") for t in THINGS]
SIZES = ["--epochs", 2, "--batch-size", 8, "--vocabulary-size", 50, "--hash-bins", 5, "--ngram-bins", 100]


@pytest.fixture
def train(qpr, make_training_data, tokens, tmp_path):
    make_training_data(str(tmp_path / "d"), CLUSTERS)

    def run(*options):
        given = ["--dataset", tmp_path / "d", "--output", tmp_path / "m", "--static-from", tokens, *SIZES]
        return qpr("train", *given, *options)

    return run


def test_the_model_holds_all_that_encoding_needs(train, tokens, tmp_path):
    outcome = train("--preset", "static", "--json")
    assert outcome.code == 0, outcome.err
    shutil.rmtree(tokens)
    assert load_encoder(str(tmp_path / "m")).encode(["pay my bill", ""]).shape == (2, 3)
    code = "import sys; sys.modules['torch'] = None; from model.encoders.loading import load_encoder; "
    code += f"load_encoder({str(tmp_path / 'm')!r}).encode(['pay'])"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


def test_a_plan_counts_the_tokens_too(train, tmp_path):
    outcome = train("--preset", "static", "--dry-run", "--json")
    assert outcome.code == 0, outcome.err
    assert json.loads(outcome.out)["parameters"] == (11 + 5 + 100 + 4) * 3  # words, bins, n-grams, tokens
    assert not (tmp_path / "m").exists()


def test_where_the_tokens_came_from_is_written_down(train, tokens, tmp_path):
    assert train("--encoder", "static", "--dimension", 2).code == 0
    manifest = read_manifest(str(tmp_path / "m"), "model")
    files = {file.path.split("/")[-1]: (tmp_path / "m" / file.path).read_text("latin-1") for file in manifest.files}
    shape = json.loads(files["config.json"])["shape"]
    assert (shape["static_from"], shape["tokens"], shape["dimension"]) == (str(tokens), 4, 2)
    assert files["LICENSE.tokens.txt"] == "Do as you like."
    assert f"4 token embeddings of `{Path(tokens).name}` (licence: not stated" in files["README.md"]
    assert files["tokenizer.json"] == (tokens / "tokenizer.json").read_text()
    assert {file.table for file in manifest.files if file.path.endswith("tokenizer.json")} == {"model"}


@pytest.mark.parametrize(
    ("options", "code", "message"),
    [
        (["--encoder", "subword"], 2, "--static-from is no option of --encoder subword"),
        (["--preset", "static", "--dimension", 4], 2, "have 3 numbers"),
        (["--preset", "static", "--hash-bins", 0], 2, "--encoder static needs at least 1"),
        (["--preset", "static", "--static-from", "no_such_package"], 1, "pip install no_such_package"),
    ],
)
def test_mistakes_are_named(train, options, code, message):
    outcome = train(*options)
    assert (outcome.code, message in outcome.err) == (code, True), outcome.err


def test_a_model_without_its_tokenizer_is_refused(train, tmp_path, qpr):
    train("--preset", "static")
    manifest = tmp_path / "m" / "manifest.json"
    content = json.loads(manifest.read_text())
    content["files"] = [file for file in content["files"] if not file["path"].endswith("tokenizer.json")]
    manifest.write_text(signed(content))
    (tmp_path / "q.txt").write_text("pay\n")
    outcome = qpr("encode", "--model", tmp_path / "m", "--input", tmp_path / "q.txt", "--output", tmp_path / "x.npy")
    assert (outcome.code, "the model has no tokenizer.json" in outcome.err) == (1, True)
