from __future__ import annotations

import itertools

import numpy as np
import pytest

from model.batches import batch_count, batches


def epoch_of(pairs: int, *, size: int, seed: int = 0, epoch: int = 1) -> list[list[int]]:
    return [batch.tolist() for batch in batches(pairs, size=size, seed=seed, epoch=epoch)]


@pytest.mark.parametrize(
    ("pairs", "size", "lengths"),
    [
        (7, 3, [3, 3]),
        (8, 3, [3, 3, 2]),
        (6, 3, [3, 3]),
        (2, 5, [2]),
        (1, 2, []),
        (0, 2, []),
    ],  # 7: a lone pair is left out
)
def test_every_pair_comes_once_and_a_lone_last_one_is_left_out(pairs, size, lengths):
    found = epoch_of(pairs, size=size)
    assert [len(batch) for batch in found] == lengths
    assert batch_count(pairs, size=size) == len(lengths)
    seen = sorted(itertools.chain(*found))
    assert len(set(seen)) == len(seen) == sum(lengths)
    assert set(seen) <= set(range(pairs))


def test_order_depends_on_seed_and_epoch_alone():
    first = epoch_of(50, size=10)
    np.random.default_rng().random()
    assert epoch_of(50, size=10) == first
    assert epoch_of(50, size=10, epoch=2) != first
    assert epoch_of(50, size=10, seed=1) != first
