"""Verdicts that were judged elsewhere: those of another review database, or of an exported file.

database, or .csv, .tsv, .jsonl or .parquet -> merge_file -> VerdictStore
"""

from __future__ import annotations

import datetime
import json
import uuid
from collections.abc import Mapping
from typing import Final

import pyarrow as pa

from jobs.review.database import is_database
from jobs.review.queues.interface import STRAY, UNCLEAR, VERDICTS, WRONG, Queue
from jobs.review.store import Place, Verdict, VerdictStore
from jobs.review.terminal import reviewer_name
from pipelines.reading.headers.columns import Column
from pipelines.reading.reader import numbered_rows
from pipelines.reading.sources import only_file
from schemas.errors import QprError

_COLUMNS: Final = tuple(
    Column(name, pa.string(), required=name == "verdict")
    for name in (
        "verdict", "judged", "pair_id", "cluster_id", "review_id", "reviewer", "labeller", "judged_at", "strays",
        "note", "verdict_id",
    )
)  # fmt: skip


def merge_file(store: VerdictStore, queue: Queue, file: str, *, reviewer: str | None = None) -> int:
    """Add the verdicts of a file and return the number of new ones; the same file adds nothing a second time.

    Args:
        store: to add to.
        queue: of the same items.
        file: another review database, one of `export_verdicts`, or one with ``verdict`` and ``pair_id`` or
            ``cluster_id``.
        reviewer: the person who judged where the file names none; None: the user of this machine.

    Raises:
        UsageError: several files are given.
        QprError: the file cannot be read or is of another queue, or a row fits no item or verdict.
    """
    if is_database(file):
        return _merge_database(store, file)
    named, verdicts = store.all_verdicts(), list[Verdict]()
    for number, row in numbered_rows(only_file(file, option="--merge"), _COLUMNS):
        texts = {name: (value or "") if name == "note" else (value or "").strip() for name, value in row.items()}
        if texts["verdict"]:
            try:
                verdict = _verdict(texts, queue, reviewer)
                _check_name(verdict, named)
            except QprError as error:
                raise QprError(f"{file}: row {number:,}: {error}") from error
            verdicts.append(named.setdefault(verdict.verdict_id, verdict))
    places = {verdict.item: _place(queue, verdict.item) for verdict in verdicts}
    return store.merge(verdicts, places, {})


def _merge_database(store: VerdictStore, path: str) -> int:
    with VerdictStore(path) as other:
        if other.source != store.source:
            raise QprError(f"{path}: has verdicts on another queue than {store.path}. Merge those of one queue")
        return store.merge(list(other.all_verdicts().values()), other.places(), other.undone())


def _verdict(texts: Mapping[str, str], queue: Queue, reviewer: str | None) -> Verdict:
    """Return the verdict of a row.

    Raises:
        QprError: it fits no item or verdict of the queue, or its time is none.
    """
    item = texts["review_id"] or texts["pair_id"] or texts["cluster_id"]
    if queue.place(item) is None:
        raise QprError(f"{item[:60]!a} is no item of this queue. Give the file's own dataset and seed")
    given = (texts["judged"] or texts["verdict"]).lower()
    verdict = UNCLEAR if given == "unclear" else given
    if verdict not in {*VERDICTS[queue.source.kind].values(), WRONG}:
        raise QprError(f"verdict {given[:40]!a} is unknown. Write right, wrong or unclear")
    strays = tuple(sorted(set(texts["strays"].split()))) if verdict == STRAY else ()
    person = texts["reviewer"] or texts["labeller"] or reviewer_name(reviewer)
    judged_at = _time(texts["judged_at"])
    name = uuid.uuid5(uuid.NAMESPACE_OID, json.dumps([queue.source.digest, item, person, verdict, judged_at]))
    return Verdict(texts["verdict_id"] or name.hex, item, person, verdict, strays, texts["note"], judged_at)


def _time(text: str) -> str:
    """Return a time in the form of `jobs.review.database.now`, whose order is that of time; an empty text stays.

    Raises:
        QprError: it is no time.
    """
    if not text:
        return ""
    try:
        time = datetime.datetime.fromisoformat(text)
        utc = time.replace(tzinfo=datetime.UTC) if time.tzinfo is None else time.astimezone(datetime.UTC)
    except (ValueError, OverflowError) as error:
        fault = f"judged_at {text[:40]!a} is no time such as 2026-11-30T09:30:00+00:00"
        raise QprError(f"{fault}. Correct it, or leave it empty") from error
    return utc.isoformat(timespec="microseconds")


def _check_name(verdict: Verdict, named: Mapping[str, Verdict]) -> None:
    """Refuse another verdict under the name of one that is there, which would be lost.

    Raises:
        QprError: item, person or verdict differ.
    """
    known = named.get(verdict.verdict_id, verdict)
    if (known.item, known.reviewer, known.verdict) != (verdict.item, verdict.reviewer, verdict.verdict):
        fault = f"verdict_id {verdict.verdict_id[:40]!a} is that of another verdict"
        raise QprError(f"{fault}. Empty this cell and judged_at of the row to add a further verdict")


def _place(queue: Queue, name: str) -> Place:
    place = queue.place(name)
    assert place is not None
    item = queue.item(place)
    return Place(place, item.size, item.strata)
