"""Flip bytes of shards, open what is accepted and search it: run apart, since a crash of FAISS ends the process.

python -m tests.model.index.shard_flips FACTORY... -> a line of counts, or the death of the process
"""

import resource
import sys

import numpy as np

from model.index.graphs import walk as walks
from model.index.graphs.walk import compiled_walk
from model.index.shards import build_shard, open_shard, train

FLIPS = 0x01, 0x80, 0xFF


def vectors(count, seed=0):
    return np.random.default_rng(seed).normal(size=(count, 8)).astype(np.float32)


def survive(content):
    """Open and search a shard; tell whether it was accepted."""
    try:
        shard = open_shard(content)
    except ValueError:
        return False
    if shard.lists:
        distances, numbers = shard.faiss.quantizer.search(vectors(3), min(3, shard.lists))
        shard.faiss.nprobe = numbers.shape[1]
        rows = shard.faiss.search_preassigned(vectors(3), 5, numbers, distances)[1]
    else:
        rows = shard.faiss.search(vectors(3), 5)[1]
        if shard.layout.graph and len(shard) and (walk := compiled_walk(shard.faiss)) is not None:
            walk.into(vectors(3), 2, None, np.empty((3, 5), np.float32), found := np.empty((3, 5), np.int64))
            rows = np.append(rows, found)
    assert rows.max() < len(shard)
    return True


def main(factories):
    resource.setrlimit(resource.RLIMIT_AS, (6 * 2**30, 6 * 2**30))  # so that absurd counts cannot take the machine
    walks.SMALLEST = 0
    flipped = accepted = 0
    for factory in factories:
        shard = build_shard(train(factory, vectors(300)), vectors(5, seed=1))
        step = 1 if len(shard) < 2_000 else 11  # centroids of a product quantizer are all alike
        for place in range(0, len(shard), step):
            for flip in FLIPS:
                changed = bytearray(shard)
                changed[place] ^= flip
                flipped += 1
                accepted += survive(bytes(changed))
    print(flipped, accepted)


if __name__ == "__main__":
    main(sys.argv[1:])
