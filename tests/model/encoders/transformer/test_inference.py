from __future__ import annotations

import pickle
import sys
import types
from unittest.mock import Mock

import numpy as np
import pyarrow as pa
import pytest
import torch

from model.encoders.loading import digest_of, load_encoder
from model.encoders.transformer import inference as transformer
from model.encoders.transformer.checkpoint_folder import load_sentences
from model.encoders.transformer.inference import TransformerEncoder
from schemas.errors import QprError, UsageError


def test_texts_are_encoded_as_they_were_asked(sentence_transformer):
    encoder = load_encoder(sentence_transformer)
    assert isinstance(encoder, TransformerEncoder)
    vectors = encoder.encode(["Pay?", "pay", ""])
    assert (vectors.dtype, vectors.shape, encoder.dimension) == (np.float32, (3, 4), 4)
    np.testing.assert_allclose(np.linalg.norm(vectors[:2], axis=1), 1, atol=1e-6)
    assert (vectors[0] != vectors[1]).any()  # case and punctuation are the model's own affair
    texts = pa.chunked_array([["Pay?"], ["pay", ""]])
    np.testing.assert_array_equal(encoder.encode(texts), vectors)
    np.testing.assert_array_equal(encoder.encode_keys(pa.array(["pay"])), vectors[1:2])
    assert encoder.encode([]).shape == (0, 4)
    with pytest.raises(UsageError, match=r"got str. Write encode\(\[question\]\) for one"):
        encoder.encode("pay")
    for given, message in ((pa.array(["pay", None]), "item 1 is of type NoneType"), ([5], "item 0 is of type int")):
        with pytest.raises(UsageError, match=message):
            encoder.encode(given)


def test_it_is_loaded_without_network_pickles_or_code_of_its_own(sentence_transformer):
    encoder = load_encoder(sentence_transformer)
    encoder.encode(["pay"])
    options = encoder._model.options
    assert options == {"local_files_only": True, "model_kwargs": {"use_safetensors": True}, "device": None}


def test_it_computes_on_the_device_that_is_given(tiny_sentences, library, monkeypatch):
    monkeypatch.setattr(transformer, "_multiplies_half", lambda device: seen.append(device))
    monkeypatch.setattr(torch.backends.mps, "is_available", lambda: True)  # where the library would compute by itself
    seen: list[torch.device] = []
    encoder = TransformerEncoder("", f"st:{tiny_sentences}", device="cpu")
    np.testing.assert_allclose(encoder.encode(ASKED), library, atol=1e-5)
    assert seen == [torch.device("cpu")]


def test_the_digest_is_of_names_and_contents(sentence_transformer, tmp_path):
    digests = [digest_of(sentence_transformer)]
    assert digest_of(sentence_transformer) == load_encoder(sentence_transformer).digest == digests[0]
    folder = tmp_path / "sentences"
    (folder / "more").mkdir()
    (folder / "more" / "weights").write_bytes(b"1")
    digests.append(digest_of(sentence_transformer))
    (folder / "more" / "weights").write_bytes(b"2")
    digests.append(digest_of(sentence_transformer))
    assert len(set(digests)) == 3


def test_it_travels_by_its_folder(sentence_transformer):
    encoder = load_encoder(sentence_transformer)
    vectors = encoder.encode(["pay"])
    np.testing.assert_array_equal(pickle.loads(pickle.dumps(encoder)).encode(["pay"]), vectors)


def test_what_is_no_such_model_is_named(tmp_path):
    with pytest.raises(QprError, match=r"no modules\.json in .*nowhere"):
        load_encoder(f"st:{tmp_path / 'nowhere'}")


def test_a_missing_package_is_named(sentence_transformer, monkeypatch):
    monkeypatch.setitem(sys.modules, "sentence_transformers", None)
    with pytest.raises(QprError, match=r"pip install '\.\[transformers\]'"):
        load_encoder(sentence_transformer).encode(["pay"])


def test_what_cannot_be_loaded_is_one_line(sentence_transformer, monkeypatch):
    refuse = Mock(side_effect=OSError("no weights.\nand a long story"))
    monkeypatch.setitem(sys.modules, "sentence_transformers", types.SimpleNamespace(SentenceTransformer=refuse))
    with pytest.raises(QprError, match=r"cannot be loaded: no weights\. Fetch the model again, or upgrade"):
        load_encoder(sentence_transformer).encode(["pay"])


ASKED = ["How do I pay my bill?", "cancel the flight", "", "???", "find my card", "Pay"]


@pytest.fixture
def library(tiny_sentences):
    """Return what the library itself makes of the questions."""
    return load_sentences(tiny_sentences, name="tiny").encode(ASKED, normalize_embeddings=True)


def test_vectors_are_those_of_the_library(tiny_sentences, library, monkeypatch):
    monkeypatch.setattr(transformer, "_multiplies_half", lambda _: False)
    encoder = load_encoder(f"st:{tiny_sentences}")
    np.testing.assert_allclose(encoder.encode(ASKED), library, atol=1e-5)
    assert encoder.dimension == library.shape[1]
    shuffled = encoder.encode(ASKED[::-1] * 3)
    np.testing.assert_allclose(shuffled, np.tile(library[::-1], (3, 1)), atol=1e-5)


def test_half_precision_is_taken_where_vectors_stay_the_same(tiny_sentences, library, monkeypatch):
    monkeypatch.setattr(transformer, "_multiplies_half", lambda _: True)
    halved = load_encoder(f"st:{tiny_sentences}").encode(ASKED)
    assert halved.dtype == np.float32
    assert np.abs(halved - library).max() > 1e-5  # it is another precision
    assert np.einsum("nd,nd->n", halved, library).min() > transformer.ALIKE
    np.testing.assert_allclose(np.linalg.norm(halved, axis=1), 1, atol=1e-6)
    monkeypatch.setattr(transformer, "ALIKE", 1.1)
    np.testing.assert_allclose(load_encoder(f"st:{tiny_sentences}").encode(ASKED), library, atol=1e-5)


def test_what_reads_no_tokens_is_encoded_by_the_library(tiny_sentences, library, monkeypatch):
    encoder = load_encoder(f"st:{tiny_sentences}")
    monkeypatch.setattr(type(encoder._model), "preprocess", lambda *_, **__: {})
    assert encoder._body is None
    monkeypatch.undo()
    np.testing.assert_array_equal(encoder.encode(ASKED), library)


def test_it_travels_with_its_weights_at_full_precision(tiny_sentences):
    encoder = load_encoder(f"st:{tiny_sentences}")
    vectors = encoder.encode(ASKED)
    np.testing.assert_array_equal(pickle.loads(pickle.dumps(encoder)).encode(ASKED), vectors)
