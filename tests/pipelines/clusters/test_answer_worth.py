"""Counters of the worth of answers, and the extreme answers of a shard."""

import numpy as np
import pyarrow as pa
import pytest

from pipelines.clusters.answer_worth import extreme_answers, kind_counts, shares_of_answers
from pipelines.linkage.scoring.pair_model import Linked
from pipelines.summary.worth_by_kind import MANY, SHOWN
from pipelines.writing.reported import JudgedAnswer


def test_the_share_of_an_answer_is_that_of_its_expected_paraphrases(members_of) -> None:
    members = members_of(["a", "b", "c"], ["d", "e"])
    expected = np.array([900_000, 600_000, 0, 0, 200_000])
    shares = shares_of_answers(Linked(np.arange(5), np.zeros(5), expected=expected), members)
    assert shares.share.tolist() == pytest.approx([0.5, 0.2])
    assert kind_counts(shares) == {
        "worth_of_number_0_answers": 1, "worth_of_number_0_expected": 200_000, "worth_of_number_0_squares": 40_000,
        "worth_of_number_1_answers": 1, "worth_of_number_1_expected": 500_000, "worth_of_number_1_squares": 250_000,
    }  # fmt: skip


def test_a_linkage_without_estimates_expects_nothing(members_of) -> None:
    shares = shares_of_answers(Linked(np.arange(2), np.zeros(2)), members_of(["a", "b"]))
    assert shares.share.tolist() == [0.0]


def test_answers_of_many_questions_with_the_lowest_and_highest_shares_are_listed(members_of) -> None:
    sizes = [MANY + n % 2 for n in range(2 * SHOWN + 3)] + [MANY - 1]
    members = members_of(*([f"q{n} w{i}" for i in range(size)] for n, size in enumerate(sizes)))
    texts = pa.array([f"answer {n:02} " + 300 * "x" for n in members["answer_id"].to_pylist()])
    members = members.set_column(members.column_names.index("answer"), "answer", texts)
    first = np.cumsum([0, *sizes[:-1]])
    expected = np.zeros(len(members), np.int64)
    expected[first] = [10_000 * n * size * (size - 1) // 2 for n, size in enumerate(sizes)]
    found = extreme_answers(
        shares_of_answers(Linked(np.arange(len(members)), np.zeros(len(members)), expected=expected), members)
    )
    named = [int(answer.answer.split()[1]) for answer in found]
    assert named == [*range(SHOWN), *range(2 * SHOWN + 2, SHOWN + 2, -1)]
    assert found[0] == JudgedAnswer(found[0].answer, "entity", MANY, 0.0)
    assert {len(answer.answer) for answer in found} == {200}
