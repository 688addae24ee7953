import random

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pipelines.components import components


def found(*edges):
    table = components(pa.table({"id_1": [a for a, _ in edges], "id_2": [b for _, b in edges]}, EDGE))
    assert table.schema == pa.schema([("node", pa.int64()), ("component", pa.int64())])
    return [tuple(row.values()) for row in table.to_pylist()]


EDGE = pa.schema([("id_1", pa.int64()), ("id_2", pa.int64())])


def union_by_relabelling(edges):
    label = {node: node for edge in edges for node in edge}
    for a, b in edges:
        low, high = sorted((label[a], label[b]))
        label = {node: low if mark == high else mark for node, mark in label.items()}
    return sorted(label.items())


nodes = st.one_of(st.integers(-5, 5), st.sampled_from([-(2**63), 2**63 - 1]))


@given(st.lists(st.tuples(nodes, nodes), max_size=15))
def test_components_are_those_of_relabelling_everything_at_every_edge(edges):
    assert found(*edges) == union_by_relabelling(edges)
    assert found(*reversed([(b, a) for a, b in edges])) == union_by_relabelling(edges)


def test_repeated_edges_and_edges_to_oneself_join_nothing():
    assert found((7, 7), (3, 2), (2, 3), (3, 2)) == [(2, 2), (3, 2), (7, 7)]


def test_no_edges_have_no_components():
    assert found() == []


@pytest.mark.parametrize("shape", ["path", "star"])
def test_ten_thousand_nodes_are_one_component(shape):
    edges = [(i if shape == "path" else 0, i + 1) for i in range(9_999)]
    random.Random(5).shuffle(edges)
    assert found(*edges) == [(i, 0) for i in range(10_000)]
