import dataclasses

import faiss
import numpy as np
import pytest

from model.index.graphs.order import graph_in
from model.index.linking.build import build_graph
from model.index.linking.links import links_of
from model.index.shard_files.layout import layout_of
from model.index.shard_merge import ShardSearch
from model.index.shards import emptied, open_shard
from tests.support.graphs import built, flat

FACTORY, DIMENSION = "HNSW8,SQ8,RFlat", 16


def grouped(count, seed=0):
    """Return vectors of 40 groups, whose rows are mixed."""
    rng = np.random.default_rng(seed)
    centres = rng.normal(size=(40, DIMENSION)) * 4
    return (centres[rng.integers(40, size=count)] + rng.normal(size=(count, DIMENSION))).astype(np.float32)


def found_by(shard, queries, count=10):
    distances = np.empty((len(queries), count), np.float32)
    rows = np.empty((len(queries), count), np.int64)
    shard.parameters.efSearch = 64
    ShardSearch(shard, queries, None).into(distances, rows)
    return distances, rows


def in_order_of_rows(shard):
    """Return the same graph as it was before its points were reordered."""
    graph = faiss.clone_index(shard.faiss)
    graph.permute_entries(np.argsort(shard.row_of_point))
    return bytes(faiss.serialize_index(graph).tobytes())


@pytest.fixture(scope="module")
def graph():
    vectors = grouped(3_000)
    return vectors, built(FACTORY, vectors)


def test_the_same_rows_are_found_as_in_the_order_of_rows(graph):
    vectors, content = graph
    shard, older = open_shard(content), open_shard(in_order_of_rows(open_shard(content)))
    assert older.row_of_point is None
    queries = grouped(50, seed=1)
    for ours, theirs in zip(found_by(shard, queries), found_by(older, queries), strict=True):
        assert np.array_equal(ours, theirs)
    distances, rows = found_by(shard, vectors[:50], count=1)
    assert np.array_equal(rows[:, 0], np.arange(50))
    assert distances.max() < 0.1  # of codes


def test_near_points_are_near_in_memory(graph):
    def gap(shard):
        linked = links_of(shard.faiss)
        return np.abs(linked - np.arange(len(linked))[:, None])[linked >= 0].mean()

    shard = open_shard(graph[1])
    assert not np.array_equal(shard.row_of_point, np.arange(3_000))
    assert gap(shard) < gap(open_shard(in_order_of_rows(shard))) / 2


def test_only_live_rows_are_found(graph):
    vectors, content = graph
    live = np.arange(3_000) % 7 == 0
    shard = dataclasses.replace(open_shard(content), live=live)
    _, rows = found_by(shard, vectors[:70], count=3)
    assert live[rows].all()
    assert np.array_equal(rows[::7, 0], np.arange(0, 70, 7))


def test_missing_neighbours_stay_missing():
    vectors = grouped(3)
    _, rows = found_by(open_shard(built(FACTORY, vectors)), vectors, count=5)
    assert np.array_equal(np.sort(rows), np.tile([-1, -1, 0, 1, 2], (3, 1)))


def test_the_same_points_have_the_same_order_and_an_emptied_graph_takes_others(graph):
    vectors, content = graph
    assert build_graph(emptied(content), flat(vectors)) == content
    assert layout_of(build_graph(emptied(content), flat(grouped(700, seed=2)))).rows == 700


def test_other_indexes_are_left_as_they_are():
    flat = faiss.IndexFlatL2(2)
    assert graph_in(flat) is flat


def test_points_of_few_groups_keep_their_order():
    vectors = np.random.default_rng(0).normal(size=(1_000, 2)).astype(np.float32)
    assert np.array_equal(open_shard(built("HNSW4,SQ8,RFlat", vectors)).row_of_point, np.arange(1_000))


@pytest.mark.parametrize(("place", "value"), [(0, -1), (5, 3_000), (7, 2**40), (9, None)])
def test_rows_that_are_not_each_there_once_are_refused(graph, place, value):
    changed = np.frombuffer(bytearray(graph[1]), np.uint8)
    rows = changed[-8 * 3_000 :].view("<i8")
    rows[place] = rows[place + 1] if value is None else value
    with pytest.raises(ValueError, match="rows of points that are not each of 3,000 rows once"):
        open_shard(changed.tobytes())
