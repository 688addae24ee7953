import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pipelines.intermediate import NEIGHBOURS
from pipelines.neighbours import nearest
from pipelines.neighbours.nearest import exact_nearest
from pipelines.neighbours.pairs import distinct_members
from pipelines.neighbours.similarity import question_vectors, similarities
from pipelines.questions.token_frequencies import count_tokens

ANSWERS = [
    ["how do i pay my bill", "how can i pay my bill", "pay the bill how", "when do you open", "opening hours please"],
    ["who wrote the red book", "who is the author of the red book", "where is the tower", "tower location"],
    ["what is a cat", "what are cats"],
    ["where is the red book"],
    ["pay bill", "???!", "red"],
]
WORDS = ["a", "b", "aa", "ab", "tower", "towers", "red"]
logs = st.lists(
    st.lists(st.lists(st.sampled_from(WORDS), min_size=1, max_size=4).map(" ".join), min_size=1, max_size=5), max_size=5
)


def naive(members, weights, k):
    """Return the expected set of rows by comparing each question with each other one."""
    questions = distinct_members(members).to_pylist()
    rows = question_vectors(pa.array([q["text"] for q in questions], pa.string()), weights)
    left, right = (places.ravel() for places in np.indices((len(questions), len(questions))))
    products = similarities(rows, left, right).reshape(len(questions), len(questions))
    answers = [q["answer_id"] for q in questions]
    expected = []
    for i, question in enumerate(questions):
        if answers.count(answers[i]) < 2:
            continue
        ranked = sorted(
            (-products[i, j], other["question_id"], other["answer_id"])
            for j, other in enumerate(questions)
            if other["question_id"] != question["question_id"] and products[i, j] > 0
        )
        same = [r for r in ranked if r[2] == answers[i]][:k]
        others = [r for r in ranked if r[2] != answers[i]][:k]
        expected += [(question["question_id"], *pair[1:], -pair[0]) for pair in sorted(same + others)]
    return expected


def as_tuples(table):
    columns = (table[name].to_pylist() for name in ("question_id", "neighbour_id", "neighbour_answer_id", "similarity"))
    return list(zip(*columns, strict=True))


@settings(max_examples=25)
@given(answers=logs, k=st.integers(1, 4))
def test_it_returns_the_nearest_of_each_kind(members_of, answers, k):
    members = members_of(*answers)
    weights = count_tokens(members["token_ids"])
    table = exact_nearest(members, weights, k=k)
    assert table.schema == NEIGHBOURS
    assert sorted(as_tuples(table)) == sorted(naive(members, weights, k))


def test_blocks_and_chunks_change_nothing(members_of, monkeypatch):
    members = members_of(*([f"{word} {other} {n % 7}" for word in WORDS] for n, other in enumerate(WORDS * 3)))
    weights = count_tokens(members["token_ids"])
    whole = exact_nearest(members, weights, k=3)
    monkeypatch.setattr(nearest, "BLOCK", 7)
    monkeypatch.setattr(nearest, "_CHUNK", 4)
    monkeypatch.setattr(nearest, "DENSE_SHARE", 0.3)
    assert exact_nearest(members, weights, k=3).equals(whole)


def test_rows_are_ordered_by_answer_question_and_similarity(members_of):
    members = members_of(*ANSWERS)
    rows = exact_nearest(members, count_tokens(members["token_ids"]), k=2).to_pylist()
    assert len(rows) > 20
    assert rows == sorted(rows, key=lambda r: (r["answer_id"], r["question_id"], -r["similarity"], r["neighbour_id"]))


def test_the_nearest_question_may_have_another_answer(members_of):
    members = members_of(*ANSWERS)
    rows = exact_nearest(members, count_tokens(members["token_ids"]), k=1).to_pylist()
    text_of = dict(zip(members["question_id"].to_pylist(), members["text"].to_pylist(), strict=True))
    pairs = {(text_of[r["question_id"]], text_of[r["neighbour_id"]]) for r in rows}
    assert ("who wrote the red book", "where is the red book") in pairs
    assert ("who wrote the red book", "who is the author of the red book") in pairs
    assert not any("???" in text for pair in pairs for text in pair)


def test_a_question_with_several_answers_counts_under_each(members_of):
    members = members_of(["red tower", "red book"], ["red tower", "blue tower"])
    rows = exact_nearest(members, count_tokens(members["token_ids"]), k=9).to_pylist()
    text_of = dict(zip(members["question_id"].to_pylist(), members["text"].to_pylist(), strict=True))
    found = {
        (text_of[r["question_id"]], r["answer_id"], text_of[r["neighbour_id"]], r["neighbour_answer_id"]) for r in rows
    }
    assert {row for row in found if row[0] == "red tower"} == {
        ("red tower", 0, "red book", 0), ("red tower", 0, "blue tower", 1),
        ("red tower", 1, "blue tower", 1), ("red tower", 1, "red book", 0),
    }  # fmt: skip


@pytest.mark.parametrize("answers", [[], [["one question"]], [["??", "!!"]]])
def test_nothing_to_compare_gives_no_neighbours(members_of, answers):
    members = members_of(*answers)
    table = exact_nearest(members, count_tokens(members["token_ids"]), k=3)
    assert table.schema == NEIGHBOURS
    assert not len(table)
