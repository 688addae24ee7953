"""Vectors of a teacher for the questions of a dataset, computed once and kept in a file.

dataset -> lesson_of -> Lesson: ids, texts; Lesson, teacher, file -> teacher_vectors -> (questions, E) float32
"""

from __future__ import annotations

import dataclasses
import hashlib
import json
from collections.abc import Callable

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import safetensors.numpy

from model.encoders.interface import Encoder
from model.encoders.tensors import read_tensors
from schemas.arrays import Int64s, Matrix
from schemas.artifacts import conditional_writes, storage
from schemas.artifacts.dataset import Dataset
from schemas.errors import QprError
from schemas.quantities import counted

_PART = 2_048
"""Questions that a teacher encodes between two progress reports."""

_CHECKSUM = "sha256"
"""Name of the checksum in a file's metadata."""


@dataclasses.dataclass(frozen=True)
class Lesson:
    """Questions of a distillation: their ids, ascending, and texts."""

    ids: Int64s
    texts: pa.Array

    def __len__(self) -> int:
        return len(self.ids)

    @property
    def digest(self) -> str:
        """Return the sha256 of the texts in order; ids are equal for wordings that a teacher can encode otherwise."""
        digest = hashlib.sha256()
        for text in self.texts.to_pylist():
            content = text.encode()
            digest.update(len(content).to_bytes(8, "little") + content)
        return digest.hexdigest()


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


def teacher_vectors(
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
        QprError: the file is damaged, or holds vectors of another teacher or of other questions; or the teacher's
            vectors are unusable, then no file is written.
    """
    about = {"teacher": teacher.digest, "questions": lesson.digest}
    shape = len(lesson), teacher.dimension
    if kept and storage.exists(kept):
        return _read(kept, about, shape)
    vectors = np.empty(shape, np.float32)
    for start in range(0, len(lesson), _PART):
        vectors[start : start + _PART] = teacher.encode(lesson.texts.slice(start, _PART))
        on_part(min(start + _PART, len(lesson)))
    check_vectors(vectors)
    if kept:
        metadata = about | {_CHECKSUM: _checksum(vectors)}
        try:
            conditional_writes.create(kept, safetensors.numpy.save({"vectors": vectors}, metadata=metadata))
        except conditional_writes.ConflictError:  # another run encoded at the same time
            return _read(kept, about, shape)
    return vectors


def check_vectors(vectors: Matrix) -> None:
    """Check that vectors of a teacher have directions to learn.

    Args:
        vectors: (questions, E).

    Raises:
        QprError: one is not finite or so long that its squared length overflows, or all are zero.
    """
    with np.errstate(over="ignore", invalid="ignore"):
        squares = np.einsum("qe,qe->q", vectors, vectors)
    if not (finite := np.isfinite(squares)).all():
        row = f"question {int(finite.argmin()) + 1} of {len(vectors)}"
        raise QprError(f"the teacher's vector of {row} is not finite, or too long to be squared. Check the teacher")
    if not vectors.any():
        raise QprError("the teacher's vectors of all questions are zero. Check the teacher")


def _read(url: str, about: dict[str, str], shape: tuple[int, int]) -> Matrix:
    """Return the vectors of a file after all checks.

    Args:
        url: of the file.
        about: metadata that the file must have.
        shape: (questions, E) of its vectors.

    Raises:
        QprError: the file is damaged, or holds vectors of another teacher or of other questions.
    """
    content = storage.read_bytes(url)
    try:
        vectors: Matrix = read_tensors(content)["vectors"]
    except KeyError as error:
        raise _damaged(url, "it has no tensor 'vectors'") from error
    except ValueError as error:
        raise _damaged(url, str(error)) from error
    metadata = _metadata(content)
    different = [name for name in about if metadata.get(name) != about[name]]
    if different:
        other = {"teacher": "of another teacher", "questions": "of other questions, or of other wordings"}[different[0]]
        raise QprError(f"{url}: keeps vectors {other}. Give another --vectors, or remove it")
    if vectors.dtype != np.float32 or vectors.shape != shape:
        raise _damaged(url, f"its vectors are {vectors.dtype} {vectors.shape}, expected float32 {shape}")
    if _CHECKSUM not in metadata:
        raise _damaged(url, f"it records no {_CHECKSUM} of its vectors, as files of earlier releases")
    if metadata[_CHECKSUM] != _checksum(vectors):
        raise _damaged(url, f"its vectors have not the {_CHECKSUM} that it records")
    try:
        check_vectors(vectors)
    except QprError as error:
        raise _damaged(url, str(error).partition(". ")[0]) from error
    return vectors


def _damaged(url: str, reason: str) -> QprError:
    return QprError(f"{url}: is damaged: {reason}. Remove it to encode with the teacher again")


def _checksum(vectors: Matrix) -> str:
    """Return the sha256 of the numbers as the file stores them."""
    return hashlib.sha256(np.ascontiguousarray(vectors, "<f4").data.cast("B")).hexdigest()


def _metadata(content: bytes) -> dict[str, str]:
    """Return the metadata of a safetensors file: its header is JSON, after 8 bytes of its length."""
    header = json.loads(content[8 : 8 + int.from_bytes(content[:8], "little")])
    return dict(header.get("__metadata__") or {})
