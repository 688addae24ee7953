from __future__ import annotations

import json
import os

import numpy as np
import pytest
import safetensors.numpy

from model.encoders.loading import load_encoder
from model.encoders.saved_model import load_parts, save_model
from schemas.artifacts import storage
from schemas.artifacts.manifest import File, read_manifest, read_verified
from schemas.artifacts.writer import Output
from schemas.errors import QprError


def files_of(url: str) -> dict[str, bytes]:
    manifest = read_manifest(url)
    return {file.path.split("/")[-1]: read_verified(url, file) for file in manifest.files}


def republish(url: str, changed: dict[str, bytes | None]) -> None:
    """Publish the model at ``url`` again with other files, their digests right; None leaves a file out."""
    contents = files_of(url) | changed
    output = Output(url, "model", overwrite=True)
    files: list[File] = [output.write(n, c, table="model") for n, c in contents.items() if c is not None]
    output.publish(files, inputs=[], configuration={}, counters={})


@pytest.fixture
def model(memory, make_model) -> str:
    make_model(f"{memory}/m")
    return f"{memory}/m"


def test_a_model_reads_back_as_it_was_written(model, memory, make_model):
    manifest = make_model(f"{memory}/other", seed=1)
    first, second = load_parts(model), load_parts(f"{memory}/other")
    assert first.vocabulary == second.vocabulary
    assert first.config == second.config
    assert (first.weights["bias"] != second.weights["bias"]).all()
    assert second.manifest == manifest
    assert files_of(model).keys() == {
        "config.json",
        "vocabulary.txt",
        "weights.safetensors",
        "metrics.jsonl",
        "README.md",
    }


def test_equal_content_is_an_equal_digest_wherever_it_lies(model, memory, make_model):
    make_model(f"{memory}/again")
    make_model(f"{memory}/other", seed=1)
    assert load_encoder(f"{memory}/again").digest == load_encoder(model).digest
    assert load_encoder(f"{memory}/other").digest != load_encoder(model).digest


@pytest.mark.parametrize(("encoder", "largest"), [("subword", 65_520), ("cnn", np.inf), ("cnn", np.nan)])
def test_a_weight_that_is_not_finite_as_it_is_stored_is_not_written(memory, make_model, encoder, largest):
    make_model(f"{memory}/m", encoder=encoder)
    there = load_parts(f"{memory}/m")
    weights = {name: weight.astype(np.float32) for name, weight in there.weights.items()}
    weights["embedding.weight"][0, 0] = largest
    parts = (there.config, there.vocabulary, weights)
    with pytest.raises(QprError, match=r"/new: embedding.weight is not finite as float\d\d, so no model is written"):
        save_model(
            Output(f"{memory}/new", "model"), parts=parts, metrics=[], files={}, pages={}, inputs=[], counters={}
        )
    assert not storage.exists(f"{memory}/new/manifest.json")
    assert load_parts(f"{memory}/m").manifest == there.manifest


def test_an_encoder_loads_from_a_local_folder_and_encodes(tmp_path, make_model):
    make_model(tmp_path / "m", dimension=5)
    encoder = load_encoder(str(tmp_path / "m"))
    assert encoder.dimension == 5
    assert encoder.encode(["pay the bill", ""]).shape == (2, 5)


def test_a_flipped_bit_is_noticed(tmp_path, make_model):
    manifest = make_model(tmp_path / "m")
    path = next(tmp_path / "m" / file.path for file in manifest.files if "weights" in file.path)
    content = bytearray(path.read_bytes())
    content[-1] ^= 1
    path.write_bytes(content)
    with pytest.raises(QprError, match=r"weights\.safetensors: does not match"):
        load_encoder(str(tmp_path / "m"))
    os.truncate(path, 10)
    with pytest.raises(QprError, match=r"weights\.safetensors: does not match"):
        load_encoder(str(tmp_path / "m"))


def without(content: bytes, *names: str) -> bytes:
    config = json.loads(content)
    return json.dumps({name: value for name, value in config.items() if name not in names}).encode()


@pytest.mark.parametrize(
    ("name", "damage", "reason"),
    [
        ("weights.safetensors", lambda c: c[:-10], "weights.safetensors is damaged"),
        ("weights.safetensors", lambda _: b"", "weights.safetensors is damaged"),
        ("weights.safetensors", lambda _: None, "has no weights.safetensors"),
        ("config.json", lambda _: b"{", "config.json"),
        ("config.json", lambda c: without(c, "words"), "config.json: words: Field required"),
        ("config.json", lambda c: c.replace(b'"cnn"', b'"lstm"'), "config.json: encoder"),
        ("config.json", lambda c: c.replace(b'"hash_bins": 50', b'"hash_bins": 49'), "embedding.weight is"),
        ("vocabulary.txt", lambda c: c + b"more\n", "holds 5 words, config.json lists 4"),
        ("vocabulary.txt", lambda c: c.replace(b"bill", b"pay"), "vocabulary.txt"),
        ("vocabulary.txt", lambda _: b"\xff\n", "vocabulary.txt"),
    ],
)
def test_files_that_do_not_fit_together_are_an_error(model, name, damage, reason):
    republish(model, {name: damage(files_of(model)[name])})
    with pytest.raises(QprError, match=reason):
        load_encoder(model)


@pytest.mark.parametrize("change", ["drop", "add", "shape", "type"])
def test_weights_other_than_the_configuration_asks_for_are_an_error(model, change):
    weights = safetensors.numpy.load(files_of(model)["weights.safetensors"])
    weights |= {"add": {"more": weights["bias"]}, "shape": {"bias": weights["bias"][1:]}}.get(change, {})
    if change == "drop":
        del weights["bias"]
    if change == "type":
        weights["bias"] = weights["bias"].astype(np.float64)
    republish(model, {"weights.safetensors": safetensors.numpy.save(weights)})
    with pytest.raises(QprError, match=r"weights\.safetensors: (bias|more) is"):
        load_encoder(model)


def test_a_model_from_before_there_were_several_encoders_still_opens(model):
    expected = load_encoder(model).encode(["pay the bill"])
    config = json.loads(files_of(model)["config.json"])
    del config["encoder"]
    new = ("loss", "scale", "dropout", "pairs_per_cluster", "linear_decay")
    config["training"] = {name: value for name, value in config["training"].items() if name not in new}
    republish(model, {"config.json": json.dumps(config).encode()})
    np.testing.assert_array_equal(load_encoder(model).encode(["pay the bill"]), expected)
    assert load_parts(model).config.distance == "squared_euclidean"


@pytest.mark.parametrize("encoder", ["cnn", "subword"])
def test_a_model_without_a_version_of_its_words_reads_questions_by_the_first_one(memory, make_model, encoder):
    url, questions = f"{memory}/m", ["is c++ 3.14", "is c 3 14"]
    make_model(url, words=("is", "c", "3", "14", "c++", "3.14"), encoder=encoder)
    now = load_encoder(url).encode(questions)
    assert np.abs(now[0] - now[1]).max() > 0.01
    republish(url, {"config.json": without(files_of(url)["config.json"], "tokenizer")})
    older = load_encoder(url).encode(questions)
    np.testing.assert_array_equal(older[0], older[1])
    np.testing.assert_array_equal(older[1], now[1])


def test_a_model_with_words_of_a_later_version_is_refused(model):
    later = files_of(model)["config.json"].replace(b'"tokenizer": 2', b'"tokenizer": 3')
    republish(model, {"config.json": later})
    with pytest.raises(QprError, match=r"config\.json: tokenizer: .*1 or 2.*Train the model again or, if a newer"):
        load_encoder(model)


def test_a_subword_model_is_stored_at_half_precision_and_reads_back(memory, make_model):
    make_model(f"{memory}/s", encoder="subword", dimension=5)
    parts = load_parts(f"{memory}/s")
    table = safetensors.numpy.load(files_of(f"{memory}/s")["weights.safetensors"])["embedding.weight"]
    assert (table.dtype, table.shape) == (np.float16, (4 + 50 + 100, 5))  # words, hash bins, n-gram bins
    np.testing.assert_array_equal(parts.weights["embedding.weight"], table)
    encoder = load_encoder(f"{memory}/s")
    assert encoder.dimension == 5
    np.testing.assert_allclose(np.linalg.norm(encoder.encode(["pay the bill", "x"]), axis=1), 1, atol=1e-6)


@pytest.mark.parametrize(
    ("damage", "reason"),
    [
        (lambda c: c.replace(b'"subword"', b'"cnn"'), "config.json: shape"),
        (lambda c: c.replace(b'"ngram_bins": 100', b'"ngram_bins": 99'), "embedding.weight is"),
        (lambda c: c.replace(b'"hash_bins": 50,', b'"hash_bins": 0,'), "config.json: hash_bins: .* at least 1"),
    ],
)
def test_a_subword_model_whose_files_do_not_fit_is_an_error(memory, make_model, damage, reason):
    make_model(f"{memory}/s", encoder="subword")
    republish(f"{memory}/s", {"config.json": damage(files_of(f"{memory}/s")["config.json"])})
    with pytest.raises(QprError, match=reason):
        load_encoder(f"{memory}/s")


def test_a_folder_that_is_no_model_is_an_error(memory, make_training_data):
    with pytest.raises(QprError, match="does not exist"):
        load_encoder(f"{memory}/nothing")
    url = make_training_data(f"{memory}/d", [])
    with pytest.raises(QprError, match="holds a dataset, not a model"):
        load_encoder(url)


def test_a_failed_write_leaves_the_old_model(model, make_model, monkeypatch):
    before = load_parts(model).manifest
    write = storage.write_bytes

    def full(url, content):
        if "metrics" in url:
            raise QprError("disk full")
        write(url, content)

    monkeypatch.setattr(storage, "write_bytes", full)
    with pytest.raises(QprError, match="disk full"):
        make_model(model, seed=1)
    assert load_parts(model).manifest == before
    assert storage.children(model) == sorted([before.run_id, "manifest.json"])
