from __future__ import annotations

import dataclasses
import hashlib

import numpy as np
import pyarrow.compute as pc
import pytest
import safetensors.numpy

from model.encoders.loading import load_encoder
from model.training.distillation.teacher_embeddings import lesson_of, teacher_vectors
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
    vectors = teacher_vectors(lesson, teacher, kept=kept, on_part=told.append)
    np.testing.assert_allclose(vectors, teacher.encode(lesson.texts), atol=1e-6)
    assert told == [6]
    np.testing.assert_array_equal(teacher_vectors(lesson, teacher, kept=kept, on_part=told.append), vectors)
    assert told == [6]
    np.testing.assert_array_equal(teacher_vectors(lesson, teacher, kept=None), vectors)


def test_a_file_that_appeared_meanwhile_is_not_replaced_and_must_be_of_the_same(dataset, teacher, memory):
    lesson, kept = lesson_of(dataset("train"), most=0), f"{memory}/kept.safetensors"

    def appear(content):
        return lambda _: storage.write_bytes(kept, content)

    vectors = teacher_vectors(lesson, teacher, kept=f"{memory}/other.safetensors")
    theirs = storage.read_bytes(f"{memory}/other.safetensors")
    np.testing.assert_array_equal(teacher_vectors(lesson, teacher, kept=kept, on_part=appear(theirs)), vectors)
    storage.delete(kept)
    with pytest.raises(QprError, match="is damaged"):
        teacher_vectors(lesson, teacher, kept=kept, on_part=appear(b"theirs"))
    assert storage.read_bytes(kept) == b"theirs"


def test_a_file_of_another_teacher_of_other_questions_or_damaged_is_refused(dataset, teacher, memory, make_model):
    kept, lesson = f"{memory}/kept.safetensors", lesson_of(dataset("train"), most=0)
    teacher_vectors(lesson, teacher, kept=kept)
    with pytest.raises(QprError, match="of other questions"):
        teacher_vectors(lesson_of(dataset("train"), most=4), teacher, kept=kept)
    shouted = dataclasses.replace(lesson, texts=pc.utf8_upper(lesson.texts))
    with pytest.raises(QprError, match="of other questions, or of other wordings"):
        teacher_vectors(shouted, teacher, kept=kept)
    make_model(f"{memory}/other", seed=1)
    with pytest.raises(QprError, match="of another teacher"):
        teacher_vectors(lesson, load_encoder(f"{memory}/other"), kept=kept)
    storage.write_bytes(kept, storage.read_bytes(kept)[:-3])
    with pytest.raises(QprError, match="is damaged"):
        teacher_vectors(lesson, teacher, kept=kept)


@pytest.fixture
def kept(dataset, teacher, memory):
    """Return a lesson, a file of its vectors, and a function that replaces these and keeps the rest of the file."""
    lesson, url = lesson_of(dataset("train"), most=0), f"{memory}/kept.safetensors"
    vectors = teacher_vectors(lesson, teacher, kept=url)
    right = {"teacher": teacher.digest, "questions": lesson.digest}

    def replace(change, *, checksum=True, name="vectors"):
        changed = np.ascontiguousarray(change(vectors))
        digest = hashlib.sha256((changed if checksum else vectors).tobytes()).hexdigest()
        storage.write_bytes(url, safetensors.numpy.save({name: changed}, metadata=right | {"sha256": digest}))

    return lesson, url, replace


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda vectors: vectors[:4], r"its vectors are float32 \(4, \d+\), expected float32 \(6, "),
        (lambda vectors: np.concatenate([vectors, vectors]), r"float32 \(12, "),
        (lambda vectors: vectors[:, 0], r"float32 \(6,\), expected"),
        (lambda vectors: vectors[:, :0], r"float32 \(6, 0\), expected"),
        (lambda vectors: vectors.astype(np.float64), "its vectors are float64"),
        (lambda vectors: (vectors * 100).astype(np.int32), "its vectors are int32"),
        (lambda vectors: vectors * 0, "vectors of all questions are zero"),
        (lambda vectors: vectors * np.float32(1e30), "of question 1 of 6 is not finite, or too long to be squared"),
        (lambda vectors: vectors * np.float32(np.nan), "infinite or none"),
    ],
)
def test_a_file_with_the_right_metadata_and_unusable_vectors_is_refused(kept, teacher, change, message):
    lesson, url, replace = kept
    replace(change)
    with pytest.raises(QprError, match=rf"is damaged: .*{message}.*\. Remove it to encode with the teacher again"):
        teacher_vectors(lesson, teacher, kept=url)


def test_a_changed_bit_a_missing_checksum_and_a_tensor_of_another_name_are_refused(kept, teacher):
    lesson, url, replace = kept
    replace(lambda vectors: vectors)
    teacher_vectors(lesson, teacher, kept=url)
    content = bytearray(storage.read_bytes(url))
    content[-1] ^= 1
    storage.write_bytes(url, bytes(content))
    with pytest.raises(QprError, match=r"is damaged: its vectors have not the sha256 that it records\. Remove it"):
        teacher_vectors(lesson, teacher, kept=url)
    vectors = safetensors.numpy.load(bytes(content))
    metadata = {"teacher": teacher.digest, "questions": lesson.digest}
    storage.write_bytes(url, safetensors.numpy.save(vectors, metadata=metadata))
    with pytest.raises(QprError, match=r"is damaged: it records no sha256 of its vectors, .*\. Remove it"):
        teacher_vectors(lesson, teacher, kept=url)
    replace(lambda vectors: vectors, name="other")
    with pytest.raises(QprError, match=r"is damaged: it has no tensor 'vectors'\. Remove it"):
        teacher_vectors(lesson, teacher, kept=url)


@pytest.mark.parametrize(("factor", "message"), [(0, "are zero. Check"), (np.inf, "is not finite"), (1e30, "too long")])
def test_unusable_vectors_of_a_teacher_are_refused_and_not_kept(dataset, teacher, memory, factor, message):
    class Unusable(type(teacher)):
        def encode(self, texts, **options):
            return super().encode(texts, **options) * np.float32(factor)

    unusable = Unusable(**{field.name: getattr(teacher, field.name) for field in dataclasses.fields(teacher)})
    with pytest.raises(QprError, match=message), np.errstate(invalid="ignore"):
        teacher_vectors(lesson_of(dataset("train"), most=0), unusable, kept=f"{memory}/kept.safetensors")
    assert not storage.exists(f"{memory}/kept.safetensors")
