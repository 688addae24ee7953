"""Erasure from an index: one segment is built of the other rows, and all older files are removed.

index URL, Erasure -> erase_from_index -> counts of what was erased
"""

from __future__ import annotations

from typing import Any

import numpy as np

from jobs.workflows.erasure.rewriting import after_erasure, remove_leftovers, rewriting
from jobs.workflows.index_changes.compacting import compact, live_without
from jobs.workflows.index_changes.counted_words import Reduced, reduced_confidence, with_reduced
from jobs.workflows.index_changes.publication import Base
from model.index.factory import check_questions, default_factory
from model.index.rows.cells import AT_A_TIME
from pipelines.engine.runner import parse_options
from pipelines.graphs.settings import IndexConfig
from pipelines.privacy.erase import Erasure
from schemas.artifacts.manifest import Manifest, read_manifest
from schemas.artifacts.writer import Output
from schemas.errors import QprError
from schemas.text_arrays import hash64_all, key_all


def erase_from_index(url: str, erasure: Erasure, *, dry_run: bool) -> dict[str, Any]:
    """Erase questions from an index; return how many rows had them.

    Rows that were deleted but not compacted have their texts still, so they count too. Rejected rows of the index are
    not compared: as with every change of an index, its next version has none. The words of its confidence model can be
    those of questions that an earlier index had, so they are compared even if no row has a question. Files of killed
    runs are removed, also if nothing else is found.

    Args:
        url: folder of the index.
        erasure: the questions.
        dry_run: count only.

    Raises:
        QprError: there is no complete index, a run writes to it, no question would be left, it cannot be
            written, or an old file cannot be removed.
    """
    manifest = read_manifest(url, "index")  # before a folder is made for the lock
    leftovers = remove_leftovers(url, dry_run=True)
    questions = erasure.ids.to_numpy()
    if dry_run:
        base = Base.of(url)
        ids = _row_ids(base, questions)
        reduced = reduced_confidence(base, ids, erasure.words)
        return _result(url, _rows(base, ids), len(manifest.of("rejected")), reduced, leftovers, rewritten=False)
    with rewriting(url, "index") as target:
        base = Base.of(url)
        ids = _row_ids(base, questions)
        rows, rejected = _rows(base, ids), len(base.manifest.of("rejected"))
        reduced = reduced_confidence(base, ids, erasure.words)
        if rows or rejected:
            compact(target, base, settings=_settings(base, ids), options=parse_options([]), erased=ids)
        elif reduced:
            _exchange_confidence(target, base.manifest, reduced)
    return _result(url, rows, rejected, reduced, leftovers, rewritten=bool(rows or rejected or reduced))


def _exchange_confidence(target: Output, manifest: Manifest, reduced: Reduced) -> None:
    """Publish an index with a changed confidence model and all other files as they are."""
    target.publish(with_reduced(target, manifest.files, reduced), **after_erasure(manifest))


def _row_ids(base: Base, questions: np.ndarray) -> np.ndarray:
    """Return the ids of the rows of questions, deleted ones too, whatever the values of the columns to vary by."""
    if not base.settings.vary_by:
        return questions
    ids, rows = [questions[:0]], sum(map(len, base.index.shards))
    for start in range(0, rows, AT_A_TIME):
        table = base.index.questions(np.arange(start, min(start + AT_A_TIME, rows)))
        of_rows = hash64_all(key_all(table["text"].combine_chunks())).to_numpy()
        ids.append(table["question_id"].to_numpy()[np.isin(of_rows, questions)])
    return np.concatenate(ids)


def _settings(base: Base, erased: np.ndarray) -> IndexConfig:
    """Return no settings, so that those of the index stay, or the factory by size if too few questions are left."""
    live = live_without(base, erased)
    try:
        check_questions(base.settings.factory, live)
    except QprError:
        return IndexConfig(factory=default_factory(live, base.settings.dimension))
    return IndexConfig()


def _rows(base: Base, ids: np.ndarray) -> int:
    return sum(int(np.isin(of_shard, ids).sum()) for of_shard in base.index.question_ids)


def _result(
    url: str, rows: int, rejected: int, reduced: Reduced | None, leftovers: int, *, rewritten: bool
) -> dict[str, Any]:
    counts = {"questions": rows, "files_of_rejected": rejected, "counted_words": reduced.words if reduced else 0}
    counts |= {"leftovers": leftovers} if leftovers else {}
    return {"index": url, "rewritten": rewritten} | counts
