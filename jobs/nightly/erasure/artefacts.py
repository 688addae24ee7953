"""Erasure from the artefacts of a warehouse, whatever versions name them.

warehouse, Erasure -> erase_artefacts -> counts of what was erased, by artefact
"""

from __future__ import annotations

from collections.abc import Iterator, Set
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from jobs.nightly.erasure.suppressed import LISTS
from jobs.nightly.warehouse import DAILY, EVENTS
from jobs.workflows.erasure.datasets import erase_from_dataset
from jobs.workflows.erasure.days import erase_from_day, erase_from_splits
from jobs.workflows.erasure.indexes import erase_from_index
from jobs.workflows.erasure.rewriting import remove_leftovers
from jobs.workflows.erasure.vocabularies import erase_from_model, erase_model_of_index, words_in_model
from jobs.workflows.warehouses.versions import LOCK
from pipelines.ingestion.days import COUNTS, WAITING, DayFile, read_day_file
from pipelines.privacy.erase import Erasure
from pipelines.privacy.users import UserKey
from schemas.artifacts import storage
from schemas.artifacts.dataset import open_dataset
from schemas.artifacts.manifest import MANIFEST, read_manifest
from schemas.text_arrays import key_all, words_all
from schemas.versions.history import VERSIONS
from schemas.versions.leases import LEASES
from schemas.versions.sweep import FOLDERS, artefact_folders
from schemas.words import VERSION


def erase_artefacts(warehouse: str, erasure: Erasure, key: UserKey, *, dry_run: bool) -> Iterator[dict[str, Any]]:
    """Erase questions from all artefacts of a warehouse; yield the counts of each.

    Indexes come first and daily tables last: a killed erasure is completed by the next one, which finds the words that
    only the erased questions had as long as the daily tables have the other questions.

    Args:
        warehouse: its URL; nobody else writes to it.
        erasure: the questions and users.
        key: of sealed rows.
        dry_run: count only.

    Raises:
        QprError: an artefact is damaged or cannot be written.
    """
    for folder in (*FOLDERS, DAILY):
        for url in _urls(warehouse, folder):
            if left := remove_leftovers(url, dry_run=dry_run):
                yield {"path": _path(warehouse, url), "leftovers": left}
    words = _words_to_erase(warehouse, erasure, key)
    for url in complete_artefacts(warehouse, "indexes"):
        found = erase_from_index(url, erasure, dry_run=dry_run)
        counts = {name: found[name] for name in ("questions", "files_of_rejected")}
        yield {"path": _path(warehouse, url)} | counts | erase_model_of_index(url, words, dry_run=dry_run)
    for url in complete_artefacts(warehouse, "models"):
        yield {"path": _path(warehouse, url)} | erase_from_model(url, words, dry_run=dry_run)
    for url in complete_artefacts(warehouse, "datasets"):
        found = erase_from_dataset(url, erasure, dry_run=dry_run)
        yield {"path": _path(warehouse, url)} | {n: found[n] for n in found if n not in ("dataset", "rewritten")}
    for url in complete_artefacts(warehouse, "splits"):
        yield {"path": _path(warehouse, url)} | erase_from_splits(url, erasure, dry_run=dry_run)
    for url in complete_artefacts(warehouse, DAILY):
        yield {"path": _path(warehouse, url)} | erase_from_day(url, erasure, key, dry_run=dry_run)


def complete_artefacts(warehouse: str, folder: str) -> list[str]:
    """Return the URLs of the artefacts with a manifest in a folder of a warehouse, such as ``datasets``."""
    return [url for url in _urls(warehouse, folder) if storage.exists(storage.join(url, MANIFEST))]


def unknown_folders(warehouse: str) -> list[str]:
    """Return the names of folders of a warehouse that no erasure reads."""
    known = {*FOLDERS, DAILY, EVENTS, VERSIONS, LISTS, LEASES, LOCK}
    return [name for name in storage.children(warehouse) if name not in known and "." not in name]


def _words_to_erase(warehouse: str, erasure: Erasure, key: UserKey) -> Set[str]:
    """Return the words of vocabularies that only erased questions have, in all questions of the warehouse."""
    keys = pa.array(sorted(erasure.keys), pa.string())
    asked = {word for version in range(1, VERSION + 1) for word in _words(keys, version)}
    models = [*complete_artefacts(warehouse, "models"), *complete_artefacts(warehouse, "indexes")]
    left = asked & {word for url in models for word in words_in_model(url)}
    for texts in _other_texts(warehouse, erasure, key):
        if not left:
            break
        left = left.difference(*(_words(key_all(texts), version) for version in range(1, VERSION + 1)))
    return left


def _other_texts(warehouse: str, erasure: Erasure, key: UserKey) -> Iterator[pa.Array]:
    """Yield the texts of all questions that stay, also of those that wait for more users."""
    for url in complete_artefacts(warehouse, DAILY):
        manifest = read_manifest(url, "day")
        for file in (*manifest.of(COUNTS), *manifest.of(WAITING)):
            for _, rows in read_day_file(DayFile(url, file), key):
                yield _stay(rows, erasure)
    for url in complete_artefacts(warehouse, "datasets"):
        for rows in open_dataset(url).parts("questions", columns=["question_id", "text"]):
            yield _stay(rows, erasure)


def _stay(rows: pa.Table, erasure: Erasure) -> pa.Array:
    others = rows.filter(pc.invert(pc.is_in(rows["question_id"], value_set=erasure.ids)))
    return others["text"].combine_chunks().unique()


def _words(keys: pa.Array, version: int) -> list[str]:
    words: list[str] = pc.list_flatten(words_all(keys, version=version)).unique().to_pylist()
    return words


def _urls(warehouse: str, folder: str) -> list[str]:
    return [storage.join(warehouse, folder, name) for name in artefact_folders(warehouse, folder)]


def _path(warehouse: str, url: str) -> str:
    return url.removeprefix(warehouse.rstrip("/")).lstrip("/")
