"""What tests of several losses need, and pairs of paraphrases that a small network learns in no time."""

from __future__ import annotations

import pyarrow as pa
import pytest
import torch

from model.training.training_pairs import index_pairs
from schemas.tables import PAIRS

THINGS = ["bill", "rent", "card", "flight"]


@pytest.fixture(scope="session")
def batch():
    """Return a function that makes both sides of a batch of random vectors."""

    def make(n, d=4, *, seed=0, scale=1.0, dtype=torch.float64):
        generator = torch.Generator().manual_seed(seed)
        return [(torch.randn(n, d, generator=generator, dtype=torch.float64) * scale).to(dtype) for _ in range(2)]

    return make


def make_pairs(*verbs):
    """Return pairs of three wordings of each verb and thing, one cluster each."""
    rows = []
    for number, (verb, thing) in enumerate((verb, thing) for verb in verbs for thing in THINGS):
        texts = [f"how do i {verb} my {thing}", f"{verb} {thing} please", f"i want to {verb} the {thing}"]
        ids = [number * 3 + i for i in range(3)]
        rows += [(ids[i], texts[i], ids[j], texts[j], number) for i, j in [(0, 1), (0, 2), (1, 2)]]
    return index_pairs(pa.table(list(zip(*rows, strict=True)), schema=PAIRS) if rows else PAIRS.empty_table())


@pytest.fixture(scope="session")
def pairs_about():
    """Return `make_pairs`."""
    return make_pairs
