import collections
import json

import numpy as np
import pyarrow as pa
import pydantic
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pipelines.clusters.clustering import cluster, describe
from pipelines.clusters.coherence import coherence
from pipelines.clusters.settings import Gate, Recalibration
from pipelines.intermediate import MEMBERS, REJECTS
from pipelines.linkage.scoring.pair_model import Linked
from pipelines.questions.memberships import merge_answers
from pipelines.questions.token_frequencies import count_tokens
from pipelines.writing.rejects import reject_members
from schemas.ragged import starts_of_runs
from schemas.tables import CLUSTERS, with_nulls
from schemas.text import hash64
from tests.support.encoded_texts import decoded

TOKENS = {q: [1, 2, 10 + q] if q % 2 else [20 + q, 30 + q] for q in range(-3, 9)}  # odd questions share two of three


def members(rows):
    columns = {
        "answer_id": [c for c, *_ in rows],
        "question_id": [q for _, q, *_ in rows],
        "text": [f"text {q}" for _, q, *_ in rows],
        "answer": [a for *_, a, _ in rows],
        "events": [n for *_, n in rows],
        "token_ids": [TOKENS[q] for _, q, *_ in rows],
        "bag_id": [q for _, q, *_ in rows],
    }
    return with_nulls(MEMBERS, columns)


rows = st.lists(
    st.tuples(st.integers(-2, 2), st.sampled_from(sorted(TOKENS)), st.sampled_from("xyz"), st.integers(1, 3)),
    max_size=30,
)


def naive_merge(rows):
    clusters = {}
    for c, q, a, n in rows:
        events, answers = clusters.setdefault(c, ({}, {}))
        events[q] = events.get(q, 0) + n
        answers[a] = answers.get(a, 0) + n
    return {c: (e, min(a, key=lambda x: (-a[x], x))) for c, (e, a) in sorted(clusters.items())}


def naive_score(questions, name):
    union = set().union(*(TOKENS[q] for q in questions))
    ratio = sum(len(TOKENS[q]) for q in questions) / len(union)
    return ratio / len(questions) if name == "paper" else (ratio - 1) / (len(questions) - 1)


@given(rows)
def test_forms_of_an_answer_merge_into_the_most_frequent_and_events_add_up(rows):
    merged = merge_answers(members(rows))
    expected = [(c, q, a, events[q]) for c, (events, a) in naive_merge(rows).items() for q in sorted(events)]
    found = zip(*(merged[name].to_pylist() for name in ("answer_id", "question_id", "answer", "events")), strict=True)
    assert list(found) == expected


def test_clusters_without_answers_merge_too():
    merged = merge_answers(members([(1, 2, None, 1), (1, 1, None, 1), (1, 2, None, 4)]))
    assert merged["answer"].to_pylist() == [None, None]
    assert merged["events"].to_pylist() == [1, 5]


@given(rows, st.sampled_from(["paper", "adjusted"]), st.sampled_from([0, 0.35, 0.6]), st.integers(2, 5))
def test_every_question_of_an_answer_is_kept_or_rejects_for_the_right_reason(rows, name, least, most):
    gate = Gate(coherence=name, min_coherence=least, max_cluster_size=most)
    table = members(rows)
    found = cluster(table, gate, count_tokens(table["token_ids"]))
    kept, lost, counts = [], [], collections.Counter()
    for c, (events, _) in naive_merge(rows).items():
        questions = sorted(events)
        chosen = questions[:most]
        if len(questions) == 1:
            counts["groups_of_one"] += 1
            lost += [("single_question", c, q) for q in questions]
            continue
        counts["groups_over_max_cluster_size"] += len(questions) > most
        lost += [("over_max_cluster_size", c, q) for q in questions[most:]]
        if naive_score(chosen, name) >= least:
            kept += [(c, q) for q in chosen]
        else:
            counts["groups_incoherent"] += 1
            lost += [("incoherent", c, q) for q in chosen]
    assert (
        list(zip(found.members["cluster_id"].to_pylist(), found.members["question_id"].to_pylist(), strict=True))
        == kept
    )
    away = found.rejects.to_pylist()
    told = [(r["reason"], json.loads(r["payload"])["cluster_id"], r["shard_key"]) for r in away]
    assert sorted(told) == sorted(lost)
    assert found.counts["members_judged"] == len(kept) + len(lost)
    assert found.counts["groups"] == len({c for c, *_ in rows})
    assert {n: found.counts[n] for n in counts} == counts
    assert all((r["score"] is not None) == (r["reason"] == "incoherent") for r in away)
    assert [r["score"] < least for r in away if r["reason"] == "incoherent"] == [True] * sum(
        reason == "incoherent" for reason, *_ in lost
    )


def by_parity(members, *_):
    """Link the questions of an answer that are both even or both odd."""
    groups = [(row["answer_id"], row["question_id"] % 2) for row in members.to_pylist()]
    group = np.array([groups.index(one) for one in groups], np.int64)
    return Linked(group, np.full(len(group), 0.75))


@given(rows, st.integers(2, 4))
def test_an_answer_is_split_and_each_group_judged_by_itself(rows, most):
    table = members(rows)
    gate = Gate(coherence="adjusted", min_coherence=0.1, max_cluster_size=most)
    found = cluster(table, gate, count_tokens(table["token_ids"]), by_parity)
    kept, lost = {}, []
    for c, (events, _) in naive_merge(rows).items():
        groups = [sorted(q for q in events if q % 2 == odd) for odd in (0, 1)]
        for questions in filter(None, groups):
            chosen = questions[:most]
            if len(questions) == 1:
                lost.append(("single_question" if len(events) == 1 else "no_paraphrase", questions[0]))
                continue
            lost += [("over_max_cluster_size", q) for q in questions[most:]]
            if naive_score(chosen, "adjusted") >= 0.1:
                kept[hash64(f"{c}:{questions[0]}")] = (c, chosen)
            else:
                lost += [("incoherent", q) for q in chosen]
    told = found.members.to_pylist()
    assert [(r["cluster_id"], r["question_id"]) for r in told] == [(i, q) for i in sorted(kept) for q in kept[i][1]]
    assert all(r["answer_id"] == kept[r["cluster_id"]][0] for r in told)
    assert all(r["linkage_probability"] == 0.75 for r in told)
    assert sorted((r["reason"], r["shard_key"]) for r in found.rejects.to_pylist()) == sorted(lost)
    counts = found.counts
    assert counts["members_judged"] == len(told) + len(lost)
    assert counts["groups"] == counts["groups_of_one"] + counts["groups_incoherent"] + len(kept)
    assert counts["answers"] == len({c for c, *_ in rows})


def test_the_id_of_a_cluster_stays_when_unrelated_questions_come_or_go():
    def ids(rows):
        table = members(rows)
        found = cluster(table, Gate(min_coherence=0), count_tokens(table["token_ids"]), by_parity).members
        return dict(zip(found["question_id"].to_pylist(), found["cluster_id"].to_pylist(), strict=True))

    few = [(1, q, "x", 1) for q in (1, 3, 5)]
    more = ids([*few, *((1, q, "x", 1) for q in (0, 2, -2)), (2, 1, "y", 9), (2, 3, "y", 9)][::-1])
    assert {q: i for q, i in more.items() if q % 2 == 0}.keys() == {-2, 0, 2}
    assert ids(few).items() <= ids([*few, *((1, q, "x", 1) for q in (0, 2, -2))]).items()
    assert ids(few)[1] not in ids([(2, q, "y", 1) for q in (1, 3, 5)]).values()


def test_a_score_equal_to_the_limit_passes():
    table = members([(1, 0, "x", 1), (1, 2, "x", 1)])  # disjoint: the paper's score is exactly 1/2
    weights = count_tokens(table["token_ids"])
    assert len(cluster(table, Gate(coherence="paper", min_coherence=0.5), weights).members) == 2
    assert len(cluster(table, Gate(coherence="paper", min_coherence=0.51), weights).members) == 0
    assert len(cluster(table, Gate(), weights).members) == 0  # the default score is 0


def test_the_payload_of_a_rejected_question_contains_the_question():
    table = members([(7, 3, 'say "hi"', 2)])
    lost = reject_members(table, stage="size", reason="single_question", scores=pa.array([0.5]))
    assert lost.schema.equals(REJECTS)
    [row] = lost.to_pylist()
    assert (row["stage"], row["reason"], row["score"], row["shard_key"]) == ("size", "single_question", 0.5, 3)
    assert json.loads(row["payload"]) == {"question": "text 3", "answer": 'say "hi"', "events": 2, "cluster_id": 7}


@given(rows)
def test_a_cluster_is_described_by_its_questions(rows):
    merged = merge_answers(members(rows))
    ids = merged["answer_id"].to_numpy()
    judged = {"split": pa.array(["test"] * len(merged), pa.string()), "cluster_id": merged["answer_id"]}
    merged = pa.table({name: judged.get(name, merged[name]) for name in MEMBERS.names})
    table = merged["token_ids"]
    scores = coherence(table, starts_of_runs(ids), count_tokens(table))
    described = describe(merged, scores)
    assert decoded(described).schema.equals(CLUSTERS, check_metadata=False)
    for row, (c, (events, answer)) in zip(described.to_pylist(), naive_merge(rows).items(), strict=True):
        assert (row["cluster_id"], row["answer_hash"], row["answer"], row["split"]) == (c, c, answer, "test")
        assert (row["size"], row["events"]) == (len(events), sum(events.values()))
        assert row["question_ids"] == sorted(events)
        assert row["texts"] == [f"text {q}" for q in sorted(events)]
        assert row["coherence"] == pytest.approx(naive_score(events, "paper"))
    assert described["idf_coherence"].to_numpy() == pytest.approx(scores.idf)


@pytest.mark.parametrize("wrong", [{"min_coherence": -0.1}, {"min_coherence": 1.1}, {"max_cluster_size": 1}, {"x": 1}])
def test_a_gate_that_makes_no_sense_is_refused(wrong):
    with pytest.raises(pydantic.ValidationError):
        Gate(**wrong)


def test_no_members_make_no_clusters():
    found = cluster(MEMBERS.empty_table(), Gate(), count_tokens(MEMBERS.empty_table()["token_ids"]))
    assert len(found.members) == len(found.rejects) == len(found.coherence.idf) == 0
    assert set(found.counts.values()) == {0}
    assert len(describe(found.members, found.coherence)) == 0
    assert np.array_equal(starts_of_runs(np.zeros(0)), [])


def test_clusters_below_the_threshold_of_verdicts_are_rejected_with_their_calibrated_probability():
    def by_parity_of_the_answer(table, weights, *_):
        linked = by_parity(table, weights)
        return Linked(linked.group, np.where(table["answer_id"].to_numpy() == 1, 0.9, 0.6))

    table = members([(answer, question, "x", 1) for answer in (1, 2) for question in (1, 3, 5, 2)])
    scale = Recalibration(calibration="c", intercept=0.0, slope=0.5, min_stated=0.9)
    found = cluster(table, Gate(min_coherence=0), count_tokens(table["token_ids"]), by_parity_of_the_answer, scale)
    assert found.members["answer_id"].to_pylist() == [1, 1, 1]
    assert found.members["linkage_probability"].to_pylist() == pytest.approx([0.75] * 3)  # odds 9 become 3
    lost = [(row["stage"], row["reason"], row["score"]) for row in found.rejects.to_pylist()]
    calibrated = pytest.approx(1.5**0.5 / (1 + 1.5**0.5))
    assert lost == [("linkage", "no_paraphrase", None)] * 2 + [("linkage", "below_precision", calibrated)] * 3
    assert found.counts["groups_below_precision"] == 1
    assert found.counts["groups_incoherent"] == 0
    assert found.counts["members_judged"] == len(found.members) + len(lost)
