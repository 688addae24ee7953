"""Interface of every trained encoder: texts in, vectors out.

texts -> keys, a chunk at a time -> Encoder.encode_keys -> float32 matrix
"""

from __future__ import annotations

import abc
import dataclasses
from collections.abc import Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from model.encoders.kernels.dispatch import load_compiled
from model.text.asked import checked_number, checked_texts
from schemas.arrays import Matrix
from schemas.errors import UsageError
from schemas.text import key
from schemas.text_arrays import key_all

Weights = dict[str, npt.NDArray[Any]]

CHUNK = 32_768
"""Questions whose distinct words are looked up together."""

FEW = 64
"""Maximum number of questions encoded without Arrow, whose calls take 1 ms together for one question or a hundred."""


@dataclasses.dataclass(frozen=True, repr=False, eq=False)
class Encoder(abc.ABC):
    """A trained question encoder; pickles, so that it can travel to workers.

    Subclasses are dataclasses with ``repr=False`` and ``eq=False``: their fields are vocabularies and weights.

    Attributes:
        digest: the digest of the model it was loaded from.
    """

    digest: str

    @property
    @abc.abstractmethod
    def dimension(self) -> int:
        """Return the length of a question's vector."""

    @abc.abstractmethod
    def encode_keys(self, keys: pa.Array) -> Matrix:
        """Return one vector a question key."""

    @property
    def few(self) -> int:
        """Return the maximum number of questions that `encode_few` encodes in less time than `encode_keys`."""
        return FEW

    def encode_few(self, keys: Sequence[str]) -> Matrix:
        """Return the same as `encode_keys`, of at most `few` keys."""
        return self.encode_keys(pa.array(keys, pa.string()))

    def word_sums(self, words: pa.Array) -> Matrix | None:  # noqa: ARG002  # for subclasses
        """Return the summand of each word in a question's vector before normalization; None if it is no such sum."""
        return None

    def halved(self) -> Encoder:
        """Return the encoder with its look-up tables at half precision: half the memory, vectors equal to 1e-3.

        Raises:
            UsageError: it has no such tables.
        """
        raise UsageError("--half-tables: only an encoder of kind cnn has such tables. Leave it out")

    def encode(self, texts: pa.Array | pa.ChunkedArray | Iterable[str], *, threads: int = 1) -> Matrix:
        """Return one vector a question text as it was asked, (len(texts), dimension) float32.

        A question's vector does not depend on the others, nor on the threads.

        Args:
            texts: the questions: an iterable of str, or a column of Arrow, NumPy, pandas or polars.
            threads: number of chunks encoded at a time.

        Raises:
            UsageError: ``texts`` is a single text, whose characters would be encoded, or contains something else than
                text, such as a null; or threads is no whole number or under 1.
        """
        given, threads = texts_to_encode(texts), threads_to_use(threads)
        if len(given) <= self.few:
            return self.encode_few([key(text) for text in (given if isinstance(given, list) else given.to_pylist())])
        column = pa.array(given, pa.string()) if isinstance(given, list) else given
        load_compiled(len(column))
        vectors = np.empty((len(column), self.dimension), np.float32)

        def encode_chunk(start: int) -> None:
            part = column.slice(start, CHUNK).cast(pa.string())  # of a dictionary, or of strings with long offsets
            vectors[start : start + CHUNK] = self.encode_keys(key_all(part))

        starts = range(0, len(column), CHUNK)
        if threads == 1 or len(starts) < 2:
            for start in starts:
                encode_chunk(start)
        else:
            with ThreadPoolExecutor(threads) as pool:
                list(pool.map(encode_chunk, starts))
        return vectors

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.digest[:12]!r}, dimension={self.dimension})"

    def __getstate__(self) -> dict[str, Any]:
        """Return the fields to pickle, without values computed from them on demand."""
        return {field.name: getattr(self, field.name) for field in dataclasses.fields(self)}


def texts_to_encode(texts: object) -> pa.Array | pa.ChunkedArray | list[str]:
    """Return the argument of `Encoder.encode`, checked as by `model.text.asked.checked_texts`."""
    return checked_texts(texts, "encode", "encode([question])")


def threads_to_use(threads: object) -> int:
    """Return a number of threads.

    Raises:
        UsageError: it is no whole number, or under 1.
    """
    if (number := checked_number(threads, "threads")) < 1:
        raise UsageError(f"threads must be at least 1, got {number}")
    return number
