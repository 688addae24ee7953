import json
import random

import pyarrow as pa
from hypothesis import given
from hypothesis import strategies as st

from pipelines.questions.equal_questions import merge_equal
from schemas.tables import INDEX_ROWS
from schemas.text import fold


def rows(*given):
    """Rows of (question_id, text, answer, cluster_id, events, answer_id), the last ones null by default."""
    return pa.Table.from_pylist([dict(zip(INDEX_ROWS.names, row, strict=False)) for row in given], schema=INDEX_ROWS)


def test_the_answer_with_most_events_wins_and_the_others_are_rejects():
    merged = merge_equal(rows((1, "b", "By post", 7, 9), (1, "c", "Online", 6, 5), (1, "a", "online ", 8, 5)))
    assert merged.rows.to_pylist() == [
        {"question_id": 1, "text": "a", "answer": "Online", "cluster_id": 6, "events": 10, "answer_id": None}
    ]
    [lost] = merged.rejects.to_pylist()
    assert (lost["stage"], lost["reason"], lost["shard_key"]) == ("merge", "other_answer", 1)
    assert json.loads(lost["payload"]) == {"question": "b", "answer": "By post", "cluster_id": "7", "events": 9}


def test_of_equally_frequent_answers_the_smallest_text_wins_and_a_row_counts_as_one_event():
    assert merge_equal(rows((1, "q", "b"), (1, "q", "a"))).rows["answer"].to_pylist() == ["a"]
    assert merge_equal(rows((1, "q", "b"), (1, "q", "a"), (1, "q", "b"))).rows["answer"].to_pylist() == ["b"]
    tied = merge_equal(rows((1, "q", "a", None, 2, "x"), (1, "q", "a", None, 2, "w")))
    assert tied.rows["answer_id"].to_pylist() == ["w"]
    assert len(tied.rejects) == 1


def test_a_row_without_an_answer_agrees_with_any_and_only_its_events_count():
    merged = merge_equal(rows((1, "a", None, None, 50), (1, "b", "x", None, 1), (1, "b", "y", None, 2)))
    assert merged.rows.select(["text", "answer", "events"]).to_pylist() == [{"text": "a", "answer": "y", "events": 52}]
    assert len(merged.rejects) == 1
    alone = merge_equal(rows((1, "b", None), (1, "a", None)))
    assert alone.rows.select(["text", "answer", "events"]).to_pylist() == [
        {"text": "a", "answer": None, "events": None}
    ]
    assert len(alone.rejects) == 0


def test_columns_that_filter_may_end_like_an_aggregate():
    given_rows = rows((1, "a", "x", None, 1), (1, "b", "x", None, 1))
    for name in ("total_sum", "total_min", "events_sum"):
        given_rows = given_rows.append_column(name, pa.array([f"{name} of both"] * 2))
    [merged] = merge_equal(given_rows).rows.to_pylist()
    assert (merged["total_sum"], merged["events_sum"], merged["events"]) == (
        "total_sum of both",
        "events_sum of both",
        2,
    )


def test_one_row_a_question_in_order_of_id():
    assert merge_equal(rows((5, "b"), (-3, "c"), (5, "a"))).rows.select(["question_id", "text"]).to_pylist() == [
        {"question_id": -3, "text": "c"},
        {"question_id": 5, "text": "a"},
    ]
    for few in (rows(), rows((5, "b", "x", 1, 2, "y"))):
        assert merge_equal(few).rows.equals(few)
        assert len(merge_equal(few).rejects) == 0


ROW = st.tuples(
    st.integers(0, 3),
    st.sampled_from("ab"),
    st.sampled_from([None, "x", "X ", "y"]),
    st.sampled_from([None, 1, 2]),
    st.sampled_from([None, 1, 2, 5]),
    st.sampled_from([None, "i", "j"]),
)


@given(st.lists(ROW, max_size=12), st.randoms())
def test_any_order_of_the_rows_gives_what_a_loop_over_questions_gives(given_rows, randomly):
    shuffled = list(given_rows)
    random.Random(randomly.random()).shuffle(shuffled)
    merged, again = merge_equal(rows(*given_rows)), merge_equal(rows(*shuffled))
    assert merged.rows.equals(again.rows)
    assert sorted(merged.rejects.to_pylist(), key=str) == sorted(again.rejects.to_pylist(), key=str)
    expected, lost = [], 0
    for question in sorted({row[0] for row in given_rows}):
        of_question = [row for row in given_rows if row[0] == question]
        votes, texts = {}, {}
        for _, _, answer, _, events, answer_id in of_question:
            if answer is not None or answer_id is not None:
                name = (fold(answer or ""), answer_id or "")
                votes[name] = votes.get(name, 0) + (1 if events is None else events)
                texts.setdefault(name, []).append(answer)
        best = min(
            votes,
            default=None,
            key=lambda n: (
                -votes[n],
                min(texts[n], key=lambda t: (t is None, t)) is None,
                str(min(texts[n], key=lambda t: (t is None, t or ""))),
                *n,
            ),
        )
        agreeing = [r for r in of_question if (r[2] is None and r[5] is None) or (fold(r[2] or ""), r[5] or "") == best]
        lost += len(of_question) - len(agreeing)
        columns = [[value for value in column if value is not None] for column in zip(*agreeing, strict=True)]
        folded = [min(values, default=None) for values in columns]
        folded[4] = sum(columns[4]) if columns[4] else None
        expected.append(tuple(folded))
    assert [tuple(row.values()) for row in merged.rows.to_pylist()] == expected
    assert len(merged.rejects) == lost
