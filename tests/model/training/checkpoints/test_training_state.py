from __future__ import annotations

import numpy as np
import pytest
import torch

from model.encoders.cnn.settings import CnnSettings
from model.encoders.new_network import network_of
from model.encoders.subword.settings import SubwordSettings
from model.text.vocabulary import Vocabulary
from model.training.checkpoints.training_state import arrays_of, restore

SHAPES = [CnnSettings(embedding_dimension=6, channels=5, dimension=4), SubwordSettings(dimension=4, ngram_bins=20)]
VOCABULARY = Vocabulary(("pay", "the", "bill"), hash_bins=4)


def learning(shape, *, seed, pairs_about):
    network = network_of(VOCABULARY, shape, seed=seed, dropout=0.5)
    optimizers = network.optimizers(learning_rate=0.1)
    inputs = network.read(pairs_about("pay").texts)

    def step():
        network.train()
        for optimizer in optimizers:
            optimizer.zero_grad()
        network(inputs).square().sum().add(network(inputs).sum()).backward()
        for optimizer in optimizers:
            optimizer.step()

    return network, optimizers, step


def copied(arrays):
    return {part: {name: array.copy() for name, array in content.items()} for part, content in arrays.items()}


def equal(one, other):
    flat = [{(p, n): a for p, content in arrays.items() for n, a in content.items()} for arrays in (one, other)]
    return flat[0].keys() == flat[1].keys() and all((flat[0][name] == flat[1][name]).all() for name in flat[0])


@pytest.mark.parametrize("shape", SHAPES, ids=["cnn", "subword"])
@pytest.mark.parametrize("steps", [0, 1, 3])
def test_another_network_continues_from_arrays_like_the_first_one(shape, steps, pairs_about):
    network, optimizers, step = learning(shape, seed=0, pairs_about=pairs_about)
    for _ in range(steps):
        step()
    saved = copied(arrays_of(network, optimizers, best=None))
    step()
    expected = copied(arrays_of(network, optimizers, best=None))
    other, others, step = learning(shape, seed=1, pairs_about=pairs_about)
    step()  # so that there is something to replace
    assert restore(saved, other, others) is None
    assert equal(arrays_of(other, others, best=None), saved)
    step()
    assert equal(arrays_of(other, others, best=None), expected)
    assert not equal(saved, expected)


def test_what_was_best_comes_back_and_nothing_is_an_object(pairs_about):
    network, optimizers, step = learning(SHAPES[1], seed=0, pairs_about=pairs_about)
    step()
    best = {"embedding.weight": np.ones(3, np.float32)}
    arrays = arrays_of(network, optimizers, best=best)
    assert all(array.dtype.kind in "fiu" for content in arrays.values() for array in content.values())
    assert restore(arrays, network, optimizers) is best
    assert torch.equal(network.generator.get_state(), torch.from_numpy(arrays["random"]["generator"]))
