"""Words that a confidence model has counted, without those that no question of its index has any more.

index, ids of the questions that leave -> reduced_confidence -> confidence.json after the change
"""

from __future__ import annotations

from collections.abc import Set
from typing import NamedTuple

import pyarrow as pa
import pyarrow.compute as pc

from jobs.workflows.index_changes.publication import Base
from model.confidence.saved_confidence import FILE, read_confidence, to_json, without_words
from pipelines.privacy.erase import words_of
from schemas.arrays import Int64s
from schemas.artifacts.manifest import File, read_verified
from schemas.artifacts.writer import Output
from schemas.tables import CONFIDENCE
from schemas.text_arrays import key_all


class Reduced(NamedTuple):
    """The file of a confidence model after words were removed, and their number."""

    content: bytes
    words: int


def reduced_confidence(base: Base, leaving: Int64s, asked: Set[str] | None = None) -> Reduced | None:
    """Return the confidence model of an index without the words that no question has; None if it stays or is missing.

    Args:
        base: the index.
        leaving: ids of questions that count as gone, as deleted ones do.
        asked: words to look at; None: all that it counted.

    Raises:
        QprError: the file is damaged.
    """
    for file in base.manifest.of(CONFIDENCE):
        source = f"{base.index.url}/{file.path}"
        confidence = read_confidence(read_verified(base.index.url, file), source=source)
        listed = set(confidence.counts.words)
        gone = listed if asked is None else listed & asked
        if gone := _without_those_in_use(gone, base, leaving):
            return Reduced(to_json(without_words(confidence, gone)), len(gone))
    return None


def with_reduced(target: Output, files: list[File], reduced: Reduced | None) -> list[File]:
    """Return the files of an index, with the changed confidence model written in place of the one before."""
    if reduced is None:
        return files
    others = [file for file in files if file.table != CONFIDENCE]
    return [*others, target.write(FILE, reduced.content, table=CONFIDENCE)]


def _without_those_in_use(words: set[str], base: Base, leaving: Int64s) -> set[str]:
    left = set(words)
    for questions in base.index.tables() if left else ():
        stay = pc.invert(pc.is_in(questions["question_id"], value_set=pa.array(leaving, pa.int64())))
        left -= words_of(key_all(questions["text"].filter(stay)))
        if not left:
            break
    return left
