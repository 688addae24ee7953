import apache_beam as beam
import pyarrow as pa
import pytest
from apache_beam.testing.test_pipeline import TestPipeline as PipelineUnderTest
from apache_beam.testing.util import assert_that, equal_to
from hypothesis import given
from hypothesis import strategies as st

from pipelines.duplicates.conflicts import CountConflicts, from_first, from_node, from_other, inside
from pipelines.duplicates.connected_components import components
from pipelines.duplicates.rows import CROSSINGS

ENDS = pa.schema([("id_1", pa.int64()), ("id_2", pa.int64())])


def edges(pairs):
    columns = zip(*pairs, strict=True) if pairs else [[], []]
    return pa.table([pa.array(column, pa.int64()) for column in columns], schema=ENDS)


def naive(negative, positive):
    root = {row["node"]: row["component"] for row in components([edges(positive)]).to_pylist()}
    return sum(a in root and b in root and root[a] == root[b] for a, b in negative)


pairs = st.lists(st.tuples(st.integers(-6, 6), st.integers(-6, 6)), max_size=20)


@given(negative=pairs, positive=pairs)
def test_edges_inside_a_component_are_those_of_a_plain_loop(negative, positive):
    nodes = from_node(components([edges(positive)]))
    at_first = pa.concat_tables([from_first(edges(negative)), nodes])
    assert at_first.schema == CROSSINGS
    assert inside(pa.concat_tables([from_other(at_first), nodes])) == naive(negative, positive)


@pytest.mark.parametrize("shards", [1, 4])
def test_edges_across_shards_and_tables_are_joined(shards):
    positive = [(i, i + 2) for i in range(40) if i % 10 < 8]  # even and odd numbers of each ten
    negative = [(i, j) for i in range(45) for j in range(i + 1, 45) if (i * j) % 7 == 0]
    assert naive(negative, positive) > 20
    with PipelineUnderTest(runner="FnApiRunner") as pipeline:
        found = components([edges(positive)])
        halves = [edges(negative[::2]), edges(negative[1::2])]
        crossing = pipeline | "Negative" >> beam.Create(halves, reshuffle=False)
        member_of = pipeline | "Nodes" >> beam.Create([found.slice(0, 9), found.slice(9)], reshuffle=False)
        counts = (crossing, member_of) | CountConflicts(shards) | beam.Map(lambda written: written.counts)
        total = counts | beam.Map(lambda c: c["negative_edges_inside_a_component"]) | beam.CombineGlobally(sum)
        assert_that(total, equal_to([naive(negative, positive)]))


def test_without_a_component_nothing_is_inside():
    crossings = from_first(edges([(1, 2)]))
    assert len(from_other(crossings)) == 0
    assert inside(crossings) == inside(CROSSINGS.empty_table()) == 0
