"""`qpr train --init-from`: a model that begins where an older one ended."""

from __future__ import annotations

import json

import pytest

from model.encoders.saved_model import load_parts
from schemas.artifacts import storage
from schemas.artifacts.manifest import read_manifest

VERBS = {"old": ("pay", "cancel", "find"), "new": ("pay", "cancel", "renew")}
SIZES = ["--epochs", 1, "--batch-size", 3, "--dimension", 8, "--vocabulary-size", 50, "--hash-bins", 5]
KINDS = {"default": [*SIZES, "--ngram-bins", 100], "paper": [*SIZES, "--preset", "paper"]}
STILL = ["--learning-rate", 1e-30]


@pytest.fixture
def datasets(memory, make_training_data):
    made = {
        name: [("train", [f"how do i {verb} it", f"{verb} it please", f"{verb} that"]) for verb in verbs]
        for name, verbs in VERBS.items()
    }
    return {name: make_training_data(f"{memory}/{name}-data", clusters) for name, clusters in made.items()}


@pytest.mark.parametrize("kind", KINDS)
def test_known_words_keep_their_rows_and_new_ones_get_fresh_ones(qpr, memory, datasets, kind):
    assert qpr("train", "--dataset", datasets["old"], "--output", f"{memory}/old", *KINDS[kind]).code == 0
    command = ["train", "--dataset", datasets["new"], *KINDS[kind], *STILL]
    warm = qpr(*command, "--output", f"{memory}/warm", "--init-from", f"{memory}/old")
    assert warm.code == 0
    assert "it has 8 of 9 words" in warm.err  # all but renew
    assert qpr(*command, "--output", f"{memory}/fresh").code == 0
    old, found, fresh = (load_parts(f"{memory}/{name}") for name in ("old", "warm", "fresh"))
    rows = {
        name: dict(zip(parts.vocabulary.words, parts.weights["embedding.weight"], strict=False))
        for name, parts in {"old": old, "warm": found, "fresh": fresh}.items()
    }
    for word, row in rows["warm"].items():
        assert (row == rows["fresh" if word == "renew" else "old"][word]).all()
    digests = [source.digest for source in read_manifest(f"{memory}/warm").inputs]
    assert digests == [read_manifest(datasets["new"]).digest, old.manifest.digest]
    [card] = [f for f in found.manifest.files if f.path.endswith("README.md")]
    assert (
        f"Begun with the weights of the model `{memory}/old`"
        in storage.read_bytes(f"{memory}/warm/{card.path}").decode()
    )


def test_a_model_can_be_replaced_by_what_begins_with_it(qpr, memory, datasets):
    command = ["train", "--output", f"{memory}/m", *KINDS["default"], "--dataset"]
    assert qpr(*command, datasets["old"]).code == 0
    first = read_manifest(f"{memory}/m").digest
    assert qpr(*command, datasets["new"], "--init-from", f"{memory}/m", "--overwrite").code == 0
    assert read_manifest(f"{memory}/m").inputs[1].digest == first != read_manifest(f"{memory}/m").digest


def test_no_other_size_is_advised_where_the_older_model_decides_it(qpr, memory, datasets):
    command = ["train", *SIZES[:4], "--dataset"]
    old = qpr(*command, datasets["old"], "--output", f"{memory}/old")
    assert "101 MB of the model are tables shared by rare words and n-grams" in old.err
    warm = qpr(*command, datasets["new"], "--output", f"{memory}/warm", "--init-from", f"{memory}/old", "--json")
    assert (warm.code, json.loads(warm.out)["warnings"]) == (0, [])


def test_what_cannot_be_begun_from_is_one_clear_line(qpr, memory, datasets):
    command = ["train", "--dataset", datasets["old"], "--output", f"{memory}/m", *KINDS["default"], "--init-from"]
    assert qpr("train", "--dataset", datasets["old"], "--output", f"{memory}/old", *KINDS["default"]).code == 0
    shape = qpr(*command, f"{memory}/old", "--dimension", 9)
    assert (shape.code, "--dimension is 8 there and 9 here" in shape.err) == (1, True)
    missing = qpr(*command, f"{memory}/none")
    assert (missing.code, "not a model: it does not exist. Make one with `qpr train`" in missing.err) == (1, True)
    [weights] = [f.path for f in read_manifest(f"{memory}/old").files if f.path.endswith("safetensors")]
    content = storage.read_bytes(f"{memory}/old/{weights}")
    storage.write_bytes(f"{memory}/old/{weights}", content[:-20])
    truncated = qpr(*command, f"{memory}/old")
    assert (truncated.code, f"{weights}: does not match the manifest's sha256" in truncated.err) == (1, True)
    assert not storage.exists(f"{memory}/m")


def test_tokens_that_others_embedded_are_begun_with_as_the_older_model_left_them(qpr, memory, datasets, tokens):
    static = ["--preset", "static", "--static-from", tokens, *SIZES[:4], *SIZES[6:], "--ngram-bins", 100]
    assert qpr("train", "--dataset", datasets["old"], "--output", f"{memory}/old", *static).code == 0
    command = ["train", "--dataset", datasets["new"], "--output", f"{memory}/warm", *static, *STILL]
    assert qpr(*command, "--init-from", f"{memory}/old").code == 0
    old, warm = (load_parts(f"{memory}/{name}").weights["embedding.weight"] for name in ("old", "warm"))
    assert (warm[-4:] == old[-4:]).all()
    refused = qpr(*command, "--overwrite", "--init-from", f"{memory}/old", "--dimension", 2)
    assert (refused.code, "--dimension is 3 there and 2 here" in refused.err) == (1, True)
