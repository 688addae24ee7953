"""Questions of a benchmark: all different, the same for the same seed, in any number up to their maximum."""

import pyarrow as pa
import pytest

from benchmarks.retrieval.distinct_questions import RELATIONS, distinct_questions
from schemas.text_arrays import key_all


def joined(count, seed=0):
    return pa.concat_arrays([*distinct_questions(count, seed=seed)])


def test_no_two_questions_have_the_same_key():
    questions = joined(260_000)  # more than a block
    assert len(questions) == len(key_all(questions).unique()) == 260_000


def test_a_number_and_a_seed_give_the_same_questions():
    assert joined(500).equals(joined(500))
    assert joined(500).equals(joined(900)[:500])
    assert not joined(500).equals(joined(500, seed=1))


def test_the_four_wordings_of_a_fact_follow_each_other_and_name_the_same_things():
    first = joined(4).to_pylist()
    assert len({*first}) == 4
    assert all("Ada Abbott" in text and "Veltara Systems" in text for text in first)


def test_more_questions_than_there_are_is_an_error():
    with pytest.raises(ValueError, match=r"^20,000,000 questions are asked for, there are 12,380,160 different ones$"):
        next(distinct_questions(20_000_000))


def test_every_wording_names_both_things():
    for *_, wordings in RELATIONS:
        assert all("{a}" in text and "{b}" in text for text in wordings)
