import json

import numpy as np
import pyarrow as pa
from hypothesis import given
from hypothesis import strategies as st

from pipelines.clusters.clustering import cluster
from pipelines.clusters.settings import Gate
from pipelines.clusters.size_cap import cut_surplus, reject_surplus, votes
from pipelines.engine.shuffle import to_ipc
from pipelines.intermediate import MEMBERS, SURPLUS
from pipelines.questions.token_frequencies import count_tokens
from schemas.tables import with_nulls

ROWS = st.lists(  # answer, question, form of the answer, events; a question may get an answer in several forms
    st.tuples(st.integers(-1, 1), st.integers(-9, 9), st.sampled_from(["x", "y", "z", None]), st.integers(1, 3)),
    max_size=60,
)


def members(rows):
    columns = {
        "answer_id": [c for c, *_ in rows],
        "question_id": [q for _, q, *_ in rows],
        "text": [f"text {q}" for _, q, *_ in rows],
        "answer": [a for *_, a, _ in rows],
        "events": [n for *_, n in rows],
        "token_ids": [[1, 10 + abs(q) % 5] for _, q, *_ in rows],
        "bag_id": [q for _, q, *_ in rows],
    }
    return with_nulls(MEMBERS, columns)


def in_order(table):
    return sorted(map(json.dumps, table.to_pylist()))


@given(ROWS, st.integers(2, 4), st.integers(1, 4))
def test_answers_cut_in_any_shards_of_questions_are_judged_as_if_they_were_whole(rows, most, shards):
    whole = members(rows)
    weights, gate = count_tokens(whole["token_ids"]), Gate(coherence="adjusted", max_cluster_size=most)
    expected = cluster(whole, gate, weights)
    of_shard = whole["question_id"].to_numpy() % shards
    cuts = [cut_surplus(whole.filter(pa.array(of_shard == shard)), most) for shard in range(shards)]
    found = cluster(pa.concat_tables(cut.members for cut in cuts), gate, weights)
    assert found.members.equals(expected.members)
    assert all(np.array_equal(one, other) for one, other in zip(found.coherence, expected.coherence, strict=True))
    lost = [reject_surplus(to_ipc(cut.surplus), [found.names]) for cut in cuts if len(cut.surplus)]
    assert in_order(pa.concat_tables([found.rejects, *lost])) == in_order(expected.rejects)
    counts = found.counts | {"members_judged": found.counts["members_judged"] + sum(map(len, lost))}
    assert counts == expected.counts
    assert len(expected.names) == 0
    for cut in cuts:
        left = cut.members.filter(cut.members["text"].is_valid())
        asked = {(c, q) for c, q in zip(*(left[n].to_pylist() for n in ("answer_id", "question_id")), strict=True)}
        assert all(sum(c == answer for c, _ in asked) <= most for answer in (-1, 0, 1))


def test_answers_of_the_largest_size_or_less_pass_as_they_are():
    table = members([(1, q, form, 1) for q in range(3) for form in "xyz"])
    cut = cut_surplus(table, 3)
    assert cut.members is table
    assert cut.surplus.equals(SURPLUS.empty_table())
    assert cut_surplus(MEMBERS.empty_table(), 3) == (MEMBERS.empty_table(), SURPLUS.empty_table())


def test_a_question_that_is_cut_leaves_its_events_and_its_votes_for_the_form():
    # 5 is beyond the two smallest; its events are 4 + 2, and they make x, with 4 + 1, beat y, with 3 + 1
    table = members([(1, 3, "y", 3), (1, 4, "y", 1), (1, 5, "x", 4), (1, 5, "z", 2), (1, 3, "x", 1)])
    cut = cut_surplus(table, 2)
    assert cut.surplus.to_pylist() == [
        {"answer_id": 1, "question_id": 5, "text": "text 5", "events": 6, "split": None},
    ]
    voted = cut.members.filter(cut.members["text"].is_null()).to_pylist()
    assert sorted((row["answer_id"], row["answer"], row["events"]) for row in voted) == [(1, "x", 4), (1, "z", 2)]
    found = cluster(cut.members, Gate(coherence="paper", min_coherence=0), count_tokens(table["token_ids"]))
    assert found.names.to_pylist() == [{"answer_id": 1, "answer": "x"}]
    assert found.counts["groups_over_max_cluster_size"] == 1
    [lost] = reject_surplus(to_ipc(cut.surplus), [found.names]).to_pylist()
    assert (lost["stage"], lost["reason"], lost["shard_key"]) == ("size", "over_max_cluster_size", 5)
    assert json.loads(lost["payload"]) == {"question": "text 5", "answer": "x", "events": 6, "cluster_id": 1}


def test_votes_hold_no_question():
    voted = votes(members([(1, 5, "x", 4), (1, 6, "x", 2), (2, 6, None, 1)]))
    assert voted.schema.equals(MEMBERS)
    told = [{name: value for name, value in row.items() if value is not None} for row in voted.to_pylist()]
    by_answer = sorted(told, key=lambda row: row["answer_id"])
    assert by_answer == [{"answer_id": 1, "answer": "x", "events": 6}, {"answer_id": 2, "events": 1}]
