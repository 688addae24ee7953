import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pipelines.duplicates import connected_components as module
from pipelines.duplicates.connected_components import SMALL_GRAPH, components, connect
from pipelines.intermediate import COMPONENTS
from schemas.errors import QprError

EDGE = pa.schema([("id_1", pa.int64()), ("id_2", pa.int64())])


def found(*edges):
    table = components(pa.table({"id_1": [a for a, _ in edges], "id_2": [b for _, b in edges]}, EDGE))
    assert table.schema == COMPONENTS
    return [tuple(row.values()) for row in table.to_pylist()]


def by_search(edges):
    """Find components without a library: spread the smallest node until nothing changes."""
    smallest = {node: node for edge in edges for node in edge}
    while any(smallest[a] != smallest[b] for a, b in edges):
        for a, b in edges:
            smallest[a] = smallest[b] = min(smallest[a], smallest[b])
    return sorted(smallest.items())


LIBRARIES = (module._connect_by_networkx, module._connect_by_scipy)

few_nodes = st.integers(-30, 30)
any_nodes = st.integers(-(2**63), 2**63 - 1)


@st.composite
def graphs(draw):
    """Draw edges between a few nodes or any; some of them are repeated, turned round or loops."""
    nodes = draw(st.sampled_from([few_nodes, st.one_of(few_nodes, any_nodes)]))
    edges = draw(st.lists(st.tuples(nodes, nodes), max_size=60))
    loops = [(node, node) for node in draw(st.lists(nodes, max_size=5))]
    repeated = draw(st.lists(st.sampled_from(edges), max_size=20)) if edges else []
    return draw(st.permutations([*edges, *loops, *repeated, *((b, a) for a, b in repeated)]))


@pytest.mark.parametrize("connect_by", LIBRARIES)
@given(edges=graphs())
def test_both_libraries_find_the_same_components(connect_by, edges):
    one, two = np.array(edges, np.int64).reshape(-1, 2).T
    forest = connect_by(one, two)
    assert [column.dtype for column in forest] == [np.int64, np.int64]
    assert list(zip(*(column.tolist() for column in forest), strict=True)) == by_search(edges)


@given(edges=graphs(), border=st.sampled_from([-1, SMALL_GRAPH]))
def test_neither_order_nor_direction_changes_the_table(edges, border):
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(module, "SMALL_GRAPH", border)
        assert found(*edges) == found(*reversed([(b, a) for a, b in edges])) == by_search(edges)


@pytest.mark.parametrize(
    ("edges", "taken"), [(SMALL_GRAPH, "_connect_by_networkx"), (SMALL_GRAPH + 1, "_connect_by_scipy")]
)
def test_networkx_takes_graphs_up_to_the_border_and_scipy_the_larger_ones(edges, taken, monkeypatch):
    for connect_by in LIBRARIES:
        monkeypatch.setattr(module, connect_by.__name__, lambda one, two, name=connect_by.__name__: name)
    assert connect(np.zeros(edges, np.int64), np.zeros(edges, np.int64)) == taken


@pytest.mark.parametrize("connect_by", LIBRARIES)
@pytest.mark.parametrize("times", [2, 256])
def test_repeated_edges_and_edges_to_oneself_join_nothing(connect_by, times):
    one, two = np.array([(7, 7), (3, 2), (5, 5)] * times + [(9, 8)]).T
    assert [column.tolist() for column in connect_by(one, two)] == [[2, 3, 5, 7, 8, 9], [2, 2, 5, 7, 8, 8]]


def test_more_nodes_than_scipy_can_number_are_refused(monkeypatch):
    monkeypatch.setattr(module, "SMALL_GRAPH", 0)
    monkeypatch.setattr(module, "MAX_NODES", 3)
    assert found((1, 2), (2, 3)) == [(1, 1), (2, 1), (3, 1)]
    with pytest.raises(QprError, match="contain 4 questions; the maximum is 3: give fewer pairs"):
        found((1, 2), (3, 4))


def test_no_edges_have_no_components():
    assert found() == []


SHAPES = {
    "path": lambda i: (i, i + 1),
    "star around the smallest": lambda i: (0, i + 1),
    "star around the largest": lambda i: (i, 10**9),
    "binary tree": lambda i: ((i + 1) // 2, i + 1),
}


@pytest.mark.parametrize("connect_by", LIBRARIES)
@pytest.mark.parametrize("shape", SHAPES)
def test_twenty_thousand_nodes_are_one_component(connect_by, shape):
    chance = np.random.default_rng(5)
    one, two = np.array([SHAPES[shape](i) for i in range(19_999)]).T
    _, rows = np.unique([one, two], return_inverse=True)
    name = chance.choice(2**62, 20_000, replace=False) - 2**61
    one, two = name[rows.reshape(2, -1)[:, chance.permutation(19_999)]]
    forest = connect_by(one, two)
    assert forest.node.tolist() == sorted(name.tolist())
    assert set(forest.component.tolist()) == {int(name.min())}


def test_many_components_of_every_size_are_the_same_by_both_libraries():
    one, two = np.random.default_rng(8).integers(-20_000, 20_000, (2, 17_000))  # just below where one takes over
    by_networkx, by_scipy = (connect_by(one, two) for connect_by in LIBRARIES)
    assert [column.tolist() for column in by_networkx] == [column.tolist() for column in by_scipy]
    assert len(set(by_scipy.component.tolist())) > 5_000
