from __future__ import annotations

import numpy as np
import pyarrow as pa
import pytest
import torch

from model.encoders.cnn.settings import CnnSettings
from model.encoders.new_network import network_of
from model.encoders.subword.settings import SubwordSettings
from model.text.vocabulary import Vocabulary
from model.training.distributed import Processes
from model.training.memory.gradients import Gradients
from model.training.settings import TrainingSettings
from model.training.training_pairs import index_pairs
from schemas.tables import PAIRS

CNN = CnnSettings(embedding_dimension=8, windows=(2, 3), channels=8, dimension=6)
BAG = SubwordSettings(dimension=6, ngram_bins=50)
ENCODERS = pytest.mark.parametrize("shape", [CNN, BAG], ids=["cnn", "subword"])
LOSSES = pytest.mark.parametrize("loss", ["sdml", "multiple_negatives", "triplet", "online_contrastive"])


def pairs_of(count):
    words = ["pay", "bill", "my", "card", "flight", "cancel", "the", "rent", "find", "way"]
    random = np.random.default_rng(0)
    texts = [" ".join(random.choice(words, random.integers(1, 6))) + f" {i}" for i in range(2 * count)]
    rows = [(2 * i, texts[2 * i], 2 * i + 1, texts[2 * i + 1], i // 2) for i in range(count)]
    return index_pairs(pa.table(list(zip(*rows, strict=True)), schema=PAIRS))


PAIRS_OF_23 = pairs_of(23)
BATCH = np.random.default_rng(1).permutation(23)


def gradients_of(shape, *, dropout=0.0, loss="sdml", dtype=torch.float64, **options):
    settings = TrainingSettings(loss=loss, dropout=dropout, seed=4)
    network = network_of(
        Vocabulary.learn(PAIRS_OF_23.keys, words=20, hash_bins=5), shape, dropout=settings.dropout, seed=settings.seed
    ).to(dtype)
    network.train()
    return Gradients(network, network.read(PAIRS_OF_23.texts), PAIRS_OF_23, settings.loss, **options)


def added(gradients):
    loss = gradients.add(BATCH)
    return loss, {name: weight.grad.to_dense() for name, weight in gradients.network.named_parameters()}


def assert_same(found, expected, *, atol=1e-10):
    assert found[0] == pytest.approx(expected[0], abs=atol)
    for name, gradient in expected[1].items():
        if name != "body.projection.bias":  # a distance does not change with it, so it may have none
            assert gradient.abs().max() > 1e-4
        torch.testing.assert_close(found[1][name], gradient, atol=atol, rtol=0)


@ENCODERS
@LOSSES
def test_they_are_those_of_the_loss_of_the_whole_batch(shape, loss):
    gradients = gradients_of(shape, loss=loss)
    network, pairs = gradients.network, PAIRS_OF_23
    inputs = gradients.inputs
    sides = (network(inputs.take(side[BATCH])) for side in (pairs.first, pairs.second))
    value = gradients.loss(*sides, torch.from_numpy(pairs.clusters[BATCH]))
    value.backward()
    expected = {name: weight.grad.to_dense() for name, weight in network.named_parameters()}
    network.zero_grad()
    assert_same(added(gradients), (value.item(), expected))


@ENCODERS
@LOSSES
@pytest.mark.parametrize("chunk_size", [1, 5, 22, 23, 100])
def test_chunks_give_the_gradients_of_the_whole_batch(shape, loss, chunk_size):
    expected = added(gradients_of(shape, loss=loss))
    assert_same(added(gradients_of(shape, loss=loss, chunk_size=chunk_size)), expected)


@ENCODERS
@LOSSES
def test_chunks_agree_at_single_precision_too(shape, loss):
    expected = added(gradients_of(shape, loss=loss, dtype=torch.float32))
    assert_same(added(gradients_of(shape, loss=loss, dtype=torch.float32, chunk_size=4)), expected, atol=1e-5)


@ENCODERS
def test_a_step_in_chunks_leaves_the_weights_of_a_step_at_once(shape):
    weights = []
    for chunk_size in (0, 4):
        gradients = gradients_of(shape, chunk_size=chunk_size)
        optimizers = gradients.network.optimizers(learning_rate=1e-2)
        for _ in range(2):
            gradients.network.zero_grad()
            gradients.add(BATCH)
            for optimizer in optimizers:
                optimizer.step()
        weights.append(dict(gradients.network.named_parameters()))
    for name, weight in weights[0].items():
        torch.testing.assert_close(weights[1][name], weight, atol=1e-8, rtol=0)


def test_both_passes_leave_out_the_same_and_continue_alike():
    chunked = gradients_of(BAG, dropout=0.5, chunk_size=5)
    loss, found = added(chunked)
    kept = gradients_of(BAG, dropout=0.5)  # the same draws, chunk by chunk, in one graph
    parts = [BATCH[start : start + 5] for start in range(0, 23, 5)]
    encoded = [kept._encode(part) for part in parts]
    value = kept._loss(encoded, BATCH)
    value.backward()
    expected = kept.network.body.embedding.weight.grad.to_dense()
    assert loss == pytest.approx(value.item(), abs=1e-6)
    torch.testing.assert_close(found["body.embedding.weight"], expected, atol=1e-10, rtol=0)
    assert torch.equal(chunked.network.generator.get_state(), kept.network.generator.get_state())
    assert chunked.add(BATCH) != loss  # other words are left out


@ENCODERS
def test_a_process_without_a_pair_of_a_small_batch_has_a_gradient_of_zeros(shape):
    gradients = gradients_of(shape, processes=Processes(3, 4))
    (chunk,) = gradients._chunks(gradients.processes.share(BATCH[:3]))
    nothing = gradients._encode(chunk)
    assert nothing.shape == (0, 6)
    nothing.backward(nothing)
    assert not any(weight.grad.to_dense().any() for weight in gradients.network.parameters())


@ENCODERS
def test_the_gradient_of_the_embedding_stays_sparse(shape):
    gradients = gradients_of(shape, chunk_size=4)
    gradients.add(BATCH)
    assert gradients.network.body.embedding.weight.grad.is_sparse


@ENCODERS
def test_only_a_chunk_is_held_while_a_batch_is_encoded(shape):
    held = []
    gradients = gradients_of(shape, chunk_size=4)
    forward = gradients.network.body.forward
    gradients.network.body.forward = lambda *inputs: (held.append(len(inputs[-1]) // 2), forward(*inputs))[1]
    gradients.add(BATCH)
    assert len(held) == 12  # 6 chunks twice
    assert max(held) == 4


@ENCODERS
def test_bfloat16_is_near_and_leaves_single_precision_gradients(shape):
    options = {"loss": "multiple_negatives", "dtype": torch.float32}
    exact, near = added(gradients_of(shape, **options)), added(gradients_of(shape, precision="bfloat16", **options))
    assert near[0] == pytest.approx(exact[0], rel=0.05)
    for name, gradient in exact[1].items():
        assert near[1][name].dtype == torch.float32
        assert torch.nn.functional.cosine_similarity(near[1][name].flatten(), gradient.flatten(), dim=0) > 0.98
