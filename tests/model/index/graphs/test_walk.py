import dataclasses
from unittest.mock import Mock

import faiss
import numpy as np
import pytest

from model.index.graphs import walk
from model.index.graphs.walk import compiled_walk
from model.index.shard_merge import ShardSearch
from model.index.shards import open_shard
from schemas.compiled import SWITCH
from tests.support.graphs import built

DIMENSION, POINTS = 24, 5_000


def grouped(count, seed):
    """Return vectors of 60 groups."""
    random = np.random.default_rng(seed)
    centres = np.random.default_rng(9).normal(size=(60, DIMENSION)) * 3
    return (centres[random.integers(60, size=count)] + random.normal(size=(count, DIMENSION))).astype(np.float32)


VECTORS, QUERIES = grouped(POINTS, 0), grouped(150, 1)


@pytest.fixture(autouse=True)
def _compiled(monkeypatch):
    pytest.importorskip("numba")
    monkeypatch.setattr(walk, "SMALLEST", 0)
    monkeypatch.delenv(SWITCH, raising=False)


@pytest.fixture(scope="module")
def shard():
    return open_shard(built("HNSW8,SQ8,RFlat", VECTORS))


def both(shard, count, in_view, queries=QUERIES):
    """Return distances and rows that FAISS finds, and those of the compiled walk."""
    compiled, found = compiled_walk(shard.faiss), []
    assert compiled is not None
    for opened in (shard, dataclasses.replace(shard, walk=compiled)):
        distances, rows = np.empty((len(queries), count), np.float32), np.empty((len(queries), count), np.int64)
        opened.parameters.efSearch = in_view
        ShardSearch(opened, queries, None).into(distances, rows)
        found.append((distances, rows))
    return found


@pytest.mark.parametrize(("count", "in_view"), [(1, 1), (1, 16), (10, 16), (64, 64), (80, 64), (10, 400), (9, POINTS)])
def test_it_finds_what_faiss_finds(shard, count, in_view):
    (distances, rows), (ours, our_rows) = both(shard, count, in_view)
    assert (our_rows == rows).mean() > 0.999  # two codes can be equally far
    np.testing.assert_allclose(ours, distances, rtol=1e-4, atol=1e-4)
    assert np.array_equal(both(shard, count, in_view)[1][1], our_rows)


@pytest.mark.parametrize("share", [0.5, 0.02, 0.0])
def test_it_finds_live_rows_alone(shard, share):
    live = np.random.default_rng(2).random(POINTS) < share
    (_, rows), (distances, ours) = both(dataclasses.replace(shard, live=live), 20, 64)
    assert live[ours[ours >= 0]].all()
    assert (ours == rows).mean() > 0.999
    assert np.isinf(distances[ours < 0]).all()
    assert (distances[:, 1:] >= distances[:, :-1]).all()


def test_its_distances_are_those_of_the_codes(shard):
    _, (distances, rows) = both(shard, 5, 64)
    codes = shard.faiss.storage.reconstruct_n(0, POINTS)
    vectors = np.empty_like(codes)
    vectors[shard.row_of_point] = codes
    exact = ((vectors[rows].astype(float) - QUERIES[:, None]) ** 2).sum(axis=2)
    np.testing.assert_allclose(distances, exact, rtol=1e-5)


def test_several_threads_find_the_same(shard, monkeypatch):
    [_, alone] = both(shard, 10, 64)
    monkeypatch.setattr(walk, "_A_THREAD", 7)
    monkeypatch.setattr(faiss, "omp_get_max_threads", lambda: 5)
    [_, together] = both(shard, 10, 64)
    for ours, theirs in zip(alone, together, strict=True):
        assert np.array_equal(ours, theirs)


@pytest.mark.parametrize(("count", "in_view"), [(64, 64), (64, 16), (200, 64)])
def test_no_fewer_equal_points_are_found_than_by_faiss(count, in_view):
    groups = np.random.default_rng(0).normal(size=(20, DIMENSION)).astype(np.float32)
    equal = open_shard(built("HNSW8,SQ8,RFlat", np.repeat(groups, 150, axis=0), trained_by=groups))
    (distances, rows), (ours, our_rows) = both(equal, count, in_view, groups)
    near = [((of_rows >= 0) & (of < 1)).sum() for of, of_rows in ((distances, rows), (ours, our_rows))]
    assert 20 * min(count, 150) >= near[1] >= near[0] > 15 * min(count, 150)


def test_more_points_are_reached_than_there_was_room_for():
    line = np.arange(250, dtype=np.float32)[:, None] * np.ones(4, np.float32)
    chain = open_shard(built("HNSW2,SQ8,RFlat", line))
    chain.faiss.hnsw.max_level = 0  # a walk from row 239 to the other end reaches nearly all points, with 128 places
    (_, rows), (_, ours) = both(chain, 10, 1, line[[0, 249, 0, 249]])
    assert rows[:, 0].tolist() == ours[:, 0].tolist() == [0, 249, 0, 249]


def test_no_point_is_found_twice_when_there_was_no_room_for_all():
    linked = open_shard(built("HNSW32,SQ8,RFlat", VECTORS))
    (_, rows), (_, ours) = both(linked, 400, 2)  # 256 places, of which half may be taken after the next 64 points
    assert np.count_nonzero(ours >= 0, axis=1).max() > 128
    assert all(len({*found} - {-1}) == sum(row >= 0 for row in found) for found in ours.tolist())
    assert (rows == ours).mean() > 0.99


def test_a_compiler_that_fails_leaves_the_walk_to_faiss(shard, monkeypatch):
    monkeypatch.setattr("model.index.graphs.numba_kernels.walk", Mock(side_effect=OSError("disk full")))
    with pytest.warns(RuntimeWarning, match="searches take longer: OSError: disk full"):
        assert compiled_walk(shard.faiss) is None


def test_small_graphs_are_left_to_faiss(shard, monkeypatch):
    monkeypatch.setattr(walk, "SMALLEST", POINTS * DIMENSION + 1)
    assert compiled_walk(shard.faiss) is None


@pytest.mark.parametrize("factory", ["HNSW8,SQ4,RFlat", "HNSW8,SQfp16,RFlat"])
def test_other_codes_are_left_to_faiss(factory):
    opened = open_shard(built(factory, VECTORS[:500]))
    assert compiled_walk(opened.faiss) is None


def test_it_can_be_switched_off(shard, monkeypatch):
    monkeypatch.setenv(SWITCH, "0")
    assert compiled_walk(shard.faiss) is None
