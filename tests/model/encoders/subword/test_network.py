from __future__ import annotations

import numpy as np
import pyarrow as pa
import pytest
import torch

from model.encoders.network import weights_of
from model.encoders.subword.inference import BagEncoder
from model.encoders.subword.network import SubwordEncoder
from model.encoders.subword.row_ids import Subwords
from model.encoders.subword.settings import SubwordSettings
from model.text.vocabulary import Vocabulary

SHAPE = SubwordSettings(dimension=6, ngram_bins=50)
SUBWORDS = Subwords.of(Vocabulary(("pay", "the", "bill"), hash_bins=10), SHAPE)
KEYS = ["pay the bill", "settle the the bill", "", "x", "how do i pay"]
BAGS = SUBWORDS.bags(pa.array(KEYS))


def network(**options) -> SubwordEncoder:
    torch.manual_seed(0)
    return SubwordEncoder(len(SUBWORDS), SHAPE, **options).double()


def naive(table, bags) -> np.ndarray:
    """One question, one word, one row at a time."""
    vectors = []
    for start, end in zip(bags.questions.offsets, bags.questions.offsets[1:], strict=False):
        total = np.zeros(table.shape[1])
        for word in bags.questions.ids[start:end]:
            total += table[bags.words[word]]
            for row in bags.ngrams.ids[bags.ngrams.offsets[word] : bags.ngrams.offsets[word + 1]]:
                total += 0.5 * table[row]
        vectors.append(total / (np.linalg.norm(total) or 1))
    return np.array(vectors)


def test_vectors_agree_with_a_loop_over_rows():
    encoder = network()
    expected = naive(encoder.embedding.weight.detach().numpy(), BAGS)
    np.testing.assert_allclose(encoder(BAGS).detach().numpy(), expected, atol=1e-12)
    assert not expected[2].any()


def test_only_the_rows_of_a_batch_have_a_gradient_and_it_is_that_of_a_dense_sum():
    encoder = network()
    weights = torch.randn(len(KEYS), 6, dtype=torch.float64)
    (encoder(BAGS) * weights).sum().backward()
    sparse = encoder.embedding.weight.grad.coalesce()
    assert sparse.indices()[0].tolist() == np.unique([*BAGS.words, *BAGS.ngrams.ids]).tolist()
    dense = encoder.embedding.weight.detach().clone().requires_grad_()
    counts = torch.zeros(len(KEYS), len(SUBWORDS), dtype=torch.float64)
    for i, (a, b) in enumerate(zip(BAGS.questions.offsets, BAGS.questions.offsets[1:], strict=False)):
        for word in BAGS.questions.ids[a:b]:
            counts[i, BAGS.words[word]] += 1
            for row in BAGS.ngrams.ids[BAGS.ngrams.offsets[word] : BAGS.ngrams.offsets[word + 1]]:
                counts[i, row] += 0.5
    (torch.nn.functional.normalize(counts @ dense, dim=1) * weights).sum().backward()
    torch.testing.assert_close(encoder.embedding.weight.grad.to_dense(), dense.grad)


def test_dropout_leaves_out_a_share_in_training_alone_and_repeats():
    first, again = (network(dropout=0.6, generator=torch.Generator().manual_seed(4)) for _ in range(2))
    assert torch.equal(first(BAGS), again(BAGS))
    assert not torch.equal(first(BAGS), first(BAGS))
    torch.testing.assert_close(first.eval()(BAGS), network()(BAGS))
    many = SUBWORDS.bags(pa.array(["x"] * 4000))  # one word a question: gone in 3 of 10 cases
    gone = (first.train()(many) == 0).all(dim=1).double().mean().item()
    assert 0.27 < gone < 0.33


def test_a_question_without_a_word_has_finite_gradients():
    encoder = network()
    encoder(SUBWORDS.bags(pa.array(["", "pay"]))).sum().backward()
    assert encoder.embedding.weight.grad.to_dense().isfinite().all()


@pytest.mark.parametrize(("kind", "tolerance"), [(np.float32, 1e-5), (np.float16, 1e-3)])
def test_the_numpy_encoder_gives_the_same_vectors(kind, tolerance):
    shape = SubwordSettings(dimension=256)
    subwords = Subwords.of(Vocabulary(("pay", "the", "bill"), hash_bins=1000), shape)
    random = np.random.default_rng(0)
    keys = pa.array([" ".join(random.choice(list("abcdefgh"), size)) + " pay" for size in random.integers(0, 30, 200)])
    torch.manual_seed(0)
    encoder = SubwordEncoder(len(subwords), shape)
    ours = BagEncoder("", subwords, weights_of(encoder)["embedding.weight"].astype(kind), 0.5).encode(keys)
    np.testing.assert_allclose(ours, encoder(subwords.bags(keys)).detach().numpy(), atol=tolerance)
