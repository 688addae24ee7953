"""Published token embeddings as an encoder."""

import pickle

import numpy as np
import pytest

from model.encoders.loading import digest_of, load_encoder
from schemas.errors import QprError


def test_a_question_is_the_sum_of_its_tokens(tokens) -> None:
    encoder = load_encoder(f"static:{tokens}")
    pay, b, bill = (np.arange(3 * n, 3 * n + 3, dtype=np.float32) for n in (1, 2, 3))
    expected = np.stack([pay, pay + b + bill, 2 * pay])
    expected /= np.linalg.norm(expected, axis=1, keepdims=True)
    found = encoder.encode(["Pay?", "pay  bill", "pay pay"])
    assert np.allclose(found, expected, atol=1e-6)
    assert not encoder.encode(["??"]).any()
    assert np.array_equal(pickle.loads(pickle.dumps(encoder)).encode(["pay bill"]), found[1:2])
    assert encoder.digest == digest_of(f"static:{tokens}")


def test_missing_embeddings_are_named() -> None:
    with pytest.raises(QprError, match=r"nowhere: no such folder in .*, and no package of this name is installed"):
        load_encoder("static:nowhere")
