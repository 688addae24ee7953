"""The BM25 weights of an index as files of its manifest.

id tables of a run -> write_lexical -> lexical_arrays -> a file for each array; manifest -> open_lexical -> Lexical

Numpy makes the arrays of 536,489 questions in 5 s and 0.3 GB, bm25s in 67 s and 0.9 GB. They depend on the questions
alone and not on the shards.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable, Sequence
from pathlib import PurePosixPath
from typing import Any, Final

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from model.index.consistency import AGAIN, IdTable
from model.index.index import Index
from model.index.lexical import LAYOUT, Lexical
from schemas.artifacts import storage
from schemas.artifacts.manifest import File, Manifest, read_verified
from schemas.artifacts.writer import Output
from schemas.errors import QprError
from schemas.stems import stem
from schemas.tables import IDS, LEXICAL
from schemas.text_arrays import hash64_all, key_all, words_all

K1: Final = 1.5
B: Final = 0.75
"""Saturation of repeated terms and share of the length, as in bm25s and Robertson and Zaragoza (2009)."""


def write_lexical(target: Output, files: Sequence[File]) -> list[File]:
    """Write the BM25 weights of the questions in the id tables among a run's files; return the new files.

    Raises:
        QprError: a file cannot be read or written.
    """
    tables = [file for file in files if file.table == IDS]
    contents = ((file, read_verified(target.url, file)) for file in tables)
    read = (IdTable(storage.join(target.url, file.path), content, file.rows).read() for file, content in contents)
    return write_weights(target, read)


def write_weights(target: Output, tables: Iterable[pa.Table]) -> list[File]:
    """Write the BM25 weights of the questions in some tables; return the new files."""
    arrays = lexical_arrays(tables)
    return [
        target.write(f"{LEXICAL}/{name}.bin", array.tobytes(), table=LEXICAL, rows=len(array))
        for name, array in arrays.items()
    ]


def lexical_arrays(tables: Iterable[pa.Table]) -> dict[str, npt.NDArray[Any]]:
    """Return the arrays of `LAYOUT` for tables of question_id and text; the order of the rows does not matter.

    A weight is ``idf * tf / (tf + K1 * (1 - B + B * length / mean length))`` with ``idf = log(1 + (N - n + 0.5) /
    (n + 0.5))``, which is bm25s's "lucene".

    Raises:
        ValueError: there is no question.
    """
    parts = [_counted(table) for table in tables if len(table)]
    if not parts:
        raise ValueError("there is no question")
    ids, lengths, question, term, times = (np.concatenate(column) for column in zip(*parts, strict=True))
    order = np.argsort(ids, kind="stable")
    number_of = np.empty(len(ids), np.int32)
    number_of[order] = np.arange(len(ids), dtype=np.int32)
    starts_of_parts = np.cumsum([0, *(len(part[0]) for part in parts[:-1])])
    question = number_of[question + np.repeat(starts_of_parts, [len(part[2]) for part in parts])]
    terms, column = np.unique(term, return_inverse=True)
    sorting = np.lexsort((question, column))
    question, column, times = question[sorting], column[sorting], times[sorting]
    counts = np.bincount(column, minlength=len(terms))
    idf = np.log(1 + (len(ids) - counts + 0.5) / (counts + 0.5))  # above 0 for a term of all questions too
    relative = lengths[order] / lengths.mean()
    weights = (idf[column] * times / (times + K1 * (1 - B + B * relative[question]))).astype(np.float32)
    starts = np.concatenate([[0], np.cumsum(counts)])
    arrays = (ids[order], terms, starts, np.maximum.reduceat(weights, starts[:-1]), question, weights)
    return {name: np.asarray(array, kind) for (name, kind), array in zip(LAYOUT.items(), arrays, strict=True)}


def _counted(table: pa.Table) -> tuple[npt.NDArray[Any], ...]:
    """Return ids, lengths in words, and for each distinct term of a question: row, hash of the term, times."""
    listed = words_all(key_all(table["text"].combine_chunks()))
    lengths = np.asarray(pc.list_value_length(listed).to_numpy(), np.int64)
    flat = pc.list_flatten(listed).dictionary_encode()
    stems = pa.array(map(stem, flat.dictionary.to_pylist()), pa.string()).dictionary_encode()
    hashes = np.asarray(hash64_all(stems.dictionary).to_numpy(), np.int64)
    rows = np.repeat(np.arange(len(table)), lengths)
    terms = stems.indices.to_numpy()[flat.indices.to_numpy()]
    pairs, times = np.unique(rows * max(len(hashes), 1) + terms, return_counts=True)
    row, term = np.divmod(pairs, max(len(hashes), 1))
    return np.asarray(table["question_id"].to_numpy(), np.int64), lengths, row, hashes[term], times


def open_lexical(manifest: Manifest, index: Index, *, compiled: bool = False) -> Lexical | None:
    """Return the BM25 weights of an index, None if it was built without them.

    Args:
        manifest: of the index.
        index: opened.
        compiled: rank as machine code (`model.index.words.loops`).

    Raises:
        QprError: a file is missing or damaged, or they are of other questions than the index.
    """
    files = {PurePosixPath(file.path).stem: file for file in manifest.of(LEXICAL)}
    if not files:
        return None
    try:
        lexical = Lexical.of({name: index.stored.read(files[name]) for name in LAYOUT if name in files})
    except ValueError as error:
        raise QprError(f"{index.url}: BM25: {error}. {AGAIN}") from error
    rows = index.rows_of(lexical.ids)
    if len(lexical.ids) != len(index) or (rows < 0).any():
        raise QprError(f"{index.url}: BM25 is of other questions than the index. {AGAIN}")
    index.stored.remember()
    lexical = dataclasses.replace(lexical, rows=rows.astype(np.int32))
    return lexical.compiled() if compiled else lexical


def check_lexical(manifest: Manifest, index: Index) -> None:
    """Check the files of BM25 without opening them, so that damage is noticed before they are used.

    Raises:
        QprError: one is missing or damaged.
    """
    for file in manifest.of(LEXICAL):
        index.stored.read(file)
    index.stored.remember()
