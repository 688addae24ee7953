"""Erasure from the artefacts of a warehouse, whatever versions name them.

warehouse, Erasure -> erase_artefacts -> counts of what was erased, by artefact; count_unowned -> number of questions
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterator, Set
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from jobs.nightly.erasure.suppressed import LISTS
from jobs.nightly.warehouse import DAILY, EVENTS
from jobs.workflows.erasure.datasets import erase_from_dataset
from jobs.workflows.erasure.days import erase_from_day, erase_from_splits
from jobs.workflows.erasure.faults import Faults, kept
from jobs.workflows.erasure.indexes import erase_from_index
from jobs.workflows.erasure.rewriting import remove_leftovers
from jobs.workflows.erasure.vocabularies import erase_from_model, erase_model_of_index, words_in_model
from jobs.workflows.index_changes.known_rows import ids_of_rows
from jobs.workflows.warehouses.versions import LOCK
from pipelines.ingestion.days import COUNTS, WAITING, DayFile, read_day_file
from pipelines.privacy.erase import Erasure, words_of
from pipelines.privacy.users import UserKey
from schemas.artifacts import storage
from schemas.artifacts.dataset import open_dataset
from schemas.artifacts.manifest import MANIFEST, read_manifest
from schemas.errors import QprError
from schemas.text_arrays import key_all
from schemas.versions.history import VERSIONS
from schemas.versions.leases import LEASES
from schemas.versions.sweep import FOLDERS, artefact_folders


def erase_artefacts(
    warehouse: str, erasure: Erasure, key: UserKey, faults: Faults, *, dry_run: bool
) -> Iterator[dict[str, Any]]:
    """Erase questions from all artefacts of a warehouse; yield the counts of each that has no fault.

    Indexes come first and daily tables last: an erasure that did not end is completed by the next one, which finds the
    words that only the erased questions had as long as the daily tables have the other questions.

    Args:
        warehouse: its URL; nobody else writes to it.
        erasure: the questions and users.
        key: of sealed rows.
        faults: gets the artefacts that are damaged or cannot be written.
        dry_run: count only.
    """
    for url, work in _works(warehouse, erasure, key, faults, dry_run=dry_run):
        with kept(url, faults):
            yield {"path": _path(warehouse, url)} | work()


def _works(
    warehouse: str, erasure: Erasure, key: UserKey, faults: Faults, *, dry_run: bool
) -> Iterator[tuple[str, Callable[[], dict[str, Any]]]]:
    """Yield each artefact, and the function that erases from it."""
    for folder in (*FOLDERS, DAILY):
        for url in _urls(warehouse, folder):
            yield url, functools.partial(_without_leftovers, url, dry_run=dry_run)
    words = _words_to_erase(warehouse, erasure, key, faults)
    for url in complete_artefacts(warehouse, "indexes"):
        yield url, functools.partial(_erase_from_index, url, erasure, words, dry_run=dry_run)
    for url in complete_artefacts(warehouse, "models"):
        yield url, functools.partial(erase_from_model, url, words, dry_run=dry_run)
    for url in complete_artefacts(warehouse, "datasets"):
        yield url, functools.partial(_erase_from_dataset, url, erasure, dry_run=dry_run)
    for url in complete_artefacts(warehouse, "splits"):
        yield url, functools.partial(erase_from_splits, url, erasure, dry_run=dry_run)
    for url in complete_artefacts(warehouse, DAILY):
        yield url, functools.partial(erase_from_day, url, erasure, key, dry_run=dry_run)


def _without_leftovers(url: str, *, dry_run: bool) -> dict[str, int]:
    return {"leftovers": remove_leftovers(url, dry_run=dry_run)}


def _erase_from_index(url: str, erasure: Erasure, words: Set[str], *, dry_run: bool) -> dict[str, int]:
    erased = erase_from_index(url, erasure, dry_run=dry_run)
    counts = {name: erased[name] for name in ("questions", "files_of_rejected", "counted_words")}
    return counts | erase_model_of_index(url, words, dry_run=dry_run)


def _erase_from_dataset(url: str, erasure: Erasure, *, dry_run: bool) -> dict[str, Any]:
    erased = erase_from_dataset(url, erasure, dry_run=dry_run)
    return {name: erased[name] for name in erased if name not in ("dataset", "rewritten")}


def count_unowned(warehouse: str, erasure: Erasure, key: UserKey, faults: Faults) -> int:
    """Return the number of questions of datasets and indexes that no daily table has, so that no drop shows who asked.

    Their days were replaced or removed. Rows of indexes that were deleted but not compacted count too.

    Args:
        warehouse: its URL.
        erasure: questions that are erased anyway.
        key: of sealed rows.
        faults: gets the artefacts that cannot be read.
    """
    unowned = np.array([], np.int64)
    for url in complete_artefacts(warehouse, "datasets"):
        with kept(url, faults):
            unowned = np.union1d(unowned, _ids_of(_dataset_rows(url)))
    for url in complete_artefacts(warehouse, "indexes"):
        with kept(url, faults):
            unowned = np.union1d(unowned, ids_of_rows(url).ids)
    unowned = np.setdiff1d(unowned, erasure.ids.to_numpy())
    for url in complete_artefacts(warehouse, DAILY):
        with kept(url, faults):
            unowned = np.setdiff1d(unowned, _ids_of(_day_rows(url, key)))
    return len(unowned)


def complete_artefacts(warehouse: str, folder: str) -> list[str]:
    """Return the URLs of the artefacts with a manifest in a folder of a warehouse, such as ``datasets``."""
    return [url for url in _urls(warehouse, folder) if storage.exists(storage.join(url, MANIFEST))]


def unknown_folders(warehouse: str) -> list[str]:
    """Return the names of folders of a warehouse that no erasure reads."""
    read_folders = {*FOLDERS, DAILY, EVENTS, VERSIONS, LISTS, LEASES, LOCK}
    return [name for name in storage.children(warehouse) if name not in read_folders and "." not in name]


def _words_to_erase(warehouse: str, erasure: Erasure, key: UserKey, faults: Faults) -> Set[str]:
    """Return the words of vocabularies that only erased questions have, in all questions of the warehouse.

    There is none while an artefact with questions cannot be read, since it could have other questions with these words.
    """
    asked = erasure.words
    models = [*complete_artefacts(warehouse, "models"), *complete_artefacts(warehouse, "indexes")]
    left = set[str]()
    for url in models:
        with kept(url, faults):
            left |= asked.intersection(words_in_model(url))
    for url, texts in _other_texts(warehouse, erasure, key):
        if not left:
            break
        try:
            for part in texts:
                left -= words_of(key_all(part))
        except QprError as error:
            faults[url] = str(error)
            return set()
    return left


def _other_texts(warehouse: str, erasure: Erasure, key: UserKey) -> Iterator[tuple[str, Iterator[pa.Array]]]:
    """Yield each artefact with questions, and the texts of those that stay, also of those that wait for more users."""
    for url in complete_artefacts(warehouse, DAILY):
        yield url, (_stay(rows, erasure) for rows in _day_rows(url, key))
    for url in complete_artefacts(warehouse, "datasets"):
        yield url, (_stay(rows, erasure) for rows in _dataset_rows(url))


def _day_rows(url: str, key: UserKey) -> Iterator[pa.Table]:
    manifest = read_manifest(url, "day")
    for file in (*manifest.of(COUNTS), *manifest.of(WAITING)):
        yield from (rows for _, rows in read_day_file(DayFile(url, file), key))


def _dataset_rows(url: str) -> Iterator[pa.Table]:
    yield from open_dataset(url).parts("questions", columns=["question_id", "text"])


def _ids_of(parts: Iterator[pa.Table]) -> np.ndarray:
    return np.concatenate([np.array([], np.int64), *(rows["question_id"].to_numpy() for rows in parts)])


def _stay(rows: pa.Table, erasure: Erasure) -> pa.Array:
    others = rows.filter(pc.invert(pc.is_in(rows["question_id"], value_set=erasure.ids)))
    return others["text"].combine_chunks().unique()


def _urls(warehouse: str, folder: str) -> list[str]:
    return [storage.join(warehouse, folder, name) for name in artefact_folders(warehouse, folder)]


def _path(warehouse: str, url: str) -> str:
    return url.removeprefix(warehouse.rstrip("/")).lstrip("/")
