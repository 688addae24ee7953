import pickle
import random

import apache_beam as beam
import networkx as nx
import pyarrow as pa
import pytest
from apache_beam.testing.test_pipeline import TestPipeline as PipelineUnderTest
from apache_beam.testing.util import assert_that, equal_to
from hypothesis import given
from hypothesis import strategies as st

from pipelines.duplicates import spanning_forest as module
from pipelines.duplicates.connected_components import connect
from pipelines.duplicates.spanning_forest import FindComponents, MergeForests, cut
from pipelines.intermediate import COMPONENTS


def table(edges):
    columns = zip(*edges, strict=True) if edges else [[], []]
    return pa.table([pa.array(column, pa.int64()) for column in columns], names=["id_1", "id_2"])


def by_networkx(edges):
    graph = nx.Graph(list(edges))
    return sorted((node, min(members)) for members in nx.connected_components(graph) for node in members)


def rows(forest):
    return list(zip(*(column.tolist() for column in forest), strict=True))


@pytest.fixture(autouse=True)
def _work_edges_in_early(monkeypatch):
    monkeypatch.setattr(module, "MIN_EDGES", 5)


nodes = st.integers(-15, 15)


@given(edges=st.lists(st.tuples(nodes, nodes), max_size=60), seed=st.integers(0, 99))
def test_any_tree_of_merges_gives_the_components_of_all_edges(edges, seed):
    chance, merging = random.Random(seed), MergeForests()
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
    assert rows(merging.extract_output(accumulators[0])) == by_networkx(edges)


def test_an_accumulator_holds_no_more_edges_than_nodes_however_many_come():
    merging = MergeForests()
    held, chance = merging.create_accumulator(), random.Random(3)
    for _ in range(400):
        held = merging.add_input(held, table([(chance.randrange(50), chance.randrange(50)) for _ in range(7)]))
        assert sum(len(one) for one, _ in held.waiting) == held.edges_waiting < 50
    held = merging.compact(held)
    assert held.waiting == []
    assert rows(held.forest) == [(node, 0) for node in range(50)]


def test_merging_nothing_gives_no_tree():
    assert rows(MergeForests().extract_output(MergeForests().merge_accumulators([]))) == []


def test_a_forest_is_cut_into_tables_that_hold_every_row_once():
    forest = connect(*(column.to_numpy() for column in table([(i, i // 3) for i in range(50)]).columns))
    tables = list(cut(forest, rows=20))
    assert [len(part) for part in tables] == [20, 20, 10]
    assert all(part.schema == COMPONENTS for part in tables)
    assert [tuple(r.values()) for part in tables for r in part.to_pylist()] == rows(forest)


def find(pipeline, tables):
    return (
        pipeline
        | beam.Create(tables, reshuffle=False)
        | FindComponents()
        | beam.FlatMap(lambda found: [tuple(row.values()) for row in found.to_pylist()])
    )


def test_a_pipeline_finds_the_components_of_all_its_tables():
    chance = random.Random(1)
    edges = [(chance.randrange(-300, 300), chance.randrange(-300, 300)) for _ in range(250)]
    with PipelineUnderTest(runner="FnApiRunner") as pipeline:
        tables = [table(edges[start : start + 9]) for start in range(0, len(edges), 9)]
        assert_that(find(pipeline, tables), equal_to(by_networkx(edges)))


@pytest.mark.parametrize("tables", [[], [table([])]])
def test_without_an_edge_there_is_no_component(tables):
    with PipelineUnderTest(runner="FnApiRunner") as pipeline:
        assert_that(find(pipeline, tables), equal_to([]))
