"""Networks with fresh weights.

settings of an encoder, vocabulary -> network_of -> Network
"""

from __future__ import annotations

import torch

from model.encoders.kernels.elementary_functions import settle_elementary_functions
from model.encoders.kind import Shape
from model.encoders.network import Network
from model.encoders.registry import kind_of
from model.text.vocabulary import Vocabulary


def network_of(vocabulary: Vocabulary, shape: Shape, *, dropout: float = 0.0, seed: int = 0) -> Network:
    """Return an untrained network; equal arguments give equal weights, and the global random state stays as it is."""
    settle_elementary_functions()
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        return kind_of(shape).network(vocabulary, shape, dropout=dropout, seed=seed)
