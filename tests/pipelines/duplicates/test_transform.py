import collections
import itertools
import json

import apache_beam as beam
import numpy as np
import pyarrow as pa
import pytest
from apache_beam.testing.test_pipeline import TestPipeline as PipelineUnderTest

from pipelines.duplicates.held_out_split import hold_out, pairs_of
from pipelines.duplicates.rows import EDGES, SIZES
from pipelines.duplicates.settings import HeldOut
from pipelines.duplicates.transform import ClusterDuplicates, Dealing, _hold_out, merge_dealings
from schemas.text import hash64


def table(edges):
    columns = zip(*edges, strict=True) if edges else [[]] * 4
    return pa.table([pa.array(list(c), f.type) for c, f in zip(columns, EDGES, strict=True)], schema=EDGES)


@pytest.fixture(scope="module")
def clustered(tmp_path_factory):
    """Return a function that gives the cluster and split of every placed question, and the counts."""

    def run(*batches, shards=3, **held_out):
        path = tmp_path_factory.mktemp("clustered") / "rows"
        path.touch()

        def keep(one, name):
            for row in one.to_pylist() if isinstance(one, pa.Table) else [one.counts]:
                with path.open("a") as lines:
                    lines.write(json.dumps([name, row]) + "\n")

        with PipelineUnderTest(runner="FnApiRunner") as pipeline:
            edges = pipeline | beam.Create([table(batch) for batch in batches], reshuffle=False)
            found = edges | ClusterDuplicates(HeldOut(**held_out), shards)
            for name, collection in found.items():
                _ = collection | f"Keep {name}" >> beam.Map(keep, name)
        rows = collections.defaultdict(list)
        for name, row in map(json.loads, path.read_text().splitlines()):
            rows[name].append(row)
        split_of = {row["cluster_id"]: row["split"] for row in rows["held_out"]}
        places = [(r["question_id"], r["answer_id"], split_of.get(r["answer_id"], "train")) for r in rows["places"]]
        counts = collections.Counter()
        for counted in rows["written"]:
            counts.update(counted)
        return sorted(places), counts

    return run


@pytest.mark.parametrize("shards", [1, 4])
def test_counts_add_up_and_conflicts_are_reported(clustered, shards):
    places, counts = clustered(
        [
            (1, 2, True, 3),  # one edge, two repeats
            (2, 3, True, 1),
            (1, 3, False, 2),  # inside the component 1-2-3
            (1, 2, False, 1),  # inside it, and contradicts the first
            (4, 4, True, 5),  # one question twice
            (5, 6, True, 1),
        ],
        [
            (5, 6, True, 1),  # the same from another batch
            (3, 5, False, 1),  # between components
            (8, 9, False, 1),  # no component at all
            (8, 8, False, 2),
        ],
        shards=shards,
    )
    assert counts == {
        "rows_positive": 11,
        "rows_positive_same_question": 5,
        "rows_positive_repeated": 3,
        "positive_edges": 3,  # 11 = 5 + 3 + 3
        "rows_negative": 7,
        "rows_negative_same_question": 2,
        "rows_negative_repeated": 1,
        "negative_edges": 4,  # 7 = 2 + 1 + 4
        "components": 2,
        "component_questions": 5,
        "closure_pairs": 4,  # 3 of three questions, 1 of two
        "negative_edges_inside_a_component": 2,
        "contradicting_edges": 1,
    }
    first = [(question, hash64("pairs:1"), "train") for question in (1, 2, 3)]
    assert places == first + [(question, hash64("pairs:5"), "train") for question in (5, 6)]  # a tenth of 4 is no pair


def joined(edges):
    """Return the questions of each component of the positive edges, by plain unions."""
    member_of = {}
    for a, b in edges:
        union = member_of.get(a, {a}) | member_of.get(b, {b})
        member_of.update(dict.fromkeys(union, union))
    return {frozenset(members) for members in member_of.values()}


def test_clusters_and_counts_are_those_of_plain_loops(clustered):
    chance = np.random.default_rng(0)
    edges = []
    for graph in range(60):
        for _ in range(chance.integers(16)):
            a, b = sorted((9 * graph + chance.integers(9, size=2)).tolist())
            edges.append((a, b, bool(chance.integers(2)), int(chance.integers(1, 4))))
    positive = {(a, b) for a, b, label, _ in edges if label and a != b}
    negative = {(a, b) for a, b, label, _ in edges if not label and a != b}
    places, counts = clustered(edges[::2], edges[1::2])
    components = joined(positive)
    expected = {(question, hash64(f"pairs:{min(members)}")) for members in components for question in members}
    assert {(question, cluster) for question, cluster, _ in places} == expected
    assert counts["components"] == len(components)
    assert counts["closure_pairs"] == sum(len(list(itertools.combinations(c, 2))) for c in components)
    assert counts["contradicting_edges"] == len(positive & negative)
    assert counts["negative_edges_inside_a_component"] == sum(any({a, b} <= c for c in components) for a, b in negative)
    assert counts["rows_positive"] + counts["rows_negative"] == sum(rows for *_, rows in edges)


@pytest.mark.parametrize("edges", [[], [(1, 2, False, 4)], [(1, 1, True, 4)]])
def test_without_a_positive_pair_there_is_no_cluster(clustered, edges):
    places, counts = clustered(edges)
    assert places == []
    assert (counts["components"], counts["positive_edges"], counts["closure_pairs"]) == (0, 0, 0)


def test_clusters_are_held_out_across_shards(clustered):
    pairs = [(10 * i, 10 * i + 1, True, 1) for i in range(100)]
    places, _ = clustered(pairs[:50], pairs[50:], pairs=5)
    splits = collections.Counter(split for *_, split in places)
    assert splits == {"train": 180, "validation": 10, "test": 10}  # 5 pairs each
    assert len({(cluster, split) for _, cluster, split in places}) == 100  # no cluster in two splits


def test_splits_dealt_from_parts_are_those_of_all_clusters_and_little_is_held():
    chance = np.random.default_rng(4)
    ids, questions = chance.choice(2**62, 6_000, replace=False), chance.geometric(0.5, 6_000) + 1
    sizes, held_out = pa.table([ids, questions], schema=SIZES), HeldOut(pairs=40)
    parts = [sizes.slice(start, 500) for start in range(0, 6_000, 500)]
    dealings = [Dealing(p, len(p), sum(p["questions"].to_pylist()), int(pairs_of(p).sum())) for p in parts]
    merged = merge_dealings([merge_dealings(dealings[:5], held_out), *dealings[5:]], held_out)
    assert len(merged.sizes) <= 4 * 40
    pairs = int(pairs_of(sizes).sum())
    splits = _hold_out(merged, held_out)
    assert splits.to_pylist() == hold_out(sizes, pairs, held_out).to_pylist()
    assert len(splits) > 20
    counts = {"components": 6_000, "component_questions": int(questions.sum()), "closure_pairs": pairs}
    assert merged.counts == counts
