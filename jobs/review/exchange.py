"""Verdicts as files that other commands read, and back.

VerdictStore, Queue -> export_verdicts -> .csv or .jsonl for `qpr calibrate` and `qpr certify`
.csv or .jsonl -> import_verdicts -> VerdictStore
"""

from __future__ import annotations

import json
import uuid
from collections.abc import Mapping, Sequence
from typing import Any, Final

import pyarrow as pa

from jobs.review.database import now
from jobs.review.opinions import Outcome, is_shared, opinions, outcome
from jobs.review.queues.interface import RIGHT, STRAY, UNCLEAR, VERDICTS, WRONG, Queue
from jobs.review.queues.pairs import PairQueue
from jobs.review.queues.requests import RequestQueue
from jobs.review.store import Verdict, VerdictStore
from jobs.review.tally import counted_items
from jobs.workflows.verdicts.pair_sample import file_content
from pipelines.reading.headers.columns import Column
from pipelines.reading.reader import numbered_rows
from pipelines.reading.sources import only_file
from schemas.artifacts import conditional_writes
from schemas.errors import QprError, UsageError

_WRITTEN: Final = {RIGHT: "right", UNCLEAR: "unclear"}
"""Verdicts of `qpr calibrate`; all others are "wrong"."""

_COLUMNS: Final = tuple(
    Column(name, pa.string(), required=name == "verdict")
    for name in ("verdict", "judged", "pair_id", "cluster_id", "review_id", "labeller", "judged_at", "strays", "note")
)


def export_verdicts(store: VerdictStore, queue: Queue, file: str, *, overwrite: bool) -> dict[str, Any]:
    """Write the outcomes of all judged items and return their numbers.

    Pairs and requests are written in full, those without a counted verdict with an empty one.

    Args:
        store: of the verdicts.
        queue: of the same items.
        file: .csv or .jsonl; requests: .jsonl.
        overwrite: replace an existing file.

    Raises:
        UsageError: the name of the file has another ending.
        QprError: the file exists or cannot be written.
    """
    endings = (".jsonl",) if isinstance(queue, RequestQueue) else (".csv", ".jsonl")
    if not file.endswith(endings):
        raise UsageError(f"--export {file}: must end in {' or '.join(endings)}")
    conditional_writes.refuse_existing(file, overwrite=overwrite)
    verdicts = store.verdicts()
    grouped, seed = opinions(verdicts), queue.source.seed
    found = {item: outcome(people, shared=is_shared(item, seed)) for item, people in grouped.items()}
    labellers = {item: ", ".join(people) for item, people in grouped.items()}
    counted = set(counted_items(grouped, store.places()))
    if isinstance(queue, PairQueue):
        rows = [_pair_row(row, row["pair_id"] in counted, found, labellers) for row in queue.rows]
    elif isinstance(queue, RequestQueue):
        rows = [_request_row(row, name, found, labellers) for name, row in zip(queue.names, queue.rows, strict=True)]
    else:
        rows = _cluster_rows(verdicts, found, queue)
    conditional_writes.write_result(file, file_content(rows, file), overwrite=overwrite)
    waiting = sum(one.waits for one in found.values())
    return {"output": file, "judged": len(found), "counted": len(counted), "waiting": waiting}


def import_verdicts(store: VerdictStore, queue: Queue, file: str, *, reviewer: str) -> int:
    """Add the verdicts of a file and return the number of new ones; the same file adds nothing a second time.

    Args:
        store: to add to.
        queue: of the same items.
        file: of `export_verdicts`, or one with ``verdict`` and ``pair_id`` or ``cluster_id``.
        reviewer: the person who judged where the file names none.

    Raises:
        UsageError: several files are given.
        QprError: the file cannot be read, or a row fits no item or verdict.
    """
    verdicts = list[Verdict]()
    for number, row in numbered_rows(only_file(file, option="--merge"), _COLUMNS):
        texts = {name: (value or "").strip() for name, value in row.items()}
        if texts["verdict"]:
            verdicts.append(_verdict(f"{file}: row {number:,}", texts, queue, reviewer))
    items = {}
    for verdict in verdicts:
        place = queue.place(verdict.item)
        assert place is not None
        items[verdict.item] = queue.item(place)
    return store.add(verdicts, items)


def _verdict(row: str, texts: Mapping[str, str], queue: Queue, reviewer: str) -> Verdict:
    """Return the verdict of a row.

    Raises:
        QprError: it fits no item or verdict of the queue.
    """
    item = texts["review_id"] or texts["pair_id"] or texts["cluster_id"]
    if queue.place(item) is None:
        raise QprError(f"{row}: {item[:60]!a} is no item of this queue. Give the file's own dataset and seed")
    given = (texts["judged"] or texts["verdict"]).lower()
    verdict = UNCLEAR if given == "unclear" else given
    if verdict not in {*VERDICTS[queue.source.kind].values(), WRONG}:
        raise QprError(f"{row}: verdict {given[:40]!a} is unknown. Write right, wrong or unclear")
    strays = tuple(texts["strays"].split()) if verdict == STRAY else ()
    person, judged_at = texts["labeller"] or reviewer, texts["judged_at"]
    name = uuid.uuid5(uuid.NAMESPACE_OID, json.dumps([queue.source.digest, item, person, verdict, judged_at]))
    return Verdict(name.hex, item, person, verdict, strays, texts["note"], judged_at or now())


def _pair_row(
    row: Mapping[str, Any], counted: bool, found: Mapping[str, Outcome], labellers: Mapping[str, str]
) -> dict[str, Any]:
    name = row["pair_id"]
    verdict = _WRITTEN.get(found[name].verdict, WRONG) if counted else ""
    return {**row, "verdict": verdict, "labeller": labellers[name] if counted else ""}


def _request_row(
    row: Mapping[str, Any], name: str | None, found: Mapping[str, Outcome], labellers: Mapping[str, str]
) -> dict[str, Any]:
    if name is None:
        return dict(row)
    verdict = found[name].verdict if name in found else None
    return {**row, "review_id": name, "verdict": verdict, "labeller": labellers.get(name)}


def _cluster_rows(verdicts: Sequence[Verdict], found: Mapping[str, Outcome], queue: Queue) -> list[dict[str, Any]]:
    last: dict[str, Verdict] = {}
    for verdict in verdicts:
        if verdict.verdict == found[verdict.item].verdict:
            last[verdict.item] = verdict
    return [
        {
            "verdict": _WRITTEN.get(found[item].verdict, WRONG),
            "judged": found[item].verdict,
            "dataset": queue.source.digest,
            "seed": queue.source.seed,
            "cluster_id": item,
            "strays": " ".join(verdict.strays),
            "labeller": verdict.reviewer,
            "judged_at": verdict.judged_at,
            "note": verdict.note,
        }
        for item, verdict in last.items()
    ]
