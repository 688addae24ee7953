"""The BM25 weights of an index as files of its manifest.

id tables of a run -> write_lexical -> a file for each array; manifest -> open_lexical -> Lexical
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import PurePosixPath

import pyarrow as pa

from model.index.consistency import AGAIN, IdTable
from model.index.index import Index
from model.index.lexical import LAYOUT, Lexical, lexical_arrays
from schemas.artifacts import storage
from schemas.artifacts.manifest import File, Manifest, read_verified
from schemas.artifacts.writer import Output
from schemas.errors import QprError
from schemas.tables import IDS, LEXICAL


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


def open_lexical(manifest: Manifest, index: Index) -> Lexical | None:
    """Return the BM25 weights of an index, None if it was built without them.

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
    if len(lexical.ids) != len(index) or (index.rows_of(lexical.ids) < 0).any():
        raise QprError(f"{index.url}: BM25 is of other questions than the index. {AGAIN}")
    index.stored.remember()
    return lexical


def check_lexical(manifest: Manifest, index: Index) -> None:
    """Check the files of BM25 without opening them, so that damage is noticed before they are used.

    Raises:
        QprError: one is missing or damaged.
    """
    for file in manifest.of(LEXICAL):
        index.stored.read(file)
    index.stored.remember()
