"""A model of sentence-transformers, fine-tuned by `qpr train`."""

from __future__ import annotations

import json
import shutil
import sys
from pathlib import Path

import numpy as np
import pytest

from model.encoders.loading import load_encoder
from model.encoders.transformer.checkpoint_folder import folder_digest, load_sentences
from model.search.opening import open_index
from schemas.artifacts import storage
from schemas.artifacts.manifest import read_manifest
from tests.support.manifests import signed

THINGS = ["bill", "rent", "card", "flight"]
CLUSTERS = [
    (split, [f"how do I {verb} my {thing}?", f"{verb} {thing}", f"I want to {verb} the {thing}."])
    for verb, split in (("pay", "train"), ("cancel", "train"), ("find", "test"))
    for thing in THINGS
]
SIZES = ["--epochs", 2, "--batch-size", 8, "--learning-rate", 1e-3]


@pytest.fixture
def command(memory, make_training_data, tiny_sentences):
    dataset = make_training_data(f"{memory}/d", CLUSTERS)
    start = ["--preset", "transformer", "--transformer-from", tiny_sentences]
    return ["train", "--dataset", dataset, "--output", f"{memory}/m", *start, *SIZES]


def test_it_goes_all_the_way_from_pairs_to_hits(qpr, memory, command, tmp_path):
    outcome = qpr(*command)
    assert outcome.code == 0, outcome.err
    asked = ["Pay my rent!", "find the card", "???"]
    (tmp_path / "q.txt").write_text("\n".join(asked))
    vectors = tmp_path / "x.npy"
    assert qpr("encode", "--model", f"{memory}/m", "--input", tmp_path / "q.txt", "--output", vectors).code == 0
    np.testing.assert_allclose(np.load(vectors), load_encoder(f"{memory}/m").encode(asked), atol=1e-6)

    given = ["--questions", f"{memory}/d", "--model", f"{memory}/m", "--output", f"{memory}/i", "--shards", 2]
    assert qpr("index", *given).code == 0
    storage.delete(f"{memory}/m")  # the index holds it
    assert len(open_index(f"{memory}/i").rank(asked, 2).ids) == 3
    assert qpr("search", "--index", f"{memory}/i", "--k", 2, "--json", "pay my bill").code == 0
    measured = qpr("evaluate", "--dataset", f"{memory}/d", "--split", "test", "--index", f"{memory}/i", "--json")
    assert json.loads(measured.out)["per_question"]["hits_at_10"] > 0.5


def test_the_model_holds_all_it_needs_and_no_pickle(qpr, memory, command, tiny_sentences, tmp_path):
    start = shutil.copytree(tiny_sentences, tmp_path / "start")
    assert qpr(*command, "--transformer-from", f"st:{start}", "--precision", "bfloat16").code == 0
    digest = folder_digest(start)
    shutil.rmtree(start)
    encoder = load_encoder(f"{memory}/m")
    manifest = read_manifest(f"{memory}/m", "model")
    assert encoder.digest == manifest.digest
    names = [file.path.partition("/")[2] for file in manifest.of("model")]
    assert {name.rpartition(".")[2] for name in names} == {"json", "safetensors"}
    assert {"config.json", "transformer/modules.json", "transformer/tokenizer.json"} <= set(names)
    config = json.loads(storage.read_bytes(f"{memory}/m/{manifest.run_id}/config.json"))
    expected = {"transformer_from": str(start), "transformer_digest": digest, "transformer_licence": "mit"}
    assert config["shape"] == {**expected, "dimension": 32}
    card = storage.read_bytes(f"{memory}/m/{manifest.run_id}/README.md").decode()
    assert f"model in `{Path(start).name}` (licence as its README states it:\nmit; digest `{digest}`)" in card
    assert "vocabulary size" not in card


def test_what_was_published_can_be_loaded_by_the_library(qpr, memory, command, tmp_path):
    [*train, output] = [str(tmp_path / "m") if part == f"{memory}/m" else part for part in [*command, "--json"]]
    outcome = qpr(*train, output)
    assert json.loads(outcome.out)["train_pairs"] == 24
    folder = tmp_path / "m" / read_manifest(str(tmp_path / "m")).run_id / "transformer"
    theirs = load_sentences(folder, name="published").encode(["pay", "find my card"], normalize_embeddings=True)
    np.testing.assert_allclose(load_encoder(str(tmp_path / "m")).encode(["pay", "find my card"]), theirs, atol=0.02)
    np.testing.assert_array_equal(load_encoder(f"st:{folder}").encode(["pay"]).shape, (1, 32))


def test_equal_commands_give_equal_models_in_chunks_too(qpr, memory, command):
    digests = []
    for _ in range(2):
        assert qpr(*command, "--overwrite").code == 0
        digests.append(read_manifest(f"{memory}/m").digest)
    assert digests[0] == digests[1]
    whole = load_encoder(f"{memory}/m").encode(["pay my bill"])
    assert qpr(*command, "--overwrite", "--chunk-size", 3).code == 0
    np.testing.assert_allclose(load_encoder(f"{memory}/m").encode(["pay my bill"]), whole, atol=0.02)


def test_it_stops_in_time(qpr, memory, command):
    outcome = qpr(*command, "--max-minutes", 1e-4, "--json")
    assert json.loads(outcome.out)["ending"] == "time over"
    assert load_encoder(f"{memory}/m").encode(["pay"]).shape == (1, 32)


def test_a_plan_counts_its_weights_and_writes_nothing(qpr, memory, command, tiny_sentences):
    outcome = qpr(*command, "--dry-run", "--json")
    assert outcome.code == 0, outcome.err
    weights = load_sentences(tiny_sentences, name="tiny").parameters()
    assert json.loads(outcome.out)["parameters"] == sum(weight.numel() for weight in weights)
    assert not storage.exists(f"{memory}/m")


def test_a_training_begins_with_what_an_older_one_learned(qpr, memory, command, tiny_sentences, tmp_path):
    assert qpr(*command).code == 0
    still = ["--output", f"{memory}/n", "--learning-rate", 1e-30, "--init-from", f"{memory}/m"]
    outcome = qpr(*command, *still)
    assert outcome.code == 0, outcome.err
    assert "beginning with the weights of a model: all " in outcome.err
    one, other = (load_encoder(f"{memory}/{name}").encode(["pay my bill"]) for name in "mn")
    np.testing.assert_array_equal(one, other)
    start = shutil.copytree(tiny_sentences, tmp_path / "start")
    (start / "README.md").unlink()
    refused = qpr(*command, *still, "--overwrite", "--transformer-from", start)
    assert (refused.code, "--transformer-from is " in refused.err) == (1, True)


def test_a_large_one_teaches_it_too(qpr, memory, command, tiny_sentences):
    given = ["--dataset", f"{memory}/d", "--teacher", f"st:{tiny_sentences}", "--output", f"{memory}/t"]
    outcome = qpr("distil", *given, "--preset", "transformer", "--transformer-from", tiny_sentences, *SIZES[:4])
    assert outcome.code == 0, outcome.err
    assert load_encoder(f"{memory}/t").encode(["pay"]).shape == (1, 32)


@pytest.mark.parametrize(
    ("options", "code", "message"),
    [
        (["--transformer-from", "nowhere"], 1, "nowhere: no modules.json in nowhere"),
        (["--dimension", 8], 2, "--dimension is no option of --encoder transformer"),
        (["--dropout", 0.1], 2, "--dropout is no option of --encoder transformer"),
        (["--hash-bins", 7], 2, "--hash-bins is no option of --encoder transformer"),
        (["--preset", "default"], 2, "--transformer-from is no option of --encoder subword"),
    ],
)
def test_mistakes_are_named(qpr, memory, command, options, code, message):
    outcome = qpr(*command, *options)
    assert (outcome.code, message in outcome.err) == (code, True), outcome.err
    assert not storage.exists(f"{memory}/m")


def test_truncated_weights_are_one_line(qpr, memory, command, tiny_sentences, tmp_path):
    start = shutil.copytree(tiny_sentences, tmp_path / "start")
    weights = start / "model.safetensors"
    weights.write_bytes(weights.read_bytes()[:-7])
    outcome = qpr(*command, "--transformer-from", start)
    assert (outcome.code, f"{start}: cannot be loaded: " in outcome.err) == (1, True), outcome.err


def test_a_damaged_model_is_refused(qpr, memory, command, tmp_path):
    assert qpr(*command).code == 0
    (tmp_path / "q.txt").write_text("pay\n")
    encode = ["encode", "--model", f"{memory}/m", "--input", tmp_path / "q.txt", "--output", tmp_path / "x.npy"]
    manifest = storage.read_bytes(f"{memory}/m/manifest.json")
    content = json.loads(manifest)
    content["files"] = [file for file in content["files"] if not file["path"].endswith("modules.json")]
    storage.write_bytes(f"{memory}/m/manifest.json", signed(content).encode())
    outcome = qpr(*encode)
    assert (outcome.code, "the model has no transformer/modules.json" in outcome.err) == (1, True), outcome.err
    storage.write_bytes(f"{memory}/m/manifest.json", manifest)
    [weights] = [file for file in read_manifest(f"{memory}/m").files if file.path.endswith("safetensors")]
    storage.write_bytes(f"{memory}/m/{weights.path}", b"\0" * weights.bytes)
    outcome = qpr(*encode)
    assert (outcome.code, "does not match the manifest's sha256" in outcome.err) == (1, True), outcome.err


def test_without_the_package_the_extra_is_named(qpr, memory, make_training_data, tmp_path, monkeypatch):
    (tmp_path / "modules.json").write_text("[]")
    monkeypatch.setitem(sys.modules, "sentence_transformers", None)
    dataset = make_training_data(f"{memory}/d", CLUSTERS)
    given = ["--dataset", dataset, "--output", f"{memory}/m", "--encoder", "transformer"]
    outcome = qpr("train", *given, "--transformer-from", tmp_path)
    assert (outcome.code, "pip install '.[transformers]'" in outcome.err) == (1, True), outcome.err
    outcome = qpr("train", *given)
    assert (outcome.code, "give --transformer-from, the folder of" in outcome.err) == (2, True), outcome.err
