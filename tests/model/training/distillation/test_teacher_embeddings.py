from __future__ import annotations

import numpy as np
import pytest

from model.encoders.loading import load_encoder
from model.training.distillation.teacher_embeddings import lesson_of, taught_vectors
from schemas.artifacts import storage
from schemas.artifacts.dataset import open_dataset
from schemas.errors import QprError


@pytest.fixture
def dataset(memory, make_dataset):
    def make(split):
        make_dataset(f"{memory}/{split}", [["pay a bill", "pay the bill"]], split=split, alone=["x", "y", "z", "pay"])
        return open_dataset(f"{memory}/{split}")

    return make


@pytest.fixture
def teacher(memory, make_model):
    make_model(f"{memory}/teacher")
    return load_encoder(f"{memory}/teacher")


def test_questions_of_train_and_of_no_cluster_teach_those_held_out_do_not(dataset):
    assert set(lesson_of(dataset("train"), most=0).texts.to_pylist()) == {
        "pay a bill",
        "pay the bill",
        "x",
        "y",
        "z",
        "pay",
    }
    assert set(lesson_of(dataset("test"), most=0).texts.to_pylist()) == {"x", "y", "z", "pay"}
    assert set(lesson_of(dataset("validation"), most=0).texts.to_pylist()) == {"x", "y", "z", "pay"}


def test_a_sample_is_the_smallest_ids(dataset):
    every = lesson_of(dataset("train"), most=0)
    assert (np.diff(every.ids) > 0).all()
    part = lesson_of(dataset("train"), most=4)
    np.testing.assert_array_equal(part.ids, every.ids[:4])
    assert part.texts.to_pylist() == every.texts.to_pylist()[:4]
    assert part.digest != every.digest


def test_too_few_questions_are_refused(memory, make_dataset):
    make_dataset(f"{memory}/d", [["a", "b", "c"]], split="test", alone=["x", "y"])
    with pytest.raises(QprError, match="2 questions to teach with"):
        lesson_of(open_dataset(f"{memory}/d"), most=0)


def test_vectors_are_the_teachers_and_are_asked_for_once(dataset, teacher, memory):
    lesson, told = lesson_of(dataset("train"), most=0), []
    kept = f"{memory}/kept.safetensors"
    vectors = taught_vectors(lesson, teacher, kept=kept, on_part=told.append)
    np.testing.assert_allclose(vectors, teacher.encode(lesson.texts), atol=1e-6)
    assert told == [6]
    np.testing.assert_array_equal(taught_vectors(lesson, teacher, kept=kept, on_part=told.append), vectors)
    assert told == [6]
    np.testing.assert_array_equal(taught_vectors(lesson, teacher, kept=None), vectors)


def test_a_file_that_appeared_meanwhile_is_not_replaced_and_must_be_of_the_same(dataset, teacher, memory):
    lesson, kept = lesson_of(dataset("train"), most=0), f"{memory}/kept.safetensors"

    def appear(content):
        return lambda _: storage.write_bytes(kept, content)

    vectors = taught_vectors(lesson, teacher, kept=f"{memory}/other.safetensors")
    theirs = storage.read_bytes(f"{memory}/other.safetensors")
    np.testing.assert_array_equal(taught_vectors(lesson, teacher, kept=kept, on_part=appear(theirs)), vectors)
    storage.delete(kept)
    with pytest.raises(QprError, match="is damaged"):
        taught_vectors(lesson, teacher, kept=kept, on_part=appear(b"theirs"))
    assert storage.read_bytes(kept) == b"theirs"


def test_a_file_of_another_teacher_of_other_questions_or_damaged_is_refused(dataset, teacher, memory, make_model):
    kept, lesson = f"{memory}/kept.safetensors", lesson_of(dataset("train"), most=0)
    taught_vectors(lesson, teacher, kept=kept)
    with pytest.raises(QprError, match="of other questions"):
        taught_vectors(lesson_of(dataset("train"), most=4), teacher, kept=kept)
    make_model(f"{memory}/other", seed=1)
    with pytest.raises(QprError, match="of another teacher"):
        taught_vectors(lesson, load_encoder(f"{memory}/other"), kept=kept)
    storage.write_bytes(kept, storage.read_bytes(kept)[:-3])
    with pytest.raises(QprError, match="is damaged"):
        taught_vectors(lesson, teacher, kept=kept)
