"""The work of ``qpr review``.

options -> run_review -> verdicts, merged verdicts, an export or a report
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import rich.console
from rich.text import Text

from jobs.display.console import alarms, emit, results, say, two_columns, warn
from jobs.display.terminal_tables import terminal_table
from jobs.review.checks import check_queue
from jobs.review.exchange import export_verdicts
from jobs.review.merging import merge, read_judged
from jobs.review.people import reviewer_name
from jobs.review.queues.interface import Queue
from jobs.review.queues.opening import open_queue
from jobs.review.report import check_claim, report_document, report_tables, write_report
from jobs.review.session import Review
from jobs.review.settings import Files, ReviewSettings
from jobs.review.store import VerdictStore
from jobs.review.terminal import Keys, judge_in_terminal
from schemas.errors import UsageError
from schemas.quantities import counted


def run_review(
    dataset: str | None,
    database: str,
    settings: ReviewSettings,
    files: Files,
    *,
    serve: Callable[[Review, str], None] | None,
    overwrite: bool,
    as_json: bool,
) -> None:
    """Judge in the terminal or in a browser, or report, export or merge what was judged.

    Args:
        dataset: of the queue; None: requests, or a report without texts.
        database: file of the verdicts.
        settings: queue, person and claim.
        files: at most one in place of judging.
        serve: serves a review to the person who is named first; None: judge in the terminal.
        overwrite: replace existing files.
        as_json: print the result as JSON.

    Raises:
        UsageError: options do not go together.
        QprError: a file cannot be read or written, or the claim of the report is not supported.
    """
    chosen = [f"--{name}" for name, value in files if value is not None] + ["--serve"] * (serve is not None)
    if len(chosen) > 1:
        raise UsageError(f"{chosen[0]} and {chosen[1]}: do one after the other")
    if chosen in (["--export"], ["--merge"]) and (bounds := settings.model_fields_set & {"claim", "confidence"}):
        raise UsageError(f"--{min(bounds)}: has no use with {chosen[0]}. Leave it out, or give it with --report")
    if files.report is not None:
        _report(dataset, database, settings, files.report, overwrite=overwrite, as_json=as_json)
        return
    queue = open_queue(dataset, settings)
    if files.export is not None:
        _export(queue, database, files.export, overwrite=overwrite, as_json=as_json)
        return
    if files.merge is not None:
        _merge(queue, database, files.merge, settings, as_json=as_json)
        return
    reviewer = reviewer_name(settings.reviewer)
    with VerdictStore(database, queue.source) as store:
        check_queue(store, queue)
        review = Review(queue, store, claim=settings.claim, error=settings.error)
        if serve is not None:
            serve(review, reviewer)
            return
        judged = judge_in_terminal(review, reviewer, Keys(alarms if as_json else results))
        result = {"database": database, "reviewer": reviewer, "verdicts": judged}
        emit(result, as_json=as_json, table=lambda: two_columns("Review", result))


def _merge(queue: Queue, database: str, file: str, settings: ReviewSettings, *, as_json: bool) -> None:
    judged = read_judged(queue, file, reviewer=settings.reviewer)  # a refused file leaves no new database
    with VerdictStore(database, queue.source) as store:
        check_queue(store, queue)
        result = {"database": database, "added": merge(store, judged)}
    emit(result, as_json=as_json, table=lambda: two_columns("Review", result))


def _export(queue: Queue, database: str, file: str, *, overwrite: bool, as_json: bool) -> None:
    """Export from a database that nobody may be permitted to write to."""
    with VerdictStore(database) as store:
        check_queue(store, queue)
        result = export_verdicts(store, queue, file, overwrite=overwrite)
    if result["judged"] > result["counted"] and queue.source.kind == "pairs":
        warn(f"{database}: {counted(result['judged'] - result['counted'], 'verdict')} after a gap left out")
    if result["waiting"]:
        rest = "until then those that one person does not call right are not right"
        say(f"waiting for a further person: {counted(result['waiting'], 'item')}; {rest}")
    emit(result, as_json=as_json, table=lambda: two_columns("Review", result))


def _report(
    dataset: str | None, database: str, settings: ReviewSettings, file: str, *, overwrite: bool, as_json: bool
) -> None:
    queue = open_queue(dataset, settings) if dataset is not None or settings.requests is not None else None
    with VerdictStore(database) as store:
        if queue is not None:
            check_queue(store, queue)
        document = report_document(store, queue, claim=settings.claim, error=settings.error)
    claimed = "claim" in settings.model_fields_set
    if claimed and document["claim"] is None:
        raise UsageError(
            "--claim: pairs are drawn for a calibration and show no share. Leave it out, or judge clusters"
        )
    page, data = write_report(document, file, overwrite=overwrite)
    result = {"report": page, "data": data, **document}
    emit(result, as_json=as_json, table=lambda: _tables(database, document))
    if claimed:
        say(check_claim(document, database))


def _tables(database: str, document: dict[str, Any]) -> rich.console.Group:
    heading = f"{database}: {document['judged']:,} of {document['items']:,} {document['queue']} judged"
    parts: list[rich.console.RenderableType] = [Text(heading, style="bold")]
    for table in report_tables(document):
        parts.append(terminal_table(table))
        if table.note:
            parts.append(Text(f"{table.note}\n", style="dim"))
    return rich.console.Group(*parts)
