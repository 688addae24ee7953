import networkx as nx
import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pipelines.duplicates import connected_components as module
from pipelines.duplicates.connected_components import COMPONENTS, SMALL_GRAPH, components, connect

EDGE = pa.schema([("id_1", pa.int64()), ("id_2", pa.int64())])


def found(*edges):
    table = components(pa.table({"id_1": [a for a, _ in edges], "id_2": [b for _, b in edges]}, EDGE))
    assert table.schema == COMPONENTS
    return [tuple(row.values()) for row in table.to_pylist()]


def by_networkx(edges):
    graph = nx.Graph(list(edges))
    return sorted((node, min(members)) for members in nx.connected_components(graph) for node in members)


nodes = st.one_of(st.integers(-30, 30), st.sampled_from([-(2**63), 2**63 - 1]))


@given(st.lists(st.tuples(nodes, nodes), max_size=60), st.sampled_from([0, SMALL_GRAPH]))
def test_components_are_those_of_networkx_in_any_order_and_direction(edges, border):
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(module, "SMALL_GRAPH", border)
        assert found(*edges) == by_networkx(edges)
        assert found(*reversed([(b, a) for a, b in edges])) == by_networkx(edges)


@pytest.mark.parametrize(("edges", "few"), [(SMALL_GRAPH, True), (SMALL_GRAPH + 1, False)])
def test_networkx_takes_the_small_graphs_and_both_ways_agree_at_the_border(edges, few, monkeypatch):
    asked = []
    ways = {True: module._connect_few, False: module._connect_many}
    for way, name in ((True, "_connect_few"), (False, "_connect_many")):
        monkeypatch.setattr(module, name, lambda *ends, way=way: asked.append(way) or ways[way](*ends))
    one, two = np.random.default_rng(edges).integers(-9, 9, (2, edges))
    result = connect(one, two)
    assert asked == [few]
    for way in ways.values():
        assert [column.tolist() for column in way(one, two)] == [column.tolist() for column in result]


def test_repeated_edges_and_edges_to_oneself_join_nothing():
    assert found((7, 7), (3, 2), (2, 3), (3, 2)) == [(2, 2), (3, 2), (7, 7)]
    assert found(*[(7, 7), (3, 2), (2, 3)] * 20) == [(2, 2), (3, 2), (7, 7)]


def test_no_edges_have_no_components():
    assert found() == []


SHAPES = {
    "path": lambda i: (i, i + 1),
    "star around the smallest": lambda i: (0, i + 1),
    "star around the largest": lambda i: (i, 10**9),
    "binary tree": lambda i: ((i + 1) // 2, i + 1),
}


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("named", ["in order", "at random"])
def test_a_hundred_thousand_nodes_are_one_component(shape, named):
    one, two = np.array([SHAPES[shape](i) for i in range(99_999)]).T
    _, rows = np.unique([one, two], return_inverse=True)
    chance = np.random.default_rng(5)
    name = np.arange(100_000) if named == "in order" else chance.choice(2**62, 100_000, replace=False) - 2**61
    order = chance.permutation(99_999)
    one, two = name[rows.reshape(2, -1)[:, order]]
    forest = connect(one, two)
    assert forest.node.tolist() == sorted(name.tolist())
    assert set(forest.component.tolist()) == {int(name.min())}


def test_many_components_of_every_size_are_those_of_networkx():
    chance = np.random.default_rng(8)
    one, two = chance.integers(-20_000, 20_000, (2, 17_000))  # just below where one component takes over
    rows = sorted(zip(*(column.tolist() for column in connect(one, two)), strict=True))
    assert rows == by_networkx(zip(one.tolist(), two.tolist(), strict=True))
    assert len({component for _, component in rows}) > 5_000
