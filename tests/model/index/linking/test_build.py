import numpy as np
import pytest

from model.index.linking.build import build_graph
from model.index.linking.links import links_of
from model.index.shards import open_shard, train
from tests.support.graphs import built, flat


def near_groups(count, seed=0):
    random = np.random.default_rng(seed)
    centres = np.random.default_rng(9).normal(size=(60, 24)) * 2
    return (centres[random.integers(60, size=count)] + random.normal(size=(count, 24))).astype(np.float32)


def found(shard, queries, count=10, in_view=64):
    shard.parameters.efSearch = in_view
    points = shard.faiss.search(queries, count, params=shard.parameters)[1]
    return np.where(points < 0, -1, shard.row_of_point[points])


@pytest.mark.parametrize("factory", ["HNSW16,SQ8,RFlat", "HNSW16,SQfp16,RFlat", "HNSW3,SQ8,RFlat"])
def test_a_walk_finds_most_of_the_nearest(factory):
    vectors, queries = near_groups(12_000), near_groups(100, seed=1)
    shard = open_shard(built(factory, vectors))
    nearest = np.argsort(((queries[:, None] - vectors[None]) ** 2).sum(axis=2), axis=1)[:, :10]
    rows = found(shard, queries, count=20, in_view=108)
    assert np.mean([len({*ours} & {*expected}) / 10 for ours, expected in zip(rows, nearest, strict=True)]) > 0.97


def test_links_lead_back_and_lie_in_front_of_free_slots():
    shard = open_shard(built("HNSW16,SQ8,RFlat", near_groups(4_000)))
    links = links_of(shard.faiss)
    assert links.shape == (4_000, 32)
    there = links >= 0
    assert (there[:, :-1] | ~there[:, 1:]).all()  # FAISS stops at the first free slot
    assert not (links == np.arange(4_000)[:, None]).any()
    assert all(len({*of_point[of_point >= 0].tolist()}) == (of_point >= 0).sum() for of_point in links)
    point, slot = np.nonzero(there)
    back = (links[links[point, slot]] == point[:, None]).any(axis=1)
    assert back.mean() > 0.98  # all but those to points whose slots are full


def test_equal_points_lead_to_each_other_and_to_the_nearest_others():
    vectors = near_groups(600)
    vectors[100:400] = vectors[100]
    shard = open_shard(built("HNSW4,SQ8,RFlat", vectors))
    rows = found(shard, vectors[100:101], count=600, in_view=600)
    assert sorted(rows[0].tolist()) == [*range(600)]
    assert found(shard, vectors[100:101], count=300, in_view=300)[0].min() >= 100
    nearest = np.argsort(((vectors - vectors[5]) ** 2).sum(axis=1))[:3]
    assert {*found(shard, vectors[5:6], count=3)[0].tolist()} == {*nearest.tolist()}


@pytest.mark.parametrize("count", [1, 2, 3, 17])
def test_few_points_are_all_found(count):
    """So few that none may be on an upper level, where FAISS makes the point that walks enter at."""
    vectors = near_groups(count)
    shard = open_shard(built("HNSW4,SQ8,RFlat", vectors))
    assert sorted(found(shard, vectors[:1], count=count)[0].tolist()) == [*range(count)]
    assert len(shard.row_of_point) == count


def test_the_progress_ends_with_all_vectors():
    vectors, done = near_groups(500), []
    build_graph(train("HNSW4,SQ8,RFlat", vectors), flat(vectors[:300], vectors[300:]), done.append)
    assert done == [300, 500]
