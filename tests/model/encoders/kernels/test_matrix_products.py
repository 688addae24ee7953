from __future__ import annotations

import json
import os
import subprocess
import sys

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from model.encoders.kernels.matrix_products import ExactWeights

PROGRAM = """
import hashlib, json
import numpy as np
import pyarrow as pa
from model.encoders.cnn.inference import CnnEncoder
from model.encoders.interface import Encoder
from model.encoders.subword.settings import SubwordSettings
from model.encoders.subword.inference import BagEncoder
from model.encoders.subword.row_ids import Subwords
from model.text.vocabulary import Vocabulary

random = np.random.default_rng(7)
draw = lambda *shape: random.normal(size=shape).astype(np.float32)
words = tuple(f"w{number}" for number in range(200))
vocabulary = Vocabulary(words, hash_bins=3)
shape = SubwordSettings(dimension=48, ngram_bins=64)
weights = {"embedding.weight": draw(len(vocabulary), 36), "bias": draw(300), "kernels.0": draw(36, 1500)}
weights |= {"projection.weight": draw(100, 300), "projection.bias": draw(100)}
subwords = Subwords.of(vocabulary, shape, None)
encoders = {
    "cnn": CnnEncoder("digest", vocabulary, (5,), weights),
    "subword": BagEncoder("digest", subwords, draw(len(vocabulary) + 64, 48).astype(np.float16), 0.5),
}
texts = [" ".join(random.choice(words, size)) for size in random.integers(0, 12, 211)]
found = {}
for name, encoder in encoders.items():
    for size in (1, 7, len(texts)):
        parts = [encoder.encode(texts[start : start + size]) for start in range(0, len(texts), size)]
        found[f"{name} {size}"] = hashlib.sha256(np.vstack(parts).tobytes()).hexdigest()
print(json.dumps(found))
"""
PROCESSORS = {"own": {}, "haswell": {"OPENBLAS_CORETYPE": "Haswell"}, "one thread": {"OPENBLAS_NUM_THREADS": "1"}}


def digests(environment: dict[str, str]) -> dict[str, str]:
    """Encode the same questions in a process of its own, whose matrix library reads the environment as it loads."""
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM], env=os.environ | environment, capture_output=True, text=True, check=True
    )
    return json.loads(done.stdout)


def test_a_vector_does_not_depend_on_its_batch_nor_on_the_processor():
    found = {name: digests(environment) for name, environment in PROCESSORS.items()}
    for encoder in ("cnn", "subword"):
        every = {digest for of in found.values() for name, digest in of.items() if name.startswith(encoder)}
        assert len(every) == 1, found


@pytest.mark.parametrize("inputs", [1, 3, 300, 1200])
def test_products_are_as_near_as_those_of_single_precision(inputs):
    random = np.random.default_rng(inputs)
    rows, weights = random.normal(size=(50, inputs)), random.normal(size=(inputs, 40)) * 0.05
    rows, weights = rows.astype(np.float32), weights.astype(np.float32)
    exact = rows.astype(np.float64) @ weights.astype(np.float64)
    found = ExactWeights.of(weights).times(rows)
    assert found.dtype == np.float32
    size = np.linalg.norm(rows, axis=1)[:, None] * np.linalg.norm(weights, axis=0)
    assert np.abs((found - exact) / size).max() < 3.1e-7  # 22 bits of a row of one number, then float32


@given(
    arrays(np.float32, (9, 5), elements=st.floats(-(2.0**99), 2.0**99, width=32)),
    arrays(np.float32, (5, 4), elements=st.floats(-(2.0**17), 2.0**17, width=32)),
    st.permutations(range(5)),
)
def test_sums_are_exact_in_any_order(rows, weights, order):
    product = ExactWeights.of(weights)
    together = product.times(rows)
    shuffled = ExactWeights.of(weights[order]).times(np.ascontiguousarray(rows[:, order]))
    np.testing.assert_array_equal(shuffled, together)
    for number, row in enumerate(rows):
        np.testing.assert_array_equal(product.times(row[None])[0], together[number])


def test_rows_and_columns_of_zeros_give_zeros():
    weights = ExactWeights.of(np.zeros((3, 2), np.float32))
    np.testing.assert_array_equal(weights.times(np.ones((2, 3), np.float32)), np.zeros((2, 2)))
    weights = ExactWeights.of(np.ones((3, 2), np.float32))
    np.testing.assert_array_equal(weights.times(np.zeros((2, 3), np.float32)), np.zeros((2, 2)))
