"""FAISS shards: factory, training, building and opening.

sample -> train -> trained index -> build_shard(vectors) -> bytes -> open_shard
"""

from __future__ import annotations

import contextlib
import dataclasses
import math
import re
from collections.abc import Iterator
from typing import Any

import faiss
import numpy as np
import numpy.typing as npt

from model.index.shard_format import MOST_BITS, ShardLayout, layout_of
from schemas.errors import QprError, UsageError

Matrix = npt.NDArray[np.float32]

FLAT_BELOW = 10_000
"""Under this many questions exact search takes under 2 ms, so lists would only cost recall."""

LISTS_PER_ROOT = 2.73
"""Lists for each square root of the number of questions: 2,000 at Quora's 537,663, as in the paper (section 4.3)."""

POINTS_PER_LIST = 64
"""Questions in the training sample for each list."""

POINTS_OF_A_CODE = 64 * 256
"""Questions in the training sample of a product quantizer, whose codes have 256 values each."""

FEWEST_POINTS_PER_LIST = 39
"""Under this, k-means gives centroids that FAISS warns about."""

PROBES = 10
"""Lists searched for a query unless told otherwise, as in the paper."""

_ITERATIONS_SEED = 1234
FACTORY = r"Flat|IVF([1-9][0-9]*),(?:Flat|SQ[468]|SQfp16|SQbf16|PQ[1-9][0-9]*(?:x([1-9][0-9]?))?(?:np)?)"
"""The factory strings that shards are built by and `model.index.shard_format` reads."""

MOST_LISTS = 2**20
"""Under 64 of the questions each, more would take 67 million questions to train; FAISS allocates all lists at once."""

_NEVER_BLAS = 2**31 - 1
_BLAS_FROM = 20  # FAISS's own default


@dataclasses.dataclass(frozen=True)
class Shard:
    """An opened FAISS index whose vectors are views of ``content``, which therefore must live as long.

    Attributes:
        faiss: a flat or an inverted-file index; row i has id i.
        content: the bytes it was opened from.
        reader: FAISS's reader of them.
        layout: their structure.
    """

    faiss: Any
    content: bytes
    reader: Any
    layout: ShardLayout

    def __len__(self) -> int:
        return int(self.faiss.ntotal)

    @property
    def lists(self) -> int:
        """Return how many inverted lists there are, 0 for a flat index."""
        return int(getattr(self.faiss, "nlist", 0))


def default_factory(questions: int) -> str:
    """Return the FAISS factory for an index of this many questions.

    Under `FLAT_BELOW` it is exact. From there on it has ``2.73 * sqrt(questions)`` inverted lists, in whole hundreds,
    but never more than the questions can train.
    """
    if questions < FLAT_BELOW:
        return "Flat"
    lists = 100 * round(LISTS_PER_ROOT * math.sqrt(questions) / 100)
    return f"IVF{min(lists, questions // FEWEST_POINTS_PER_LIST)},Flat"


def checked_factory(factory: str) -> str:
    """Return a factory string that shards can be built by.

    Raises:
        ValueError: it is no `FACTORY`, or asks for more than `MOST_LISTS` or `MOST_BITS`.
    """
    match = re.fullmatch(FACTORY, factory)
    if not match:
        kinds = "Flat, SQ4, SQ6, SQ8, SQfp16, SQbf16 or PQm"
        raise ValueError(f"must be Flat or start with IVF and a number, then {kinds}, such as IVF2000,Flat")
    if len(match[1] or "") > len(str(MOST_LISTS)) or int(match[1] or 0) > MOST_LISTS:
        raise ValueError(f"asks for more than {MOST_LISTS:,} lists. Use fewer")
    if int(match[2] or 0) > MOST_BITS:
        raise ValueError(f"asks for codes of {match[2]} bits. Use at most {MOST_BITS}")
    return factory


def lists_of(factory: str) -> int:
    """Return how many inverted lists a factory string asks for, 0 for ``Flat``.

    Raises:
        UsageError: it is none that `checked_factory` returns.
    """
    try:
        match = re.fullmatch(FACTORY, checked_factory(factory))
    except ValueError as error:
        raise UsageError(f"--factory {factory[:60]}: {error}") from error
    return int(match[1] or 0) if match else 0


def new_index(factory: str, dimension: int) -> Any:
    """Return an empty, untrained index.

    Raises:
        UsageError: FAISS cannot build it at this dimension, or it is not of a kind that shards can be made of.
    """
    lists_of(factory)
    try:
        return faiss.index_factory(dimension, factory)
    except RuntimeError as error:
        cause = str(error).split(": ")[-1].strip()
        raise UsageError(
            f"--factory {factory[:60]}: FAISS cannot build it for {dimension} dimensions: {cause}"
        ) from error


def check_questions(factory: str, questions: int) -> None:
    """Check that so many questions suffice to train what all shards share.

    Raises:
        QprError: they are too few for the lists, or for the values of a code.
    """
    match = re.fullmatch(FACTORY, factory)
    values = 2 ** int(match[2] or 8) if match and "PQ" in factory else 0
    needed = max(FEWEST_POINTS_PER_LIST * lists_of(factory), values)
    if questions < needed:
        most = questions // FEWEST_POINTS_PER_LIST
        use = f"Flat or IVF{most},Flat" if most else "Flat"
        raise QprError(
            f"--factory {factory}: needs {needed:,} questions to train on, there are {questions:,}. Use {use}"
        )


def sample_size(factory: str) -> int:
    """Return how many questions the training of this factory wants to see."""
    return max(POINTS_PER_LIST * lists_of(factory), POINTS_OF_A_CODE if "PQ" in factory else 0)


def in_sample(question_ids: npt.NDArray[np.int64], *, wanted: int, questions: int) -> npt.NDArray[np.bool_]:
    """Tell of each id whether it is in the training sample, about ``wanted`` of all ``questions``.

    An id is a hash, so the ids below a bound (as unsigned numbers) are a uniform sample, and the same one however the
    questions are spread over shards.
    """
    if wanted >= questions:
        return np.ones(len(question_ids), bool)
    bound = np.uint64(wanted * 2**64 // questions)
    return question_ids.view(np.uint64) < bound


def train(factory: str, sample: Matrix) -> bytes:
    """Return an empty index trained on ``sample``, serialised: the centroids that all shards share.

    Args:
        factory: a string that `new_index` accepts.
        sample: (questions, dimension) vectors in a fixed order; the result depends on nothing else.

    Raises:
        QprError: there are too few vectors for the lists or codes.
    """
    check_questions(factory, len(sample))
    index = new_index(factory, sample.shape[1])
    with _matrix_products():
        if lists_of(factory):
            index.cp.seed = _ITERATIONS_SEED
            if hasattr(index, "pq"):
                index.pq.cp.min_points_per_centroid = 1  # else it warns on stderr, once for each of its parts
            index.train(np.ascontiguousarray(sample))
    return bytes(faiss.serialize_index(index).tobytes())


def build_shard(trained: bytes, vectors: Matrix) -> bytes:
    """Return the index that holds ``vectors`` as rows 0, 1, …, serialised.

    Args:
        trained: what `train` returned.
        vectors: (questions, dimension), in the order of their ids so that equal distances rank alike everywhere.
    """
    measure_each_pair()
    index = faiss.deserialize_index(np.frombuffer(trained, np.uint8))
    index.add(np.ascontiguousarray(vectors))
    return bytes(faiss.serialize_index(index).tobytes())


def open_shard(content: bytes) -> Shard:
    """Open a shard from bytes; FAISS itself notices no damage.

    Nothing is copied: 640 MB open in 10 ms instead of 2.5 s.

    Raises:
        ValueError: they are no shard that `build_shard` may have made.
    """
    measure_each_pair()
    layout = layout_of(content)
    reader = faiss.ZeroCopyIOReader(faiss.swig_ptr(np.frombuffer(content, np.uint8)), len(content))  # type: ignore[attr-defined]  # not in FAISS's stubs
    return Shard(faiss.read_index(reader, faiss.IO_FLAG_MMAP_IFC), content, reader, layout)


def measure_each_pair() -> None:
    """Make FAISS compute every distance from its two vectors alone, in this process, from now on.

    From 20 queries on it would multiply matrices instead, which rounds differently, so that a question's distances and
    even its list would depend on what it was asked or added together with.
    """
    faiss.cvar.distance_compute_blas_threshold = _NEVER_BLAS


@contextlib.contextmanager
def _matrix_products() -> Iterator[None]:
    """Let k-means multiply matrices, 3 times faster; the sample is always whole.

    In one thread: on some processors a product rounds by how it is divided between threads, so that centroids would
    depend on the number of cores. IVF2000 of 128,000 questions takes 11.5 s instead of 6.1 on two cores.
    """
    from threadpoolctl import threadpool_limits  # searches do without it

    faiss.cvar.distance_compute_blas_threshold = _BLAS_FROM
    try:
        with threadpool_limits(1, user_api="blas"):
            yield
    finally:
        measure_each_pair()
