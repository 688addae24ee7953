"""Interface of every trained encoder: texts in, vectors out.

texts -> keys, a chunk at a time -> Encoder.encode_keys -> float32 matrix
"""

from __future__ import annotations

import abc
import dataclasses
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from model.encoders.kernels.dispatch import load_compiled
from schemas.errors import UsageError
from schemas.text import key
from schemas.text_arrays import key_all

Matrix = npt.NDArray[np.float32]
Weights = dict[str, npt.NDArray[Any]]

CHUNK = 32_768
"""Questions whose distinct words are looked up together."""

FEW = 64
"""Maximum number of questions encoded without Arrow, whose calls take 1 ms together for one question or a hundred."""


@dataclasses.dataclass(frozen=True, repr=False)
class Encoder(abc.ABC):
    """A trained question encoder; pickles, so that it can travel to workers.

    Subclasses are dataclasses with ``repr=False``: their fields are vocabularies and weights.

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

    def word_sums(self, words: pa.Array) -> Matrix | None:  # noqa: ARG002
        """Return the summand of each word in a question's vector before normalization; None if it is no such sum."""
        return None

    def halved(self) -> Encoder:
        """Return the encoder with its look-up tables at half precision: half the memory, vectors equal to 1e-3.

        Raises:
            UsageError: it has no such tables.
        """
        raise UsageError("--half-tables: only an encoder of kind cnn has such tables. Leave it out")

    def encode(self, texts: pa.Array | pa.ChunkedArray | Sequence[str], *, threads: int = 1) -> Matrix:
        """Return one vector a question text as it was asked, (len(texts), dimension) float32.

        A question's vector does not depend on the others, nor on the threads. A null is an empty text.

        Args:
            texts: the questions.
            threads: number of chunks encoded at a time.

        Raises:
            UsageError: ``texts`` is a single text, whose characters would be encoded.
        """
        refuse_single_text(texts)
        if len(texts) <= self.few:
            given = texts.to_pylist() if isinstance(texts, pa.Array | pa.ChunkedArray) else texts
            return self.encode_few([key(text or "") for text in given])
        array = pa.array(texts, pa.string()) if not isinstance(texts, pa.Array | pa.ChunkedArray) else texts
        whole = array.combine_chunks() if isinstance(array, pa.ChunkedArray) else array
        load_compiled(len(whole))
        vectors = np.empty((len(whole), self.dimension), np.float32)

        def encode_chunk(start: int) -> None:
            vectors[start : start + CHUNK] = self.encode_keys(key_all(whole.slice(start, CHUNK)))

        starts = range(0, len(whole), CHUNK)
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


def refuse_single_text(texts: object) -> None:
    """Refuse one text in place of several.

    Raises:
        UsageError: ``texts`` is a str or bytes.
    """
    if isinstance(texts, str | bytes):
        kind = type(texts).__name__
        raise UsageError(f"encode takes a list of questions, got {kind}. Write encode([question]) for one")
