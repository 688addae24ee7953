import collections
import json

import pyarrow as pa
import pydantic
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pipelines.intermediate import MEMBERS, NAMED_QUESTIONS
from pipelines.questions.ambiguity import settle_answers, with_settled_answers
from pipelines.questions.settings import Ambiguity
from schemas.tables import with_nulls

rows_of_members = st.lists(
    st.tuples(st.integers(-3, 3), st.integers(-2, 2), st.sampled_from("xyz"), st.integers(1, 3)), max_size=25
)  # (question, cluster, answer form, events)


def members(rows):
    merged = collections.Counter()
    for question, cluster, form, events in rows:
        merged[question, cluster, form] += events
    columns = {
        "answer_id": [c for _, c, _ in merged],
        "question_id": [q for q, *_ in merged],
        "text": [f"text {q}" for q, *_ in merged],
        "answer": [f"{c} {form}" for _, c, form in merged],
        "log_answer_id": [None if c == 2 else f"id {c}" for _, c, _ in merged],
        "events": list(merged.values()),
        "token_ids": [[q, 7] for q, *_ in merged],
        "bag_id": [q for q, *_ in merged],
    }
    return with_nulls(MEMBERS, columns)


def naive(rows, share, least):
    """Return the places that stay, and what is told of the others, with plain dicts."""
    events, forms = {}, {}
    for question, cluster, form, n in rows:
        places = events.setdefault(question, collections.Counter())
        places[cluster] += n
        forms.setdefault((question, cluster), collections.Counter())[form] += n
    kept, lost = set(), []
    for question, places in events.items():
        best = min(places, key=lambda c: (-places[c], c))
        clear = places[best] / places.total() >= share and places[best] >= least
        for cluster, n in places.items():
            if len(places) == 1 or share == 0 or (clear and cluster == best):
                kept.add((question, cluster))
                continue
            answer = min(forms[question, cluster].items(), key=lambda item: (-item[1], item[0]))[0]
            why = ("minority_answer", n / places.total()) if clear else ("ambiguous", places[best] / places.total())
            lost.append((question, cluster, n, f"{cluster} {answer}", *why))
    return kept, sorted(lost)


def told(table):
    rows = []
    for row in table.to_pylist():
        assert row["stage"] == "ambiguity"
        said = json.loads(row["payload"])
        assert said["question"] == f"text {row['shard_key']}"
        place = (row["shard_key"], said["cluster_id"], said["events"], said["answer"])
        rows.append((*place, row["reason"], row["score"]))
    return sorted(rows)


@given(rows_of_members, st.sampled_from([0, 0.34, 0.5, 0.6, 1]), st.integers(1, 3))
def test_a_question_stays_with_the_dominant_answer_and_the_others_are_reported(rows, share, least):
    table = members(rows)
    settled = settle_answers(table, Ambiguity(min_answer_share=share, min_answer_events=least))
    kept, lost = naive(rows, share, least)
    expected = [row for row in table.to_pylist() if (row["question_id"], row["answer_id"]) in kept]
    assert sorted(settled.members.to_pylist(), key=str) == sorted(expected, key=str)  # unchanged, all their forms
    assert told(settled.rejects) == lost
    several = {q for q, *_ in rows if len({c for p, c, *_ in rows if p == q}) > 1}
    assert settled.counts == {"members": len(kept) + len(lost), "questions_with_several_answers": len(several)}


@pytest.mark.parametrize(
    ("events", "kept", "reasons"),
    [
        ([3, 1], [0], ["minority_answer"]),  # 3/4
        ([2, 2], [0], ["minority_answer"]),  # 2/4, and of equally frequent ones the smallest id
        ([1, 1], [], ["ambiguous", "ambiguous"]),  # 1/2, but one event is too few
        ([2, 1, 2], [], ["ambiguous"] * 3),  # 2/5
        ([1], [0], []),  # one answer is no contradiction, however rare
        ([1, 4, 1], [1], ["minority_answer"] * 2),  # 4/6
    ],
)
def test_by_default_half_of_the_events_and_two_of_them_decide(events, kept, reasons):
    settled = settle_answers(members([(5, c, "x", n) for c, n in enumerate(events)]), Ambiguity())
    assert settled.members["answer_id"].to_pylist() == kept
    assert settled.rejects["reason"].to_pylist() == reasons


def test_two_forms_of_one_answer_are_one_answer():
    settled = settle_answers(members([(5, 0, "x", 1), (5, 0, "y", 2), (5, 1, "x", 1)]), Ambiguity())
    assert settled.members["answer"].to_pylist() == ["0 x", "0 y"]
    assert told(settled.rejects) == [(5, 1, 1, "1 x", "minority_answer", 0.25)]
    assert settled.counts["members"] == 2


@pytest.mark.parametrize(
    ("rows", "share", "answer"),
    [
        ([(0, "x", 3), (0, "y", 3), (1, "z", 4)], 0.5, "0 x"),  # the most frequent form is of the rarer answer
        ([(0, "x", 1), (1, "x", 1)], 0.5, None),
        ([(0, "x", 1), (1, "x", 1)], 0, "0 x"),
        ([(0, "x", 1)], 0.5, "0 x"),
    ],
)
def test_a_question_has_the_answer_that_it_counts_for(rows, share, answer):
    table = members([(number, *row) for number in (5, 7) for row in rows] + [(6, 2, "other", 1)])
    columns = {name: [name, name, name] for name in ("key", "text", "answer")}
    questions = with_nulls(NAMED_QUESTIONS, columns | {"question_id": [5, 6, 7], "events": [9, 9, 9]})
    settled = with_settled_answers(questions, settle_answers(table, Ambiguity(min_answer_share=share)).members)
    assert settled["answer"].to_pylist() == [answer, "2 other", answer]
    named = None if answer is None else f"id {answer[0]}"
    assert settled["answer_id"].to_pylist() == [named, None, named]
    assert settled.drop_columns(["answer", "answer_id"]) == questions.drop_columns(["answer", "answer_id"])
    assert settled.schema == NAMED_QUESTIONS


@given(rows_of_members, st.randoms())
def test_the_order_of_rows_does_not_matter(rows, random):
    one = settle_answers(members(rows), Ambiguity())
    other = settle_answers(members(random.sample(rows, len(rows))), Ambiguity())
    assert sorted(one.members.to_pylist(), key=str) == sorted(other.members.to_pylist(), key=str)
    assert told(one.rejects) == told(other.rejects)
    assert one.counts == other.counts


@pytest.mark.parametrize("share", [0, 0.5])
def test_questions_whose_answers_differ_in_html_alone_are_counted(share):
    table = members([(1, 0, "x", 1), (1, 1, "x", 1), (2, 0, "x", 1), (2, 2, "x", 1), (3, 0, "x", 9)])
    answers = pa.array(["<p>Yes", "Yes", "<p>Yes", "No", "<p>Yes"]).dictionary_encode()
    columns = {"answer": answers, "log_answer_id": pa.nulls(5, pa.string())}
    table = with_nulls(MEMBERS, {name: columns.get(name, table[name]) for name in table.column_names})
    counts = {"members": 5, "questions_with_several_answers": 2, "questions_with_several_answers_by_html": 1}
    assert settle_answers(table, Ambiguity(min_answer_share=share)).counts == counts


@pytest.mark.parametrize("wrong", [{"min_answer_share": 1.01}, {"min_answer_share": -0.1}, {"min_answer_events": 0}])
def test_limits_that_make_no_sense_are_refused(wrong):
    with pytest.raises(pydantic.ValidationError):
        Ambiguity(**wrong)
