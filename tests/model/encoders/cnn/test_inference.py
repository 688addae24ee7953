from __future__ import annotations

import itertools
import pickle

import numpy as np
import pyarrow as pa
from hypothesis import given, settings
from hypothesis import strategies as st

from model.encoders import interface as encoding
from model.encoders.cnn import inference as cnn_inference
from model.encoders.cnn import lookup_tables as projected
from model.encoders.cnn.inference import CnnEncoder
from model.text.vocabulary import TokenIds, Vocabulary

WORDS = ("what", "is", "the", "capital", "of", "france", "and", "when", "was", "it", "built")
VOCABULARY = Vocabulary(tuple(dict.fromkeys(WORDS)), hash_bins=3)


def encoder_with(windows: tuple[int, ...]) -> CnnEncoder:
    inputs, channels, outputs = 4, 3, 2
    random = np.random.default_rng(7)

    def draw(*shape: int) -> np.ndarray:
        return random.normal(size=shape).astype(np.float32)

    pooled = channels * len(windows)
    weights = {"embedding.weight": draw(len(VOCABULARY), inputs), "bias": draw(pooled)}
    weights |= {f"kernels.{i}": draw(inputs, width * channels) for i, width in enumerate(windows)}
    weights |= {"projection.weight": draw(outputs, pooled), "projection.bias": draw(outputs)}
    return CnnEncoder("digest", VOCABULARY, windows, weights)


def naive(encoder: CnnEncoder, ids: list[int]) -> np.ndarray:
    """One question, one window, one channel at a time, in float64."""
    weights = {name: weight.astype(np.float64) for name, weight in encoder.weights.items()}
    pooled = []
    for number, width in enumerate(encoder.windows):
        kernel = weights[f"kernels.{number}"].reshape(-1, width, weights[f"kernels.{number}"].shape[1] // width)
        windows = []
        for centre in range(max(len(ids), 1)):
            places = [centre + k - (width - 1) // 2 for k in range(width)]
            windows.append(
                sum(
                    (
                        weights["embedding.weight"][ids[p]] @ kernel[:, k]
                        for k, p in enumerate(places)
                        if 0 <= p < len(ids)
                    ),
                    np.zeros(kernel.shape[2]),
                )
            )
        pooled.append(np.max(windows, axis=0))
    activated = np.tanh(np.concatenate(pooled) + weights["bias"])
    return weights["projection.weight"] @ activated + weights["projection.bias"]


@settings(deadline=None)
@given(
    st.lists(st.lists(st.integers(0, len(VOCABULARY) - 1), max_size=9), max_size=12),
    st.lists(st.integers(1, 6), min_size=1, max_size=2).map(tuple),
)
def test_vectors_agree_with_a_loop_over_windows(questions, windows):
    encoder = encoder_with(windows)
    lengths = [len(question) for question in questions]
    tokens = TokenIds(
        np.array(list(itertools.chain(*questions)), np.int32), np.array([0, *np.cumsum(lengths)], np.int64)
    )
    vectors = encoder.encode_tokens(tokens)
    assert vectors.shape == (len(questions), 2)
    assert vectors.dtype == np.float32
    expected = np.array([naive(encoder, question) for question in questions]).reshape(-1, 2)
    np.testing.assert_allclose(vectors, expected, atol=1e-5)


def test_an_empty_question_is_the_projection_of_the_bias_alone():
    encoder = encoder_with((5,))
    weights = encoder.weights
    expected = weights["projection.weight"] @ np.tanh(weights["bias"]) + weights["projection.bias"]
    np.testing.assert_allclose(encoder.encode(["", "?!", " "]), [expected] * 3, atol=1e-6)


def test_texts_go_through_the_key():
    encoder = encoder_with((3,))
    first, second = encoder.encode(["What IS\tthe capital of France?", "  what is the capital of france"])
    np.testing.assert_array_equal(first, second)


def test_a_question_has_the_same_vector_in_any_company(monkeypatch):
    encoder = encoder_with((5,))
    random = np.random.default_rng(3)
    texts = [" ".join(random.choice(WORDS, size)) for size in random.integers(0, 12, 50)]
    together = encoder.encode(texts)
    alone = np.vstack([encoder.encode([text]) for text in texts])
    np.testing.assert_array_equal(together, alone)
    monkeypatch.setattr(encoding, "CHUNK", 7)
    monkeypatch.setattr(cnn_inference, "_PIECE", 3)
    monkeypatch.setattr(projected, "_BLOCK_BYTES", 50)
    np.testing.assert_array_equal(encoder.encode(texts), together)


def test_arrays_lists_and_chunked_arrays_are_the_same_to_it():
    encoder = encoder_with((2,))
    texts = ["what is it", "when was it built", "paris"]
    expected = encoder.encode(texts)
    np.testing.assert_array_equal(encoder.encode(pa.array(texts)), expected)
    np.testing.assert_array_equal(encoder.encode(pa.chunked_array([texts[:1], texts[1:]])), expected)
    np.testing.assert_array_equal(encoder.encode(pa.array(["x", *texts])[1:]), expected)
    assert encoder.encode([]).shape == (0, encoder.dimension) == (0, 2)


def test_it_travels_to_a_worker():
    encoder = encoder_with((5,))
    copied = pickle.loads(pickle.dumps(encoder))
    np.testing.assert_array_equal(copied.encode(["what is it"]), encoder.encode(["what is it"]))
    assert copied.digest == "digest"
