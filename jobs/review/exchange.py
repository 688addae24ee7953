"""Verdicts as files that other commands read; `jobs.review.merging` reads them back.

VerdictStore, Queue -> export_verdicts -> .csv or .jsonl for `qpr calibrate` and `qpr certify`
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from jobs.review.database.connection import Verdict
from jobs.review.opinions import is_shared, opinions, outcome
from jobs.review.queues.interface import RIGHT, STRAY, UNCLEAR, WRONG, Queue
from jobs.review.queues.pairs import PairQueue
from jobs.review.queues.requests import RequestQueue
from jobs.review.store import VerdictStore
from jobs.review.tally import counted_items
from jobs.workflows.verdicts.pair_sample import file_content
from schemas.artifacts import conditional_writes
from schemas.errors import UsageError

_WRITTEN: Final = {RIGHT: "right", UNCLEAR: "unclear"}
"""Verdicts of `qpr calibrate` and `qpr certify`; all others are "wrong"."""


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
    conditional_writes.refuse_existing(file, overwrite=overwrite, option="--export")
    verdicts = store.verdicts()
    grouped, seed = opinions(verdicts), queue.source.seed
    outcomes = {item: outcome(people, shared=is_shared(item, seed)) for item, people in grouped.items()}
    last = {verdict.item: verdict for verdict in verdicts if verdict.verdict == outcomes[verdict.item].verdict}
    labellers = {item: ", ".join(people) for item, people in grouped.items()}
    counted = set(counted_items(grouped, store.places()))
    if isinstance(queue, PairQueue):
        judged = {item: verdict for item, verdict in last.items() if item in counted}
        rows = [_pair_row(row, judged.get(row["pair_id"]), labellers) for row in queue.rows]
    elif isinstance(queue, RequestQueue):
        named = zip(queue.names, queue.rows, strict=True)
        rows = [_request_row(row, name, last.get(name or ""), labellers) for name, row in named]
    else:
        rows = [_cluster_row(verdict, labellers, queue) for verdict in last.values()]
    conditional_writes.write_result(file, file_content(rows, file), overwrite=overwrite, option="--export")
    waiting = sum(result.waits for result in outcomes.values())
    return {"output": file, "judged": len(outcomes), "counted": len(counted), "waiting": waiting}


def full_verdict(verdict: Verdict) -> str:
    """Return the verdict of the column ``judged``.

    Where all marked strays were erased, nothing is known to be wrong with the others, and nobody judged them alone.
    """
    return UNCLEAR if verdict.verdict == STRAY and not verdict.strays else verdict.verdict


def _pair_row(row: Mapping[str, Any], verdict: Verdict | None, labellers: Mapping[str, str]) -> dict[str, Any]:
    written = "" if verdict is None else _WRITTEN.get(verdict.verdict, WRONG)
    return {**row, "verdict": written, "labeller": labellers.get(row["pair_id"], "") if verdict else "", **_of(verdict)}


def _request_row(
    row: Mapping[str, Any], name: str | None, verdict: Verdict | None, labellers: Mapping[str, str]
) -> dict[str, Any]:
    if name is None:
        return dict(row)
    written = {"review_id": name, "verdict": None, "labeller": None}
    if verdict is None:
        return {**row, **written}
    judged = _WRITTEN.get(verdict.verdict, WRONG)
    return {**row, **written, "verdict": judged, "labeller": labellers[name], **_of(verdict)}


def _cluster_row(verdict: Verdict, labellers: Mapping[str, str], queue: Queue) -> dict[str, Any]:
    return {
        "verdict": _WRITTEN.get(full_verdict(verdict), WRONG),
        "judged": full_verdict(verdict),
        "dataset": queue.source.digest,
        "seed": queue.source.seed,
        "cluster_id": verdict.item,
        "strays": " ".join(verdict.strays),
        "labeller": labellers[verdict.item],
        **_of(verdict),
    }


def _of(verdict: Verdict | None) -> dict[str, str]:
    """Return the columns from which a merge makes the same verdict again; empty ones without a verdict."""
    columns = ("reviewer", "judged_at", "note", "verdict_id")
    return {name: getattr(verdict, name) if verdict else "" for name in columns}
