"""The token ids of all train questions, in a file mapped into memory where they are many.

question keys -> token_ids -> TokenIds, equal to those of `model.text.vocabulary` for all questions at once
"""

from __future__ import annotations

import contextlib
import tempfile
from collections.abc import Iterable, Iterator
from typing import IO

import numpy as np
import pyarrow as pa

from model.text.vocabulary import TokenIds, Vocabulary, slices
from schemas.arrays import Int32s
from schemas.errors import QprError
from schemas.ragged import offsets_of

MAPPED_BYTES = 64 * 2**20
"""More ids than that go to a file; Quora's train questions have 6 MB of them."""


def token_ids(vocabulary: Vocabulary, keys: pa.Array) -> TokenIds:
    """Return `Vocabulary.ids` of the keys.

    Raises:
        QprError: the ids do not fit in the folder of temporary files.
    """
    return collected(vocabulary.ids(part) for part in slices(keys))


def collected(parts: Iterable[TokenIds]) -> TokenIds:
    """Return the questions of all parts in one.

    The file has no name once it is open, so none is left behind, however the process ends. It is mapped privately: what
    would be written to the ids would change this process's copy of a page and not the file.

    Args:
        parts: one at a time is in memory once their ids take more than `MAPPED_BYTES`.

    Raises:
        QprError: the folder of temporary files is full, or cannot be written to.
    """
    held, lengths, size = [np.zeros(0, np.int32)], [np.zeros(0, np.int64)], 0
    file: IO[bytes] | None = None
    with contextlib.ExitStack() as opened:
        for part in parts:
            held.append(part.ids)
            lengths.append(part.lengths)
            size += part.ids.nbytes
            if size > MAPPED_BYTES:
                with _explained(size):
                    file = file or opened.enter_context(tempfile.TemporaryFile(prefix="qpr-", buffering=0))
                    _write(file, held)
                held = []
        ids = np.concatenate(held) if file is None else np.asarray(np.memmap(file, np.int32, mode="c"))
    return TokenIds(ids, offsets_of(np.concatenate(lengths)))


def _write(file: IO[bytes], parts: Iterable[Int32s]) -> None:
    for ids in parts:
        left = memoryview(ids.tobytes())
        while left:
            left = left[file.write(left) :]  # a file without a buffer may write a part


@contextlib.contextmanager
def _explained(size: int) -> Iterator[None]:
    """Name the folder that is too small in the error, and the variable that names another."""
    folder = "the folder of temporary files"
    try:
        folder = tempfile.gettempdir()
        yield
    except OSError as error:
        taken = f"the ids of the questions' words, {size / 1e6:,.0f} MB so far, do not fit: {error.strerror}"
        raise QprError(f"{folder}: {taken}. Name a folder with more room in TMPDIR") from error
