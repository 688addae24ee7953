"""Encoder of published token embeddings as they are, without any training.

static:<package or folder> -> open_published -> PublishedEncoder -> encode(texts) -> float32 matrix
"""

from __future__ import annotations

import dataclasses

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from model.encoders.interface import Encoder
from model.encoders.subword.inference import summed
from model.encoders.subword.pretrained_tokens import read_static
from model.encoders.subword.tokenizer import Pieces
from model.text.vocabulary import TokenIds
from schemas.arrays import Matrix
from schemas.ragged import offsets_of

PREFIX = "static:"
"""Begins the address of such embeddings where another model's URL could stand."""


@dataclasses.dataclass(frozen=True, repr=False, eq=False)
class PublishedEncoder(Encoder):
    """Sums of the embeddings of a question's tokens, brought to length 1.

    Attributes:
        rows: (tokens, dimension), as published.
        pieces: tokenizer that numbers the rows.
    """

    rows: npt.NDArray[np.floating]
    pieces: Pieces

    @property
    def dimension(self) -> int:
        """Return the length of a question's vector."""
        return int(self.rows.shape[1])

    def encode_keys(self, keys: pa.Array) -> Matrix:
        """Return one vector a question key; zeros for a key without a token."""
        listed = pc.utf8_split_whitespace(keys)
        words = pc.list_flatten(listed).dictionary_encode()
        of_word = summed(self.pieces.of(words.dictionary), self.rows)
        ends = offsets_of(pc.list_value_length(listed).to_numpy(zero_copy_only=False))
        vectors = summed(TokenIds(words.indices.to_numpy().astype(np.int32), ends), of_word)
        lengths = np.sqrt(np.einsum("nd,nd->n", vectors, vectors))
        vectors /= np.where(lengths > 0, lengths, 1)[:, None]
        return vectors


def open_published(url: str) -> PublishedEncoder:
    """Return the encoder at ``static:<package or folder>``.

    Raises:
        QprError: there are no such embeddings, or the package that reads their tokenizer is missing.
    """
    published = read_static(url.removeprefix(PREFIX))
    return PublishedEncoder(published.digest, published.rows, published.pieces)
