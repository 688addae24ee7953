"""The codes of a segment's vectors as a file of the index's manifest.

shards and ids of a run -> write_codes -> a file of codes, or none
"""

from __future__ import annotations

from collections.abc import Sequence

from model.index.codes import build_codes, like_codes
from model.index.consistency import IdTable
from model.index.factory import is_graph
from model.index.linking.vectors import Counted
from model.index.segments.layout import FLAT_SEGMENT_BELOW, folder_of, in_order, segment_of
from model.index.shards import open_shard
from schemas.artifacts import storage
from schemas.artifacts.manifest import File, Manifest, read_verified
from schemas.artifacts.verified_files.files import VerifiedFiles
from schemas.artifacts.writer import Output
from schemas.tables import CODES, IDS, SHARDS


def write_codes(
    target: Output,
    files: Sequence[File],
    factory: str,
    *,
    base: tuple[str, Manifest] | None,
    coded: Counted | None,
) -> list[File]:
    """Write the codes of the vectors of a run's shards; return their file.

    There is none if the run adds a segment of few questions, or of none.

    Args:
        target: the index.
        files: of the run, all of one segment.
        factory: of the index, of codes that are refined.
        base: URL and manifest of the index to which the run adds a segment; None: the run builds an index.
        coded: function that takes the number of vectors that have been coded.

    Raises:
        QprError: a file cannot be read or written, or there are too few questions for the factory.
        UsageError: FAISS cannot build the factory.
    """
    shard_files, tables = ([file for file in in_order(files) if file.table == table] for table in (SHARDS, IDS))
    questions = sum(file.rows for file in shard_files)
    if not questions or (base is not None and questions < FLAT_SEGMENT_BELOW):
        return []
    stored = VerifiedFiles(target.url)
    shards = [open_shard(stored.read(file)) for file in shard_files]
    if base is None:
        ids = [IdTable(storage.join(target.url, file.path), stored.read(file), file.rows) for file in tables]
        content = build_codes(factory, shards, [table.question_ids() for table in ids], coded)
    else:
        url, manifest = base
        content = like_codes(factory, read_verified(url, in_order(manifest.of(CODES))[0]), shards, coded)
    folder = folder_of(segment_of(shard_files[0].path))
    name = "graph" if is_graph(factory) else "lists"
    path = f"{folder}/{CODES}/{name}.faiss".removeprefix("/")
    return [target.write(path, content, table=CODES, rows=questions)]
