from __future__ import annotations

import numpy as np
import pyarrow as pa
import pytest
import torch

from model.encoders.new_network import network_of
from model.encoders.transformer import network as networks
from model.encoders.transformer.checkpoint_folder import described
from model.encoders.transformer.network import TransformerNetwork
from model.encoders.transformer.settings import TransformerSettings
from model.text.vocabulary import Vocabulary
from model.training.distributed import Processes
from model.training.memory.gradients import Gradients
from model.training.settings import TrainingSettings
from model.training.training_pairs import index_pairs
from schemas.tables import PAIRS

LOSSES = pytest.mark.parametrize("loss", ["sdml", "multiple_negatives", "triplet", "online_contrastive"])


@pytest.fixture(scope="module")
def shape(tiny_sentences):
    return TransformerSettings(**described(str(tiny_sentences)))


@pytest.fixture(scope="module")
def pairs():
    words = ["pay", "bill", "my", "card", "flight", "cancel", "the", "rent", "find", "?"]
    random = np.random.default_rng(0)
    texts = [" ".join(random.choice(words, random.integers(1, 9))) for _ in range(26)]
    rows = [(2 * i, texts[2 * i], 2 * i + 1, texts[2 * i + 1], i // 2) for i in range(13)]
    return index_pairs(pa.table(list(zip(*rows, strict=True)), schema=PAIRS))


def gradients_of(shape, pairs, *, loss="multiple_negatives", dtype=torch.float64, **options):
    settings = TrainingSettings(loss=loss)
    network = network_of(Vocabulary((), 0), shape, dropout=settings.dropout, seed=settings.seed).to(dtype).train()
    return Gradients(network, network.read(pairs.texts), pairs, settings.loss, **options)


def added(gradients):
    loss = gradients.add(np.arange(13))
    named = gradients.network.named_parameters()
    return loss, {name: weight.grad.to_dense() for name, weight in named if weight.grad is not None}


@LOSSES
@pytest.mark.parametrize("chunk_size", [1, 5, 12])
def test_chunks_give_the_gradients_of_the_whole_batch(shape, pairs, loss, chunk_size):
    whole = added(gradients_of(shape, pairs, loss=loss))
    parts = added(gradients_of(shape, pairs, loss=loss, chunk_size=chunk_size))
    assert parts[0] == pytest.approx(whole[0], abs=1e-10)
    assert max(gradient.abs().max() for gradient in whole[1].values()) > 1e-4
    assert parts[1].keys() == whole[1].keys()
    for name, gradient in whole[1].items():
        torch.testing.assert_close(parts[1][name], gradient, atol=1e-10, rtol=0)


def test_a_share_without_a_pair_has_a_gradient_for_the_same_weights(shape, pairs):
    whole, alone = (gradients_of(shape, pairs) for _ in range(2))
    network = alone.network
    network(alone.inputs.take(np.empty(0, np.int64))).sum().backward()
    touched = {name for name, weight in network.named_parameters() if weight.grad is not None}
    assert touched == added(whole)[1].keys()
    assert len(Processes(2, 3).share(np.arange(2))) == 0  # there are such shares


def test_half_precision_is_near_and_leaves_single_precision_weights(shape, pairs):
    whole = added(gradients_of(shape, pairs, dtype=torch.float32))
    halved = gradients_of(shape, pairs, dtype=torch.float32, precision="bfloat16")
    loss, gradients = added(halved)
    assert loss == pytest.approx(whole[0], rel=0.02)
    assert {gradient.dtype for gradient in gradients.values()} == {torch.float32}
    one, other = (torch.cat([part.flatten() for part in found.values()]) for found in (whole[1], gradients))
    assert torch.cosine_similarity(one, other, dim=0) > 0.99


def test_it_stays_as_for_encoding_while_it_learns(shape):
    network = network_of(Vocabulary((), 0), shape)
    assert isinstance(network, TransformerNetwork)
    assert any(isinstance(part, torch.nn.Dropout) and part.p > 0 for part in network.modules())
    inputs = network.train().read(pa.array(["Pay my bill?", "cancel"]))
    assert (network(inputs) == network(inputs)).all()
    assert not network.body.sentences.training


def test_it_reads_what_was_asked_and_not_its_key(shape):
    network = network_of(Vocabulary((), 0), shape)
    vectors = network.encode_all(network.read(pa.array(["pay my bill?", "pay my bill"])))
    assert np.abs(vectors[0] - vectors[1]).max() > 1e-3


@pytest.mark.parametrize(("rows", "sparse"), [(22, True), (25, False)])
def test_a_table_of_many_rows_learns_sparsely(shape, pairs, monkeypatch, rows, sparse):
    monkeypatch.setattr(networks, "MANY_ROWS", rows)
    gradients = gradients_of(shape, pairs, dtype=torch.float32)
    optimizers = gradients.network.optimizers(learning_rate=0.1)
    assert [type(found).__name__ for found in optimizers] == ["SparseAdam"] * sparse + ["Adam"]
    gradients.add(np.arange(13))
    for optimizer in optimizers:
        optimizer.step()
    before = network_of(Vocabulary((), 0), shape).body.state_dict()
    table = next(name for name in before if name.endswith("word_embeddings.weight"))
    moved = (gradients.network.body.state_dict()[table] != before[table]).any(dim=1)
    asked = np.unique(gradients.inputs.ids)
    assert moved.nonzero().flatten().tolist() == asked.tolist()
