import json

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pipelines.decontamination.evidence import accuse, drop_alone, drop_leaked, mention
from pipelines.decontamination.near_duplicates import PRECEDENCE, REASONS
from pipelines.intermediate import LEAKS, MEMBERS, MENTIONS
from schemas.tables import SPLITS, with_nulls

memberships = st.sets(st.tuples(st.integers(-4, 4), st.integers(-6, 6)), max_size=40)  # (cluster, question)
accusations = st.lists(
    st.tuples(st.integers(-6, 6), st.sampled_from(PRECEDENCE[1:]), st.integers(1, 7), st.sampled_from([0.9, 1.0])),
    max_size=5,
)  # (question, split, reason, score)


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
        "bag_id": [q for _, q in rows],
        "split": [split_of(c) for c, _ in rows],
    }
    return with_nulls(MEMBERS, columns)


def leaks(accused):
    rows = [(q, PRECEDENCE.index(split), reason, score) for q, split, reason, score in accused]
    return pa.table([list(column) for column in zip(*rows, strict=True)] or [[]] * 4, LEAKS.names).cast(LEAKS)


def rows_of(table):
    return list(zip(table["cluster_id"].to_pylist(), table["question_id"].to_pylist(), strict=True))


def told(table):
    assert set(table["stage"].to_pylist()) <= {"leakage"}
    rows = [
        (r["reason"], json.loads(r["payload"])["cluster_id"], r["shard_key"], r["score"]) for r in table.to_pylist()
    ]
    return sorted(rows, key=str)


def naive(rows, accused=(), *, across=True):
    """Return what stays in validation and test, and what is turned away with its score."""
    kept, lost = [], []
    for c, q in sorted(rows):
        own = PRECEDENCE.index(split_of(c))
        earlier = [PRECEDENCE.index(split_of(d)) for d, p in rows if p == q]
        verdicts = [(4 * split, 0, None) for split in earlier if split < own and (across or split == 0)]
        verdicts += [(reason, -score, score) for p, split, reason, score in accused if (p, split) == (q, split_of(c))]
        if own and verdicts:
            reason, _, score = min(verdicts, key=lambda verdict: verdict[:2])
            lost.append((REASONS[reason], c, q, score))
        elif own:
            kept.append((c, q))
    sizes = {c: sum(d == c for d, _ in kept) for c, _ in kept}
    lost += [("left_alone", c, q, None) for c, q in kept if sizes[c] == 1]
    return [(c, q) for c, q in kept if sizes[c] > 1], sorted(lost, key=str)


@given(memberships, accusations, st.booleans())
def test_no_near_duplicate_of_an_earlier_split_stays_and_no_cluster_with_one(rows, accused, across):
    mentions = pa.concat_tables([mention(members(rows)), accuse(leaks(accused))])
    leaked = drop_leaked(mentions, across=across)
    alone = drop_alone(leaked.members)
    kept, lost = naive(rows, accused, across=across)
    assert rows_of(alone.members) == kept
    assert told(pa.concat_tables([leaked.rejects, alone.rejects])) == lost
    for split in SPLITS:
        compared = leaked.counts.get(f"leakage.compared.{split}", 0)
        assert compared == sum(split_of(c) == split for c, _ in rows)
        for reason in (*REASONS, "left_alone"):
            removed = (leaked.counts | alone.counts).get(f"leakage.removed.{split}.{reason}", 0)
            assert removed == sum((split_of(c), why) == (split, reason) for why, c, *_ in lost)


@given(memberships)
def test_what_stays_keeps_all_it_was(rows):
    alone = drop_alone(drop_leaked(mention(members(rows)), across=True).members)
    assert alone.members.to_pylist() == members(rows_of(alone.members)).to_pylist()


@given(memberships)
def test_a_mention_of_train_travels_light(rows):
    mentions = mention(members(rows))
    assert mentions.schema.equals(MENTIONS)
    assert sorted(rows_of(mentions)) == sorted(rows)
    for row in mentions.to_pylist():
        assert (row["text"] is None) == (row["token_ids"] is None) == (row["split"] == "train")
        assert row["reason"] is None


@pytest.mark.parametrize(
    ("accused", "reason", "score"),
    [
        ([(1, "validation", 6, 0.9)], "near_duplicate_in_test", 0.9),
        ([(1, "validation", 6, 0.9), (1, "validation", 6, 0.95)], "near_duplicate_in_test", 0.95),
        ([(1, "validation", 7, 1.0), (1, "validation", 3, 0.9)], "similar_spelling_in_train", 0.9),
        ([(1, "validation", 5, 1.0), (1, "validation", 2, 0.9)], "near_duplicate_in_train", 0.9),
        ([(1, "test", 2, 0.9)], None, None),  # that place of the question is not here
    ],
)
def test_the_first_reason_is_reported_with_its_greatest_score_and_each_is_counted(accused, reason, score):
    mentions = pa.concat_tables([mention(members([(1, 1), (1, 2)])), accuse(leaks(accused))])
    found = drop_leaked(mentions, across=True)
    assert told(found.rejects) == ([(reason, 1, 1, score)] if reason else [])
    counted = {name.split(".")[3]: n for name, n in found.counts.items() if name.startswith("leakage.found.")}
    assert counted == {REASONS[number]: 1 for _, _, number, _ in accused}


def test_a_cluster_left_with_one_question_is_rejects():
    rows = [(0, 1), (0, 2), (1, 1), (1, 3)]  # cluster 0 is in train, so 1 leaks and leaves 3 alone
    assert naive(rows) == ([], [("in_train", 1, 1, None), ("left_alone", 1, 3, None)])
    alone = drop_alone(drop_leaked(mention(members(rows)), across=True).members)
    assert told(alone.rejects) == [("left_alone", 1, 3, None)]
    assert alone.counts == {"leakage.removed.validation.left_alone": 1}
