"""What tests of several losses need."""

from __future__ import annotations

import pytest
import torch


@pytest.fixture(scope="session")
def batch():
    """Return a function that makes both sides of a batch of random vectors."""

    def make(n, d=4, *, seed=0, scale=1.0, dtype=torch.float64):
        generator = torch.Generator().manual_seed(seed)
        return [(torch.randn(n, d, generator=generator, dtype=torch.float64) * scale).to(dtype) for _ in range(2)]

    return make
