"""Neighbours of questions as evidence."""

import numpy as np
import pyarrow as pa
import pytest

from pipelines.intermediate import NEIGHBOURS
from pipelines.linkage.standings import NEAREST, LogAgreement, standings_of
from pipelines.linkage.witnesses import evidence_among, evidence_of, find_witnesses, witnesses_of
from pipelines.questions.token_frequencies import count_tokens

QUESTIONS = (
    ["how do i pay my bill", "how can i pay the bill", "pay my bill please"],
    ["where is my parcel", "where is the parcel now", "how do i pay my bill today"],
)


def same_vector(texts: pa.ChunkedArray) -> np.ndarray:
    return np.ones((len(texts), 3))


def near(*rows: tuple[int, int, int, int, float]) -> pa.Table:
    columns = zip(*sorted(rows, key=lambda row: (row[1], row[0], -row[4])), strict=True)
    return standings_of(pa.table(dict(zip(NEIGHBOURS.names, map(list, columns), strict=True)), schema=NEIGHBOURS))


def test_each_row_has_its_similarities_in_falling_order(members_of) -> None:
    members = members_of(["one", "two"], ["three"])
    first, second, third = members["question_id"].to_pylist()
    a, _, b = members["answer_id"].to_pylist()
    table = near((first, a, third, b, 0.25), (first, a, second, a, 0.5), (first, a, 99, 98, 0.75), (1, 2, 3, 4, 0.9))
    found = witnesses_of(members, table, LogAgreement())
    assert found.same.shape == found.other.shape == (3, NEAREST)
    assert found.same[0, :2].tolist() == [0.5, 0]
    assert found.other[0, :3].tolist() == [0.75, 0.25, 0]
    assert not found.same[1:].any()
    assert not found.other[1:].any()


def test_support_compares_the_own_answer_with_the_strongest_other_one(members_of) -> None:
    members = members_of(["one", "two"])
    first, second = members["question_id"].to_pylist()
    answer = members["answer_id"][0].as_py()
    table = near((first, answer, second, answer, 0.5), (first, answer, 7, 70, 0.5), (first, answer, 8, 80, 0.25))
    found = witnesses_of(members, table, LogAgreement())
    assert found.support.tolist() == pytest.approx([0.5, 0.5])  # the second one has no neighbour at all
    contradicted = near((first, answer, 7, 70, 0.5), (first, answer, 8, 80, 0.25))
    alone = witnesses_of(members, contradicted, LogAgreement())
    assert alone.support[0] == 0


def test_the_lowest_support_is_that_of_a_question_with_a_wrong_answer(members_of) -> None:
    members = members_of(*QUESTIONS)
    weights = count_tokens(members["token_ids"])
    found = find_witnesses(members, weights)
    stray = members["text"].to_pylist().index("how do i pay my bill today")
    assert not found.agreeing[stray]
    assert int(np.argmin(found.support)) == stray
    assert (found.log.questions, found.log.agreeing) == (6, int(found.agreeing.sum()))


def test_vectors_by_words_are_those_of_the_rows_that_are_compared(members_of) -> None:
    members = members_of(*QUESTIONS)
    weights = count_tokens(members["token_ids"])
    found = find_witnesses(members, weights)
    assert found.vectors is None
    rows = np.array([1, 3])
    some = found.take(rows).with_question_vectors(members["text"].take(pa.array(rows)), weights).vectors
    every = found.with_question_vectors(members["text"], weights).vectors
    assert (some != every[rows]).nnz == 0
    assert some.nnz > 0


def test_questions_are_near_by_the_vectors_of_an_encoder(members_of) -> None:
    members = members_of(["a", "b"], ["c"])
    turn = {"a": 0.0, "b": 1.0, "c": 0.2}

    def encode(texts: pa.ChunkedArray) -> np.ndarray:
        turns = np.array([turn[text] for text in texts.to_pylist()])
        return np.column_stack([np.cos(turns), np.sin(turns)])

    weights = count_tokens(members["token_ids"])
    evidence = evidence_among(members, weights, encode)
    last = members.slice(len(members) - 1)
    assert np.array_equal(evidence.vectors_of(last), evidence.vectors_of(members)[-1:])
    found = find_witnesses(members, weights, evidence)
    row = members["text"].to_pylist().index("a")
    assert found.same[row, 0] == pytest.approx(np.cos(1.0), abs=0.01)
    assert found.other[row, 0] == pytest.approx(np.cos(0.2), abs=0.01)
    assert found.log.agreeing == 0


def test_neighbours_by_words_are_found_beside_those_by_vectors(members_of) -> None:
    members = members_of(*QUESTIONS)
    weights = count_tokens(members["token_ids"])
    evidence = evidence_among(members, weights, same_vector, words_too=True)
    found, by_words = find_witnesses(members, weights, evidence), find_witnesses(members, weights)
    assert found.by_vectors
    assert found.words is not None
    assert not found.words.by_vectors
    rows = np.array([4, 1])
    for taken, expected in ((found.words, by_words), (found.take(rows).words, by_words.take(rows))):
        assert taken is not None
        assert np.array_equal(taken.same, expected.same)
        assert np.array_equal(taken.support, expected.support)
        assert taken.log == expected.log
    assert found.log != by_words.log


def test_similarities_of_some_rows_can_be_left_out(members_of) -> None:
    members = members_of(*QUESTIONS)
    weights = count_tokens(members["token_ids"])
    every = find_witnesses(members, weights, evidence_among(members, weights, same_vector, words_too=True))
    rows = np.arange(len(members)) % 2 == 0
    some = every.with_similarities_of(rows)
    kept = np.flatnonzero(rows)[::-1]
    for one, other in ((some, every), (some.words, every.words)):
        assert len(one.same) == len(one.other) == len(kept)
        assert np.array_equal(one.support, other.support)
        assert np.array_equal(one.has_other, other.has_other & rows)
    for one, other in ((some.take(kept), every.take(kept)), (some.take(kept).words, every.take(kept).words)):
        assert np.array_equal(one.same, other.same)
        assert np.array_equal(one.other, other.other)
        assert one.place is None
    with pytest.raises(IndexError):
        some.take(np.array([1]))
    assert every.with_similarities_of(np.ones(len(members), bool)) is every


def test_answers_without_any_neighbour_have_evidence_of_each_kind() -> None:
    log = LogAgreement(3, 2)
    found = evidence_of([None, None], {1: log}, None)
    assert found.words is not None
    assert (len(found.standings()), found.log, found.words.log) == (0, LogAgreement(), log)
    assert evidence_of([None], {}, None).words is None
