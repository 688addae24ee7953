import numpy as np
import pytest

from model.index.linking import build
from model.index.linking.links import links_of, reachable
from model.index.shards import open_shard
from tests.support.graphs import built

FACTORY = "HNSW4,SQ8,RFlat"


def almost_equal(count, spread):
    """Return vectors of a few groups, each of which has almost equal ones."""
    random = np.random.default_rng(0)
    groups = random.normal(size=(5, 8)).astype(np.float32)
    return groups[random.integers(0, 5, count)] + random.normal(scale=spread, size=(count, 8)).astype(np.float32)


def not_reached(content):
    shard = open_shard(content)
    return (~reachable(links_of(shard.faiss), shard.faiss.hnsw.entry_point)).sum()


@pytest.mark.parametrize(("count", "spread"), [(1, 0.01), (2, 0.01), (3_000, 0.01), (3_000, 0)])
def test_every_point_can_be_reached(count, spread, monkeypatch):
    vectors = almost_equal(count, spread)
    assert not_reached(built(FACTORY, vectors)) == 0
    monkeypatch.setattr(build, "link_unreachable", lambda _: None)
    assert (not_reached(built(FACTORY, vectors)) > 0) == (count > 2 and spread > 0)  # equal points lead to each other


def test_reachable_points_are_those_of_a_walk():
    random = np.random.default_rng(1)
    for _ in range(50):
        links = np.where(random.random((12, 2)) < 0.4, -1, random.integers(0, 12, (12, 2))).astype(np.int32)
        reached, stack = {0}, [0]
        while stack:
            for linked in {*links[stack.pop()].tolist()} - {-1} - reached:
                reached.add(linked)
                stack.append(linked)
        found = reachable(links, 0)
        assert np.flatnonzero(found).tolist() == sorted(reached)
