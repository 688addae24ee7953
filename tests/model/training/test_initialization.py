from __future__ import annotations

import re

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from model.encoders.cnn.settings import CnnSettings
from model.encoders.network import weights_of
from model.encoders.new_network import network_of
from model.encoders.saved_model import load_parts, read_config
from model.encoders.subword.settings import SubwordSettings
from model.text.vocabulary import Vocabulary
from model.training.encoder_training import train
from model.training.initialization import begin_from, build_network, older_model, rows_in_common, shape_difference
from model.training.settings import TrainingSettings
from schemas.artifacts import storage
from schemas.errors import QprError

SHAPES = {
    "cnn": CnnSettings(embedding_dimension=6, windows=(3,), channels=10, dimension=8),
    "subword": SubwordSettings(dimension=8, ngram_bins=100),
}
SETTINGS = TrainingSettings(epochs=1, batch_size=10, vocabulary_size=30, hash_bins=50)
BOTH = pytest.mark.parametrize("encoder", SHAPES)

vocabularies = st.builds(
    Vocabulary,
    st.lists(st.text("abc", min_size=1, max_size=2), unique=True, max_size=8).map(tuple),
    st.integers(1, 3),
)


@given(vocabularies, vocabularies, st.integers(0, 4))
def test_rows_in_common_are_those_of_one_word_one_bin_or_one_ngram(older, newer, beyond):
    def names(vocabulary):
        bins = [("bin", vocabulary.hash_bins, number) for number in range(vocabulary.hash_bins)]
        return [*vocabulary.words, *bins, *(("n-gram", number) for number in range(beyond))]

    new, old, known = rows_in_common(older, newer, beyond=beyond)
    there = {name: row for row, name in enumerate(names(older))}
    expected = {row: there[name] for row, name in enumerate(names(newer)) if name in there}
    assert dict(zip(new.tolist(), old.tolist(), strict=True)) == expected
    assert known == len(set(older.words) & set(newer.words))


@BOTH
def test_a_network_begins_with_the_rows_of_known_words_and_fresh_ones_for_others(memory, make_model, encoder):
    shape = SHAPES[encoder]
    make_model(f"{memory}/old", encoder=encoder, words=("pay", "bill", "cancel"))
    older = load_parts(f"{memory}/old")
    newer = Vocabulary(("rent", "bill", "pay"), hash_bins=50)
    network = network_of(newer, shape, dropout=SETTINGS.dropout, seed=SETTINGS.seed)
    fresh = weights_of(network.body)
    assert begin_from(older, network, newer) == "it has 2 of 3 words"
    found = weights_of(network.body)
    table, old = found.pop("embedding.weight"), older.weights["embedding.weight"].astype(np.float32)
    np.testing.assert_array_equal(table[[1, 2]], old[[1, 0]])
    np.testing.assert_array_equal(table[3:], old[3:])
    np.testing.assert_array_equal(table[0], fresh["embedding.weight"][0])
    for name, weight in found.items():
        np.testing.assert_array_equal(weight, older.weights[name])


@BOTH
def test_with_other_hash_bins_these_begin_again_and_that_is_reported(memory, make_model, encoder):
    make_model(f"{memory}/old", encoder=encoder)
    newer = Vocabulary(("bill",), hash_bins=4)
    network = network_of(newer, SHAPES[encoder], dropout=SETTINGS.dropout, seed=SETTINGS.seed)
    fresh = weights_of(network.body)["embedding.weight"]
    said = begin_from(load_parts(f"{memory}/old"), network, newer)
    assert "it has 50 of them, not 4" in said
    np.testing.assert_array_equal(weights_of(network.body)["embedding.weight"][1:5], fresh[1:5])


@BOTH
def test_without_a_step_the_vectors_are_those_of_the_older_model(memory, make_model, encoder):
    make_model(f"{memory}/old", encoder=encoder, words=("bill", "pay"))
    older = load_parts(f"{memory}/old")
    network = network_of(older.vocabulary, SHAPES[encoder], dropout=SETTINGS.dropout, seed=SETTINGS.seed)
    begin_from(older, network, older.vocabulary)
    keys = pa.array(["pay the bill", "settle it", "bill"])
    from model.encoders.loading import load_encoder

    expected = load_encoder(f"{memory}/old").encode(keys.to_pylist())
    np.testing.assert_allclose(network.encode_all(network.read(keys)), expected, atol=1e-5)


@BOTH
@pytest.mark.parametrize(
    ("change", "told"),
    [({"dimension": 9}, "--dimension is 8 there and 9 here"), (None, "--encoder is {} there and {} here")],
)
def test_a_network_of_another_shape_is_refused(memory, make_model, encoder, change, told):
    make_model(f"{memory}/old", encoder=encoder)
    other = next(name for name in SHAPES if name != encoder)
    shape = SHAPES[encoder].model_copy(update=change) if change else SHAPES[other]
    with pytest.raises(QprError, match=re.escape(told.format(encoder, other))):
        older_model(f"{memory}/old", shape)


def test_a_list_of_the_shape_is_shown_as_the_option_takes_it(memory, make_model):
    make_model(f"{memory}/old")
    with pytest.raises(QprError, match="--windows is 3 there and 2,4 here"):
        older_model(f"{memory}/old", SHAPES["cnn"].model_copy(update={"windows": (2, 4)}))


@BOTH
def test_training_from_a_model_differs_from_training_from_scratch(memory, make_model, pairs_about, encoder):
    make_model(f"{memory}/old", encoder=encoder, words=("pay", "bill"))
    older, said = older_model(f"{memory}/old", SHAPES[encoder]), []
    given = {"shape": SHAPES[encoder], "settings": SETTINGS}
    pairs = pairs_about("pay", "cancel")
    warm = train(pairs, pairs_about(), **given, older=older, inform=said.append)
    fresh = train(pairs, pairs_about(), **given)
    assert "beginning with the weights of a model: it has 2 of 14 words" in said
    assert (warm.weights["embedding.weight"] != fresh.weights["embedding.weight"]).any()


def test_shapes_are_compared_by_the_settings_alone(memory, make_model):
    manifest = make_model(f"{memory}/old")
    [weights] = [f"{memory}/old/{f.path}" for f in manifest.files if f.path.endswith("safetensors")]
    storage.delete_file(weights)
    config = read_config(f"{memory}/old")
    assert shape_difference(config, SHAPES["cnn"]) is None
    assert shape_difference(config, SHAPES["subword"]) == "--encoder is cnn there and subword here"


def test_a_damaged_model_is_refused(memory, make_model):
    manifest = make_model(f"{memory}/old")
    [weights] = [f"{memory}/old/{f.path}" for f in manifest.files if f.path.endswith("safetensors")]
    storage.write_bytes(weights, storage.read_bytes(weights)[:-10])
    with pytest.raises(QprError, match="does not match the manifest"):
        older_model(f"{memory}/old", SHAPES["cnn"])


def test_questions_without_a_token_are_refused(pairs_about):
    settings = SETTINGS.model_copy(update={"vocabulary_size": 0, "hash_bins": 0})
    with pytest.raises(QprError, match="no train question has a word"):
        build_network(pairs_about("pay"), shape=SHAPES["cnn"], settings=settings, device=None, older=None, inform=print)
