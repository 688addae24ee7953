import pickle
import random

import apache_beam as beam
import numpy as np
import pyarrow as pa
import pytest
from apache_beam.testing.test_pipeline import TestPipeline as PipelineUnderTest
from apache_beam.testing.util import assert_that, equal_to
from hypothesis import given
from hypothesis import strategies as st

from pipelines.duplicates import connected_components as module
from pipelines.duplicates.connected_components import SMALL_GRAPH, FindComponents, MergeComponents, components
from pipelines.duplicates.rows import COMPONENTS
from schemas.errors import QprError

EDGE = pa.schema([("id_1", pa.int64()), ("id_2", pa.int64())])


def table(edges):
    return pa.table({"id_1": [a for a, _ in edges], "id_2": [b for _, b in edges]}, EDGE)


def rows(found):
    assert found.schema == COMPONENTS
    return [tuple(row.values()) for row in found.to_pylist()]


def found(*edges):
    return rows(components([table(edges)]))


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
    columns = connect_by(one, two)
    assert [column.dtype for column in columns] == [np.int64, np.int64]
    assert list(zip(*(column.tolist() for column in columns), strict=True)) == by_search(edges)


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
        name = connect_by.__name__
        monkeypatch.setattr(module, name, lambda one, two, taken=name == taken: [np.array([taken])] * 2)
    ends = np.zeros(edges, np.int64)
    assert rows(components([pa.table([ends, ends], schema=EDGE)])) == [(1, 1)]


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
    nodes, component = connect_by(one, two)
    assert nodes.tolist() == sorted(name.tolist())
    assert set(component.tolist()) == {int(name.min())}


def test_many_components_of_every_size_are_the_same_by_both_libraries():
    one, two = np.random.default_rng(8).integers(-20_000, 20_000, (2, 17_000))  # just below where one takes over
    by_networkx, by_scipy = (connect_by(one, two) for connect_by in LIBRARIES)
    assert [column.tolist() for column in by_networkx] == [column.tolist() for column in by_scipy]
    assert len(set(by_scipy[1].tolist())) > 5_000


@pytest.fixture
def _early_merges(monkeypatch):
    monkeypatch.setattr(module, "MIN_EDGES", 5)


@pytest.mark.usefixtures("_early_merges")
@given(edges=st.lists(st.tuples(few_nodes, few_nodes), max_size=60), seed=st.integers(0, 99))
def test_any_tree_of_merges_gives_the_components_of_all_edges(edges, seed):
    chance, merging = random.Random(seed), MergeComponents()
    accumulators = [merging.create_accumulator() for _ in range(chance.randint(1, 5))]
    for start in range(0, len(edges), 4):
        chosen = chance.randrange(len(accumulators))
        accumulators[chosen] = merging.add_input(accumulators[chosen], table(edges[start : start + 4]))
    while len(accumulators) > 1:
        chance.shuffle(accumulators)
        some = [accumulators.pop() for _ in range(chance.randint(2, len(accumulators)))]
        if chance.random() < 0.5:
            some = pickle.loads(pickle.dumps([merging.compact(one) for one in some]))
        accumulators.append(merging.merge_accumulators(iter(some)))
    assert rows(merging.extract_output(accumulators[0])) == by_search(edges)


@pytest.mark.usefixtures("_early_merges")
def test_an_accumulator_holds_no_more_edges_than_nodes_however_many_come():
    merging = MergeComponents()
    held, chance = merging.create_accumulator(), random.Random(3)
    for _ in range(400):
        held = merging.add_input(held, table([(chance.randrange(50), chance.randrange(50)) for _ in range(7)]))
        assert sum(map(len, held[1:])) < 50
    [merged] = merging.compact(held)
    assert rows(merged) == [(node, 0) for node in range(50)]


def test_merging_nothing_gives_no_component():
    assert rows(MergeComponents().extract_output(MergeComponents().merge_accumulators([]))) == []


def find(pipeline, tables):
    return pipeline | beam.Create(tables, reshuffle=False) | FindComponents() | beam.FlatMap(rows)


@pytest.mark.usefixtures("_early_merges")
def test_a_pipeline_finds_the_components_of_all_its_tables(monkeypatch):
    monkeypatch.setattr(module, "ROWS_A_TABLE", 100)
    chance = random.Random(1)
    edges = [(chance.randrange(-300, 300), chance.randrange(-300, 300)) for _ in range(250)]
    with PipelineUnderTest(runner="FnApiRunner") as pipeline:
        tables = [table(edges[start : start + 9]) for start in range(0, len(edges), 9)]
        assert_that(find(pipeline, tables), equal_to(by_search(edges)))


@pytest.mark.parametrize("tables", [[], [table([])]])
def test_without_an_edge_there_is_no_component(tables):
    with PipelineUnderTest(runner="FnApiRunner") as pipeline:
        assert_that(find(pipeline, tables), equal_to([]))
