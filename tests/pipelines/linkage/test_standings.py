"""Similarities of the nearest questions, and how often these agree."""

import numpy as np
import pyarrow as pa
import pytest

from pipelines.intermediate import STANDINGS
from pipelines.linkage import standings
from pipelines.linkage.standings import (
    MANY,
    MAX_FREQUENT,
    NEAREST,
    FrequentAnswer,
    LogAgreement,
    agreement_of,
    standings_of,
    total_agreement,
)
from pipelines.neighbours.nearest import exact_nearest
from pipelines.questions.token_frequencies import count_tokens


def test_parts_of_a_log_add_up(members_of) -> None:
    members = members_of(
        ["how do i pay my bill", "how can i pay the bill"], ["where is my parcel", "where is it", "pay my bill"]
    )
    standings = standings_of(exact_nearest(members, count_tokens(members["token_ids"]), k=NEAREST))
    in_first = np.isin(standings["answer_id"].to_numpy(), members["answer_id"].to_numpy()[:1])
    parts = [agreement_of(standings.filter(pa.array(rows))) for rows in (in_first, ~in_first)]
    assert total_agreement(parts) == agreement_of(standings)


def test_the_agreement_does_not_depend_on_how_many_questions_are_counted_at_a_time(members_of, monkeypatch) -> None:
    members = members_of(["pay my bill", "pay the bill", "how do i pay"], ["where is it", "where is my bill"], ["who"])
    found = standings_of(exact_nearest(members, count_tokens(members["token_ids"]), k=NEAREST))
    at_once = agreement_of(found)
    monkeypatch.setattr(standings, "_AT_ONCE", 2)
    assert agreement_of(found) == at_once
    assert sum(at_once.profile)


def test_a_question_can_have_words_in_common_with_those_of_other_answers_alone(members_of) -> None:
    members = members_of(["pay my bill", "where is it"], ["pay the bill", "where is that"])
    found = standings_of(exact_nearest(members, count_tokens(members["token_ids"]), k=NEAREST))
    assert [(len(row["same"]), len(row["other"])) for row in found.to_pylist()] == [(0, 1)] * 4


def test_questions_of_answers_with_many_are_counted(members_of) -> None:
    members = members_of([f"how do I pay bill {n}" for n in range(MANY)], [f"pay bill in {n}" for n in range(MANY - 1)])
    log = agreement_of(standings_of(exact_nearest(members, count_tokens(members["token_ids"]), k=NEAREST)))
    assert (log.questions, log.of_many) == (2 * MANY - 1, MANY)
    assert log.of_many_share == MANY / (2 * MANY - 1)


@pytest.mark.parametrize(
    ("number", "same", "other", "is_surrounded"),
    [
        (20, [900, 800, 500], [950, 700, 500, 400], True),  # by the third: a sixth of 20, but at least three
        (20, [900, 800, 500], [950, 700, 501], False),
        (20, [900, 800], [], False),
        (20, [900, 800, 500], [850], True),
        (30, [900, 800, 500, 400, 300], [850, 800, 700, 600, 250], True),
        (30, [900, 800, 700, 600, 200], [850, 800, 500, 400, 250], False),
    ],
)
def test_questions_are_surrounded_by_their_answer_up_to_the_nth_nearest(number, same, other, is_surrounded) -> None:
    columns = [[*range(number)], [7] * number, [same] * number, [other] * number, [0.5] * number]
    log = agreement_of(pa.table([pa.array(c, f.type) for c, f in zip(columns, STANDINGS, strict=True)], STANDINGS))
    assert log.surrounded_of_many == log.frequent[0].surrounded == number * is_surrounded


def test_a_log_without_questions_agrees_in_half() -> None:
    assert agreement_of(STANDINGS.empty_table()) == total_agreement([]) == LogAgreement()
    assert LogAgreement().share == 0.5


def test_the_most_frequent_answers_are_kept_with_their_agreement(members_of) -> None:
    members = members_of(["pay my bill", "pay the bill", "my garden"], ["where is it", "where is the garden"])
    standings = standings_of(exact_nearest(members, count_tokens(members["token_ids"]), k=NEAREST))
    log = agreement_of(standings)
    ids = [members["answer_id"][row].as_py() for row in (0, 3)]
    assert {answer.answer_id for answer in log.frequent} == set(ids)
    assert sum(answer.questions for answer in log.frequent) == log.questions
    assert sum(answer.agreeing for answer in log.frequent) == log.agreeing
    sizes = [answer.questions for answer in log.frequent]
    assert sizes == sorted(sizes, reverse=True)
    many = [
        LogAgreement(frequent=tuple(FrequentAnswer(part + n, n, 0) for n in range(MAX_FREQUENT, 0, -1)))
        for part in (0, 1_000)
    ]
    kept = total_agreement(many).frequent
    assert [answer.questions for answer in kept] == sorted(2 * [*range(11, MAX_FREQUENT + 1)], reverse=True)
