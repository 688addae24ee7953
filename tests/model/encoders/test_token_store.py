from __future__ import annotations

import io
import tempfile
import warnings
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from model.encoders import token_store as mapped_tokens
from model.encoders.cnn.settings import CnnSettings
from model.encoders.device_tokens import DeviceTokens
from model.encoders.subword import network as subword_network
from model.encoders.subword.network import bags
from model.encoders.subword.row_ids import Subwords
from model.encoders.subword.settings import SubwordSettings
from model.encoders.token_store import collected, token_ids
from model.text import vocabulary as vocabulary_module
from model.text.vocabulary import TokenIds, Vocabulary
from model.training.encoder_training import train
from model.training.settings import TrainingSettings
from schemas.errors import QprError

WORD = st.text(st.sampled_from("abcé日"), min_size=1, max_size=3)
KEYS = st.lists(st.lists(WORD, max_size=4).map(" ".join), max_size=12)
VOCABULARY = Vocabulary(("a", "b", "ab"), hash_bins=7)
SHAPES = [
    CnnSettings(embedding_dimension=8, windows=(3,), channels=8, dimension=4),
    SubwordSettings(dimension=8, ngram_bins=64),
]


@pytest.fixture
def mapped(monkeypatch, tmp_path: Path) -> Path:
    """Put all ids into files of this folder, questions cut five at a time."""
    monkeypatch.setattr(vocabulary_module, "SLICE", 5)
    monkeypatch.setattr(mapped_tokens, "MAPPED_BYTES", 0)
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    return tmp_path


def assert_equal(found: TokenIds, expected: TokenIds) -> None:
    np.testing.assert_array_equal(found.ids, expected.ids)
    np.testing.assert_array_equal(found.offsets, expected.offsets)
    assert (found.ids.dtype, found.offsets.dtype) == (np.int32, np.int64)


def is_mapped(array: np.ndarray) -> bool:
    """Tell whether the memory of an array is that of a file."""
    while isinstance(array, np.ndarray):
        if isinstance(array, np.memmap):
            return True
        array = array.base
    return False


@given(KEYS, st.integers(1, 13), st.sampled_from([0, 16, 2**20]))
def test_slices_are_the_questions_at_once_in_memory_and_in_a_file(keys, size, most):
    texts, subwords = pa.array(keys, pa.string()), Subwords(VOCABULARY, (2,), 50)
    tokens, at_once = VOCABULARY.ids(texts), subwords.bags(texts)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(vocabulary_module, "SLICE", size)
        patch.setattr(mapped_tokens, "MAPPED_BYTES", most)
        found, bag = token_ids(VOCABULARY, texts), bags(subwords, texts)
        learned = Vocabulary.learn(texts)
    assert_equal(found, tokens)
    assert_equal(bag.questions, at_once.questions)
    assert_equal(bag.ngrams, at_once.ngrams)
    np.testing.assert_array_equal(bag.words, at_once.words)
    assert is_mapped(found.ids) == is_mapped(bag.questions.ids) == (tokens.ids.nbytes > most)
    assert learned == Vocabulary.learn(texts)


@pytest.mark.parametrize("shape", SHAPES, ids=["cnn", "subword"])
def test_weights_are_the_same_bit_for_bit(shape, pairs_about, mapped: Path, monkeypatch):
    pairs, validation = pairs_about("pay", "cancel", "find"), pairs_about("lose")
    settings = TrainingSettings(epochs=2, batch_size=8, vocabulary_size=20, hash_bins=8, dropout=0.3)
    read: list[TokenIds] = []
    for module in (mapped_tokens, subword_network):
        monkeypatch.setattr(module, "collected", lambda parts: read.append(collected(parts)) or read[-1])
    there = train(pairs, validation, shape=shape, settings=settings)
    assert [is_mapped(tokens.ids) for tokens in read] == [True, True]  # of train and validation
    monkeypatch.undo()
    here = train(pairs, validation, shape=shape, settings=settings)
    for name, weight in here.weights.items():
        np.testing.assert_array_equal(there.weights[name], weight)


def test_the_file_has_no_name_from_the_first_byte_on(mapped: Path):
    def parts():
        yield VOCABULARY.ids(pa.array(["a b"]))
        assert not list(mapped.iterdir())
        yield VOCABULARY.ids(pa.array(["b"]))

    found = collected(parts())
    assert not list(mapped.iterdir())
    assert is_mapped(found.ids)
    assert found.ids.tolist() == [0, 1, 1]


def test_pytorch_shares_the_mapped_memory_without_a_warning(mapped: Path):
    tokens = token_ids(VOCABULARY, pa.array(["a b", "b"]))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        there = DeviceTokens.of(tokens, torch.device("cpu"))
    assert there.ids.data_ptr() == tokens.ids.ctypes.data


def test_what_is_written_to_the_ids_stays_with_the_process():
    with tempfile.TemporaryFile(buffering=0) as file:
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(tempfile, "TemporaryFile", lambda **_: io.FileIO(file.fileno(), "r+", closefd=False))
            patch.setattr(mapped_tokens, "MAPPED_BYTES", 0)
            found = collected([VOCABULARY.ids(pa.array(["b"]))])
        found.ids[0] = 5
        file.seek(0)
        assert np.frombuffer(file.read(), np.int32).tolist() == [1]


def test_a_full_disk_names_the_folder_and_the_variable(mapped: Path, monkeypatch):
    monkeypatch.setattr(tempfile, "TemporaryFile", lambda **_: io.FileIO("/dev/full", "r+"))
    with pytest.raises(QprError) as raised:
        token_ids(VOCABULARY, pa.array(["a b"] * 300_000))
    assert str(raised.value).startswith(f"{mapped}: ")
    assert "No space left on device. Name a folder with more room in TMPDIR" in str(raised.value)


def test_a_folder_that_is_gone_is_named(mapped: Path, monkeypatch):
    monkeypatch.setattr(tempfile, "tempdir", str(mapped / "gone"))
    with pytest.raises(QprError, match=r"gone: .* do not fit: No such file or directory. Name a folder"):
        token_ids(VOCABULARY, pa.array(["a"]))
