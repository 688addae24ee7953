from unittest.mock import Mock

import numpy as np
import pyarrow as pa

from pipelines.neighbours import sketches as module
from pipelines.neighbours.similarity import divide, vectors_of
from pipelines.neighbours.sketches import BITS, distances, sketches
from pipelines.questions.aggregation import token_ids
from pipelines.questions.token_frequencies import count_tokens
from schemas.text_arrays import key_all

TEXTS = [f"{a} {b} of the {c} tower" for a in ("who", "where") for b in ("wrote", "built", "sold") for c in "abcdefgh"]


def described(texts):
    return divide(pa.array(texts, pa.string()), count_tokens(token_ids(key_all(pa.array(TEXTS)))))


def test_distances_estimate_the_angle_between_rows():
    divided = described(TEXTS)
    vectors, bits = vectors_of(divided).toarray(), sketches(divided)
    left, right = np.triu_indices(len(TEXTS), 1)
    estimated = np.cos(np.pi * distances(bits[:, left], bits[:, right]) / BITS)
    exact = (vectors[left] * vectors[right]).sum(1)
    assert abs(estimated - exact).mean() < 0.1
    assert np.corrcoef(estimated, exact)[0, 1] > 0.8


def test_a_sketch_is_the_same_in_any_batch_and_equal_rows_have_equal_ones():
    whole, part = sketches(described(TEXTS)), sketches(described(TEXTS[5:9] + TEXTS[5:6]))
    assert np.array_equal(whole[:, 5:9], part[:, :4])
    assert np.array_equal(part[:, 0], part[:, 4])


def test_the_projections_of_many_words_are_made_block_by_block(monkeypatch):
    expected = sketches(described(TEXTS))
    monkeypatch.setattr(module, "FEW_WORDS", 10)
    monkeypatch.setattr(module, "_BLOCK", 7)
    monkeypatch.setattr(module, "_of_many_words", counted := Mock(side_effect=module._of_many_words))
    assert np.array_equal(sketches(described(TEXTS)), expected)
    assert counted.call_count == -(-len(TEXTS) // 7)


def test_no_texts_have_no_sketches():
    assert sketches(described([])).shape[1] == 0
