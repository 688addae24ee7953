import pyarrow as pa

from pipelines.clusters.splits import keep_splits
from pipelines.intermediate import MEMBERS
from schemas.tables import with_nulls


def members_with(*rows):
    """Return MEMBERS of (answer, question, earlier split)."""
    answers, questions, splits = zip(*rows, strict=True)
    columns = {
        "answer_id": pa.array(answers, pa.int64()),
        "question_id": pa.array(questions, pa.int64()),
        "text": pa.array([f"q{question}" for question in questions]),
        "answer": pa.array([f"a{answer}" for answer in answers]),
        "events": pa.array([1] * len(rows), pa.int64()),
        "split": pa.array(splits, pa.string()),
    }
    return with_nulls(MEMBERS, columns)


def kept(*rows):
    found = keep_splits(members_with(*rows))
    return (
        {(row["answer_id"], row["question_id"]): row["split"] for row in found.members.to_pylist()},
        [row["reason"] for row in found.rejects.to_pylist()],
    )


def test_without_earlier_splits_the_hash_decides():
    assert kept((1, 10, None), (1, 11, None)) == ({(1, 10): None, (1, 11): None}, [])


def test_a_new_question_joins_the_split_of_its_answer():
    assert kept((1, 10, "test"), (1, 11, None), (2, 20, None)) == (
        {(1, 10): "test", (1, 11): "test", (2, 20): None},
        [],
    )


def test_of_answers_that_merge_the_minority_is_left_out():
    rows = [(1, 10, "train"), (1, 11, "train"), (1, 12, "test"), (1, 13, None)]
    assert kept(*rows) == ({(1, 10): "train", (1, 11): "train", (1, 13): "train"}, ["other_split_before"])


def test_of_equally_many_questions_the_held_out_ones_decide():
    assert kept((1, 10, "train"), (1, 11, "test"))[0] == {(1, 11): "test"}
    assert kept((1, 10, "train"), (1, 11, "validation"))[0] == {(1, 11): "validation"}
    assert kept((1, 10, "validation"), (1, 11, "test"))[0] == {(1, 11): "test"}


def test_two_forms_of_one_answer_are_one_rejected_question():
    rows = [(1, 10, "test"), (1, 11, "train"), (1, 11, "train"), (1, 12, "test"), (1, 13, "test")]
    assert kept(*rows)[1] == ["other_split_before"]


def test_a_question_votes_once_however_its_answer_is_spelled():
    rows = [(1, 10, "train"), (1, 10, "train"), (1, 10, "train"), (1, 11, "test"), (1, 12, "test")]
    assert kept(*rows) == ({(1, 11): "test", (1, 12): "test"}, ["other_split_before"])
