"""Neighbours of questions as evidence."""

import numpy as np
import pyarrow as pa
import pytest

from pipelines.intermediate import NEIGHBOURS, STANDINGS
from pipelines.linkage.witnesses import (
    MANY,
    NEAREST,
    LogAgreement,
    agreement_of,
    evidence_among,
    find_witnesses,
    standings_of,
    total_agreement,
    witnesses_of,
)
from pipelines.neighbours.nearest import exact_nearest
from pipelines.questions.token_frequencies import count_tokens

QUESTIONS = (
    ["how do i pay my bill", "how can i pay the bill", "pay my bill please"],
    ["where is my parcel", "where is the parcel now", "how do i pay my bill today"],
)


def near(*rows: tuple[int, int, int, int, float]) -> pa.Table:
    columns = zip(*sorted(rows, key=lambda row: (row[1], row[0], -row[4])), strict=True)
    return standings_of(pa.table(dict(zip(NEIGHBOURS.names, map(list, columns), strict=True)), schema=NEIGHBOURS))


def test_each_row_has_its_similarities_in_falling_order(members_of) -> None:
    members = members_of(["one", "two"], ["three"])
    first, second, third = members["question_id"].to_pylist()
    a, _, b = members["answer_id"].to_pylist()
    table = near((first, a, third, b, 0.25), (first, a, second, a, 0.5), (first, a, 99, 98, 0.75), (1, 2, 3, 4, 0.9))
    found = witnesses_of(members, table, count_tokens(members["token_ids"]), LogAgreement())
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
    found = witnesses_of(members, table, count_tokens(members["token_ids"]), LogAgreement())
    assert found.support.tolist() == pytest.approx([0.5, 0.5])  # the second one has no neighbour at all
    contradicted = near((first, answer, 7, 70, 0.5), (first, answer, 8, 80, 0.25))
    alone = witnesses_of(members, contradicted, count_tokens(members["token_ids"]), LogAgreement())
    assert alone.support[0] == 0


def test_the_lowest_support_is_that_of_a_question_with_a_wrong_answer(members_of) -> None:
    members = members_of(*QUESTIONS)
    weights = count_tokens(members["token_ids"])
    found = find_witnesses(members, weights)
    stray = members["text"].to_pylist().index("how do i pay my bill today")
    assert not found.agreeing[stray]
    assert int(np.argmin(found.support)) == stray
    assert (found.log.questions, found.log.agreeing) == (6, int(found.agreeing.sum()))


def test_parts_of_a_log_add_up(members_of) -> None:
    members = members_of(*QUESTIONS)
    standings = standings_of(exact_nearest(members, count_tokens(members["token_ids"]), k=NEAREST))
    in_first = np.isin(standings["answer_id"].to_numpy(), members["answer_id"].to_numpy()[:1])
    parts = [agreement_of(standings.filter(pa.array(rows))) for rows in (in_first, ~in_first)]
    assert total_agreement(parts) == agreement_of(standings)


def test_questions_of_answers_with_many_are_counted(members_of) -> None:
    members = members_of([f"how do I pay bill {n}" for n in range(MANY)], [f"pay bill in {n}" for n in range(MANY - 1)])
    log = agreement_of(standings_of(exact_nearest(members, count_tokens(members["token_ids"]), k=NEAREST)))
    assert (log.questions, log.of_many) == (2 * MANY - 1, MANY)
    assert log.of_many_share == MANY / (2 * MANY - 1)


def test_a_log_without_questions_agrees_in_half() -> None:
    assert agreement_of(STANDINGS.empty_table()) == total_agreement([]) == LogAgreement()
    assert LogAgreement().share == 0.5


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
