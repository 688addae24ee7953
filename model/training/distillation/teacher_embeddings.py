"""Vectors of a teacher for the questions of a dataset, computed once and kept in a file.

dataset -> lesson_of -> Lesson: ids, texts; Lesson, teacher, file -> taught_vectors -> (questions, E) float32
"""

from __future__ import annotations

import dataclasses
import hashlib
import json
from collections.abc import Callable

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc
import safetensors.numpy

from model.encoders.interface import Encoder, Matrix
from model.encoders.tensors import read_tensors
from schemas.artifacts import conditional_writes, storage
from schemas.artifacts.dataset import Dataset
from schemas.errors import QprError
from schemas.quantities import counted

_PART = 2_048
"""Questions that a teacher encodes between two progress reports."""


@dataclasses.dataclass(frozen=True)
class Lesson:
    """Questions of a distillation: their ids, ascending, and texts."""

    ids: npt.NDArray[np.int64]
    texts: pa.Array

    def __len__(self) -> int:
        return len(self.ids)

    @property
    def digest(self) -> str:
        """Return the sha256 of the ids, which are digests of the questions' keys."""
        return hashlib.sha256(self.ids.astype("<i8").tobytes()).hexdigest()


def lesson_of(dataset: Dataset, *, most: int) -> Lesson:
    """Return questions that are in no cluster or in one of the train split, those with the smallest ids.

    Ids are digests, so the smallest are a sample that depends on nothing else. Questions of validation and test are
    left out, although only their wording would be used.

    Args:
        dataset: holds them.
        most: maximum number; 0 for all.

    Raises:
        QprError: there are too few.
    """
    table = dataset.table("questions", columns=["question_id", "text", "split"])
    free = pc.fill_null(pc.equal(table["split"], "train"), True)
    table = table.filter(free).sort_by("question_id")
    table = table.slice(0, most or len(table)).combine_chunks()
    if len(table) < 3:
        raise QprError(f"{dataset.url}: {counted(len(table), 'question')} to teach with. Give a larger dataset")
    texts = table["text"].combine_chunks() if isinstance(table["text"], pa.ChunkedArray) else table["text"]
    return Lesson(table["question_id"].to_numpy(), texts)


def taught_vectors(
    lesson: Lesson,
    teacher: Encoder,
    *,
    kept: str | None,
    on_part: Callable[[int], None] = lambda _: None,
) -> Matrix:
    """Return the teacher's vectors of all questions, from the file that keeps them if it exists.

    Args:
        lesson: the questions.
        teacher: encodes them.
        kept: URL of the file; it is written if it does not exist. None for no file.
        on_part: called with the number of encoded questions.

    Raises:
        QprError: the file is damaged, or holds vectors of another teacher or of other questions.
    """
    about = {"teacher": teacher.digest, "questions": lesson.digest}
    if kept and storage.exists(kept):
        return _read(kept, about)
    vectors = np.empty((len(lesson), teacher.dimension), np.float32)
    for start in range(0, len(lesson), _PART):
        vectors[start : start + _PART] = teacher.encode(lesson.texts.slice(start, _PART))
        on_part(min(start + _PART, len(lesson)))
    if kept:
        try:
            conditional_writes.create(kept, safetensors.numpy.save({"vectors": vectors}, metadata=about))
        except conditional_writes.ConflictError:  # another run encoded at the same time
            return _read(kept, about)
    return vectors


def _read(url: str, about: dict[str, str]) -> Matrix:
    content = storage.read_bytes(url)
    try:
        vectors: Matrix = read_tensors(content)["vectors"]
    except (ValueError, KeyError) as error:
        raise QprError(f"{url}: is damaged: {error}. Remove it to encode with the teacher again") from error
    found = _metadata(content)
    different = [name for name in about if found.get(name) != about[name]]
    if different:
        other = {"teacher": "of another teacher", "questions": "of other questions"}[different[0]]
        raise QprError(f"{url}: keeps vectors {other}. Give another --vectors, or remove it")
    return vectors


def _metadata(content: bytes) -> dict[str, str]:
    """Return the metadata of a safetensors file: its header is JSON, after 8 bytes of its length."""
    header = json.loads(content[8 : 8 + int.from_bytes(content[:8], "little")])
    return dict(header.get("__metadata__", {}))
