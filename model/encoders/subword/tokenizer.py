"""Words as pieces of a pretrained vocabulary.

words -> Pieces.of -> TokenIds: the pieces of each word
"""

from __future__ import annotations

import dataclasses
import functools
import os
from typing import Any

import numpy as np
import pyarrow as pa

from model.text.vocabulary import TokenIds
from schemas.errors import QprError, how_to_install
from schemas.ragged import offsets_of
from schemas.words import LONGEST_REMEMBERED

_MOST_CACHED = 2**18
"""Words whose pieces are cached, 60 MB: few words of a chunk are new, and cutting one takes 11 µs."""


@dataclasses.dataclass(frozen=True)
class Pieces:
    """A tokenizer as the `tokenizers` package reads it.

    Attributes:
        content: its JSON.
    """

    content: bytes

    def __len__(self) -> int:
        return int(self._tokenizer.get_vocab_size(with_added_tokens=True))

    def largest_id(self) -> int:
        """Return the largest number of a piece, -1 if there is none."""
        return max(self._tokenizer.get_vocab(with_added_tokens=True).values(), default=-1)

    def of(self, words: pa.Array) -> TokenIds:
        """Return the pieces of every word, each taken as if it stood alone; no mark of a beginning or an end."""
        listed, cached = words.to_pylist(), self._cached
        missing = [word for word in listed if word not in cached]
        encodings = self._tokenizer.encode_batch_fast(missing, add_special_tokens=False)
        fresh = dict(zip(missing, (encoding.ids for encoding in encodings), strict=True))
        runs = [fresh[word] if word in fresh else cached[word] for word in listed]
        if len(cached) + len(fresh) <= _MOST_CACHED:
            cached.update({word: ids for word, ids in fresh.items() if len(word) <= LONGEST_REMEMBERED})
        ids = np.array([piece for run in runs for piece in run], np.int32)
        return TokenIds(ids, offsets_of(np.array([*map(len, runs)], np.int64)))

    def checked(self) -> Pieces:
        """Return it after it was read.

        Raises:
            QprError: the package is missing, or it cannot read this.
        """
        _ = self._tokenizer
        return self

    @functools.cached_property
    def _cached(self) -> dict[str, list[int]]:
        return {}

    @functools.cached_property
    def _tokenizer(self) -> Any:
        os.environ.setdefault("TOKENIZERS_PARALLELISM", "false")  # one core, and no warning of threads before a fork
        try:
            from tokenizers import Tokenizer
        except ImportError as error:
            needs = f"pretrained tokens need the package tokenizers ({error})"
            raise QprError(f"{needs}. {how_to_install('static')}") from error
        try:
            return Tokenizer.from_buffer(self.content)
        except BaseException as error:
            if not isinstance(error, Exception) and type(error).__name__ != "PanicException":  # Rust's own
                raise
            raise QprError(f"not a tokenizer: {str(error)[:200]}") from error

    def __getstate__(self) -> dict[str, Any]:
        """Return the state to pickle: the JSON alone."""
        return {"content": self.content}
