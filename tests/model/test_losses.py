from __future__ import annotations

import typing

import pytest
import torch

from model.losses import loss_of
from model.multiple_negatives import MultipleNegativesRankingLoss
from model.sdml import SDMLLoss
from model.settings import Loss, TrainingSettings

A, B = torch.randn(2, 5, 3, generator=torch.Generator().manual_seed(0))
CLUSTERS = torch.tensor([0, 0, 1, 2, 3])


def test_the_settings_reach_the_loss():
    ranking = loss_of(TrainingSettings(loss="multiple_negatives", scale=7, smoothing=0.2))
    expected = MultipleNegativesRankingLoss(scale=7, smoothing=0.2)(A, B, CLUSTERS)
    assert torch.equal(ranking(A, B, CLUSTERS), expected)
    sdml = loss_of(TrainingSettings(distance="euclidean", smoothing=0.2))
    assert torch.equal(sdml(A, B, CLUSTERS), SDMLLoss(smoothing=0.2, distance="euclidean")(A, B, CLUSTERS))


@pytest.mark.parametrize("name", typing.get_args(Loss))
def test_every_loss_has_one_interface(name):
    loss = loss_of(TrainingSettings(loss=name))
    for clusters in (CLUSTERS, None):
        value = loss(A, B, clusters)
        assert value.shape == ()
        assert value > 0
    assert loss(A, A + 0.01, CLUSTERS) < loss(A, A.roll(1, 0), CLUSTERS)
