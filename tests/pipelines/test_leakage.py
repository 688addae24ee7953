import json

import apache_beam as beam
import pyarrow as pa
import pytest
from apache_beam.testing.test_pipeline import TestPipeline as PipelineUnderTest
from apache_beam.testing.util import assert_that, equal_to
from hypothesis import given
from hypothesis import strategies as st

from pipelines.leakage import TURNED_AWAY_TAG, RemoveLeakage, drop_alone, drop_leaked, mention
from pipelines.rows import MEMBERS
from schemas.tables import SPLITS

memberships = st.sets(st.tuples(st.integers(-4, 4), st.integers(-6, 6)), max_size=40)  # (cluster, question)


def split_of(cluster):
    return SPLITS[cluster % 3]


def members(rows):
    columns = {
        "cluster_id": [c for c, _ in rows],
        "question_id": [q for _, q in rows],
        "text": [f"text {q}" for _, q in rows],
        "answer": [f"answer {c}" for c, _ in rows],
        "events": [1] * len(rows),
        "token_ids": [[q] for _, q in rows],
        "split": [split_of(c) for c, _ in rows],
    }
    return pa.table(columns).cast(MEMBERS)


def rows_of(table):
    return list(zip(table["cluster_id"].to_pylist(), table["question_id"].to_pylist(), strict=True))


def told(table):
    return sorted((r["reason"], json.loads(r["payload"])["cluster_id"], r["shard_key"]) for r in table.to_pylist())


def naive(rows):
    """Return what stays in validation and test, and what is turned away."""
    train = {q for c, q in rows if split_of(c) == "train"}
    held_out = [(c, q) for c, q in sorted(rows) if split_of(c) != "train"]
    clean = [(c, q) for c, q in held_out if q not in train]
    sizes = {c: sum(d == c for d, _ in clean) for c, _ in clean}
    lost = [("in_train", c, q) for c, q in held_out if q in train]
    lost += [("left_alone", c, q) for c, q in clean if sizes[c] == 1]
    return [(c, q) for c, q in clean if sizes[c] > 1], sorted(lost)


@given(memberships)
def test_no_question_of_train_stays_in_validation_or_test_and_no_cluster_with_one_question(rows):
    leaked = drop_leaked(mention(members(rows)))
    alone = drop_alone(leaked.members)
    kept, lost = naive(rows)
    assert rows_of(alone.members) == kept
    assert sorted(told(leaked.turned_away) + told(alone.turned_away)) == lost


@given(memberships)
def test_what_stays_keeps_all_it_was(rows):
    alone = drop_alone(drop_leaked(mention(members(rows))).members)
    assert alone.members.to_pylist() == members(rows_of(alone.members)).to_pylist()


@given(memberships)
def test_a_mention_of_train_travels_light(rows):
    mentions = mention(members(rows))
    assert mentions.schema.equals(MEMBERS)
    assert sorted(rows_of(mentions)) == sorted(rows)
    for row in mentions.to_pylist():
        assert (row["text"] is None) == (row["token_ids"] is None) == (row["split"] == "train")


@pytest.mark.parametrize("shards", [1, 3])
def test_the_transform_finds_leaks_across_tables(shards):
    rows = [(c, q) for c in range(-4, 5) for q in range(-6, 7) if (c * 7 + q * 5) % 4 == 0]
    kept, lost = naive(rows)
    with PipelineUnderTest(runner="FnApiRunner") as pipeline:
        cut = [members(rows[i::4]) for i in range(4)]
        clean = pipeline | beam.Create(cut, reshuffle=False) | RemoveLeakage(shards)
        assert_that(clean["main"] | "Rows" >> beam.FlatMap(rows_of), equal_to(kept), label="Kept")
        assert_that(clean[TURNED_AWAY_TAG] | "Told" >> beam.FlatMap(told), equal_to(lost), label="Lost")
    assert kept
    assert {reason for reason, *_ in lost} == {"in_train"}


def test_a_cluster_left_with_one_question_is_turned_away():
    rows = [(0, 1), (0, 2), (1, 1), (1, 3)]  # cluster 0 is in train, so 1 leaks and leaves 3 alone
    assert naive(rows) == ([], [("in_train", 1, 1), ("left_alone", 1, 3)])
    alone = drop_alone(drop_leaked(mention(members(rows))).members)
    assert told(alone.turned_away) == [("left_alone", 1, 3)]
    assert alone.turned_away["stage"].to_pylist() == ["leakage"]
