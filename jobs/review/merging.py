"""Verdicts that were judged elsewhere: those of another review database, or of an exported file.

database, or .csv, .tsv, .jsonl or .parquet -> read_judged -> Judged -> merge -> VerdictStore
"""

from __future__ import annotations

import contextlib
import datetime
import json
import uuid
from collections.abc import Iterator, Mapping
from typing import Final, NamedTuple

import pyarrow as pa

from jobs.display.safe_text import cell_text
from jobs.review.checks import check_verdict, note_text
from jobs.review.database.connection import Verdict, is_database
from jobs.review.exchange import full_verdict
from jobs.review.people import person_key, person_name, reviewer_name
from jobs.review.queues.interface import ITEM_COLUMNS, UNCLEAR, WRONG, Item, Place, Queue
from jobs.review.store import VerdictStore
from jobs.workflows.verdicts.reviewed_clusters import verdict_of_row
from pipelines.calibration.verdicts.verdict_file import add_verdict
from pipelines.reading.headers.columns import Column
from pipelines.reading.reader import numbered_rows
from pipelines.reading.sources import only_file
from schemas.errors import QprError

_COLUMNS: Final = tuple(
    Column(name, pa.string(), required=name == "verdict")
    for name in (
        "dataset", "verdict", "judged", "pair_id", "cluster_id", "review_id", "reviewer", "labeller", "judged_at",
        "strays", "note", "verdict_id",
    )
)  # fmt: skip


class Judged(NamedTuple):
    """Verdicts that were judged elsewhere.

    Attributes:
        file: that has them.
        verdicts: in its order.
        items: the judged items by name.
        undone: times at which some of the verdicts were undone, by their names.
        rows: number of the row of each verdict of an exported file, by its name; none of a database.
    """

    file: str
    verdicts: list[Verdict]
    items: Mapping[str, Item | Place]
    undone: Mapping[str, str]
    rows: Mapping[str, int]


def merge(store: VerdictStore, judged: Judged) -> int:
    """Add verdicts and return the number of new ones; the same ones add nothing a second time.

    Raises:
        QprError: a verdict has the name of another one in the store, or the store cannot be written.
    """
    named = store.all_verdicts() if judged.rows else {}
    for verdict in judged.verdicts:
        with _row_named(judged.file, judged.rows.get(verdict.verdict_id, 0)):
            _check_name(verdict, named)
    return store.merge(judged.verdicts, judged.items, judged.undone)


def read_judged(queue: Queue, file: str, *, reviewer: str | None = None) -> Judged:
    """Return the verdicts of a file.

    Args:
        queue: of the same items.
        file: another review database, one of `export_verdicts`, or one with ``verdict`` and ``pair_id`` or
            ``cluster_id``.
        reviewer: the person who judged where the file names none; None: the user of this machine.

    Raises:
        UsageError: several files are given.
        QprError: the file cannot be read or is of another queue, or a row fits no item or
            verdict, or rows of one person contradict each other.
    """
    if is_database(file):
        return _of_database(queue, file)
    named, rows, items = dict[str, Verdict](), dict[str, int](), dict[str, Item | Place]()
    judged: dict[str, tuple[str, int]] = {}
    spelled: dict[str, str] = {}
    source = only_file(file, option="--merge")
    read = cell_text if source.format in ("csv", "tsv") else str
    for number, row in numbered_rows(source, _COLUMNS):
        texts = {name: read(value or "") for name, value in row.items()}
        texts = {name: text if name == "note" else text.strip() for name, text in texts.items()}
        if not texts["verdict"]:
            continue
        with _row_named(file, number):
            _check_dataset(texts["dataset"], queue)
            verdict = _verdict(texts, queue, reviewer)
            items[verdict.item] = check_verdict(queue, verdict, more=[WRONG])
            _check_name(verdict, named)
        spelled.setdefault(person_key(verdict.reviewer), verdict.reviewer)
        given = " ".join([verdict.verdict, *verdict.strays])
        add_verdict(file, judged, f"{verdict.item} by {spelled[person_key(verdict.reviewer)]}", given, number)
        named.setdefault(verdict.verdict_id, verdict)
        rows.setdefault(verdict.verdict_id, number)
    return Judged(file, list(named.values()), items, {}, rows)


def _of_database(queue: Queue, path: str) -> Judged:
    with VerdictStore(path) as other:
        if other.source != queue.source:
            raise QprError(f"{path}: has verdicts on another queue than the one to add to. Merge those of one queue")
        return Judged(path, list(other.all_verdicts().values()), other.places(), other.undone(), {})


@contextlib.contextmanager
def _row_named(file: str, number: int) -> Iterator[None]:
    """Raise an error inside the block as one of a row of a file."""
    try:
        yield
    except QprError as error:
        raise QprError(f"{file}: row {number}: {error}") from error


def _verdict(texts: Mapping[str, str], queue: Queue, reviewer: str | None) -> Verdict:
    """Return the verdict of a row.

    Raises:
        QprError: it names no item of the queue, its time is none, or its columns contradict each other.
    """
    item, given = texts["review_id"] or texts["pair_id"] or texts["cluster_id"], verdict_of_row(texts)
    if not item:
        raise QprError(f"{ITEM_COLUMNS[queue.source.kind]} is empty or missing. Fill it in, as --export writes it")
    if item not in queue.places:
        raise QprError(f"{item[:60]!a} is no item of this queue. Write its name as `qpr review --export` does")
    verdict = UNCLEAR if given == "unclear" else given
    strays = tuple(sorted(set(texts["strays"].split())))
    named = texts["reviewer"] or texts["labeller"]
    try:
        person = person_name(named) if named else reviewer_name(reviewer)
    except ValueError as error:
        raise QprError(f"labeller {named[:40]!a}: {error}") from error
    judged_at = _time(texts["judged_at"])
    name = uuid.uuid5(uuid.NAMESPACE_OID, json.dumps([queue.source.digest, item, person, verdict, judged_at]))
    return Verdict(texts["verdict_id"] or name.hex, item, person, verdict, strays, note_text(texts["note"]), judged_at)


def _check_dataset(digest: str, queue: Queue) -> None:
    """Refuse a verdict on another dataset, whose clusters may have other wordings under the same ids.

    Raises:
        QprError: a digest is given and is another one.
    """
    if digest and queue.source.kind != "requests" and digest != queue.source.digest:
        given = f"another dataset, with digest {digest[:16]!a}, not {queue.source.digest[:16]!a}"
        raise QprError(
            f"was judged in {given}. Give that one, or empty the column dataset if the wordings are the same"
        )


def _time(text: str) -> str:
    """Return a time in the form of `database.connection.now`, whose order is that of time; an empty text stays.

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
    stored = named.get(verdict.verdict_id, verdict)
    if _judgement(stored) != _judgement(verdict):
        fault = f"verdict_id {verdict.verdict_id[:40]!a} is that of another verdict"
        raise QprError(f"{fault}. Empty this cell and judged_at of the row to add a further verdict")


def _judgement(verdict: Verdict) -> tuple[str, str, str]:
    return verdict.item, person_key(verdict.reviewer), full_verdict(verdict)
