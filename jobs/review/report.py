"""The report of a spot check: JSON for a gate, a page for people.

VerdictStore, Queue -> report_document -> JSON; JSON -> report_page -> HTML
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any, Final

from jobs.display.rendering import render
from jobs.display.summary_tables import SummaryTable, percent
from jobs.review.database.connection import Verdict
from jobs.review.opinions import opinions
from jobs.review.queues.interface import Queue
from jobs.review.session import Progress
from jobs.review.settings import Kind
from jobs.review.store import CLAIM_S, VerdictStore
from jobs.review.tally import Share, Tally, tally
from schemas.artifacts import conditional_writes
from schemas.errors import QprError, UsageError
from schemas.quantities import counted, rounded_percent

_SHOWN: Final = 200
"""Maximum number of disagreements in a report."""


def report_document(store: VerdictStore, queue: Queue | None, *, claim: float, error: float) -> dict[str, Any]:
    """Return the statistics of a review; the same verdicts give the same document.

    Args:
        store: of the verdicts.
        queue: of the judged items; None: disagreements have no texts.
        claim: share of right ones to show.
        error: chance that a bound is ever false.
    """
    verdicts, source = store.verdicts(), store.source
    figures = tally(verdicts, store.places(), source, claim=claim, error=error)
    plain = source.kind != "pairs"  # pairs are drawn from strata: `qpr calibrate` weighs them
    return {
        "queue": source.kind,
        "digest": source.digest,
        "seed": source.seed,
        "items": source.items,
        "judged": figures.judged,
        "counted": figures.counted,
        "verdicts": dict(figures.verdicts),
        "confidence": 1 - error,
        "right": figures.all._asdict() if plain else None,
        "by_question": figures.by_question._asdict() if plain else None,
        "claim": {"share": claim, "supported": figures.missing == 0, "missing": figures.missing} if plain else None,
        "strata": [{"by": by, "name": name, **share._asdict()} for (by, name), share in figures.strata.items()],
        "slips": figures.slips._asdict(),
        "second_opinions": {"items": figures.second_opinions, **figures.agreement._asdict()},
        "waiting": len(figures.waiting),
        "reviewers": dict(figures.reviewers),
        "disagreements": _disagreements(figures, verdicts, queue),
    }


def progress_text(progress: Progress, kind: Kind) -> str:
    """Return one line about the items that a person and all people judged, the share shown and the number missing."""
    share = progress.share
    done = f"You judged {progress.mine:,}; {progress.judged:,} of {progress.items:,} {kind} are judged"
    if share is None or not share.judged:
        return done
    shown = f"{done}; {share.right:,} of {share.judged:,} right, so at least {rounded_percent(share.bound)} of all"
    claim = f"{100 * progress.claim:.4g} %"
    if progress.missing is None:
        return f"{shown}; too many are wrong for {claim}"
    if not progress.missing:
        return f"{shown}; {claim} is supported"
    more = counted(progress.missing, "further right one")
    # judged items behind a gap are left too: they count as soon as the gap has a verdict
    if few := _few_left(progress.missing, progress.items - share.judged):
        return f"{shown}; {claim} takes {more}{few}"
    return f"{shown}; {more} until {claim} is supported"


def end_text(progress: Progress, reviewer: str) -> str:
    """Return the sentence for a person for whom no item is left: other windows may show the last ones."""
    left = progress.items - progress.judged
    if not left:
        return f"Nothing is left for {reviewer}: every item has a verdict"
    shown = f"other windows show {counted(left, 'item')} without a verdict"
    return f"Nothing is left for {reviewer} now: {shown}. Try again in {CLAIM_S / 60:.0f} minutes"


def write_report(document: Mapping[str, Any], file: str, *, overwrite: bool) -> tuple[str, str]:
    """Write a report as JSON and as a page beside it, and return both names.

    Raises:
        UsageError: the name ends in neither .html nor .json.
        QprError: one of them exists or cannot be written.
    """
    stem, dot, ending = file.rpartition(".")
    if not dot or ending not in ("html", "json"):
        raise UsageError(f"--report {file}: must end in .html or .json; both are written")
    names = f"{stem}.html", f"{stem}.json"
    for name in names:
        conditional_writes.refuse_existing(name, overwrite=overwrite, option="--report")
    page, data = report_page(document), (json.dumps(document, ensure_ascii=False, indent=2) + "\n").encode()
    for name, content in zip(names, (page, data), strict=True):
        conditional_writes.write_result(name, content, overwrite=overwrite, option="--report")
    return names


def check_claim(document: Mapping[str, Any], path: str) -> str:
    """Return the sentence that the verdicts support a claim, or refuse it.

    Args:
        document: of `report_document`.
        path: of the database, for the message.

    Raises:
        QprError: the claim is not supported.
    """
    claim, right = document["claim"], document["right"]
    done = f"{right['right']:,} right of {counted(right['judged'], 'counted verdict')}"
    evidence = f"{done}, which shows {_precise(right['bound'])}"
    if not claim["supported"]:
        raise QprError(f"{path}: {_precise(claim['share'])} is not supported: {evidence}. {more_text(document)}")
    return f"{_precise(claim['share'])} is supported: {evidence}"


def more_text(document: Mapping[str, Any]) -> str:
    """Return the sentence on what supports a claim that is not supported."""
    missing = document["claim"]["missing"]
    if missing is None:
        return f"Too many of the {document['items']:,} {document['queue']} are wrong for it"
    noun = "request" if document["queue"] == "requests" else "cluster"
    few = _few_left(missing, document["items"] - document["counted"])
    advice = f"{few}. Give a lower --claim" if few else ""
    return f"It takes {counted(missing, f'further right {noun}')} without a wrong one{advice}"


def _few_left(missing: int, left: int) -> str:
    """Return the end of a sentence on missing items if fewer are left, otherwise nothing."""
    return f", but {left:,} {'is' if left == 1 else 'are'} left" if missing > left else ""


def report_page(document: Mapping[str, Any]) -> bytes:
    """Return the page of a report, UTF-8, without script or network."""
    return render("review_report.html", report=document, more=more_text, tables=report_tables(document)).encode()


def report_tables(document: Mapping[str, Any]) -> list[SummaryTable]:
    """Return the tables of a report that have rows, for the page and the terminal."""
    confidence = percent(document["confidence"])
    head = ("part", "judged", "right", "share right", f"at least, with {confidence}")
    tables = []
    if document["right"] is not None:
        rows = [_row("all", document["right"]), _row("by question", document["by_question"])]
        note = (
            f"Each bound by itself holds at {confidence}, however often one looks. By question: clusters weighted by "
            "their number of questions; its bound is wide where clusters differ much in size."
        )
        tables.append(SummaryTable(("Share right", *head[1:]), rows, note=note))
    strata = [_row(f"{row['by']}: {row['name']}", row) for row in document["strata"]]
    if strata:
        tables.append(SummaryTable(("Part", *head[1:]), strata))
    outcomes = [(name, f"{number:,}") for name, number in sorted(document["verdicts"].items())]
    people = [(name, f"{number:,}") for name, number in sorted(document["reviewers"].items())]
    slips, second = document["slips"], document["second_opinions"]
    checks = [
        ("hidden repeats", f"{slips['repeats']:,}"),
        ("of these judged otherwise", f"{slips['slips']:,}"),
        (
            "slip rate",
            "not measured"
            if slips["rate"] is None
            else f"{percent(slips['rate'])}, at most {percent(slips['at_most'])}",
        ),
        ("items judged by two people", f"{second['items']:,}"),
        ("positive agreement", _share_text(second["positive"])),
        ("negative agreement", _share_text(second["negative"])),
        ("waiting for a further person", f"{document['waiting']:,}"),
    ]
    tables += [
        SummaryTable(("Outcome", "counted"), outcomes),
        SummaryTable(("Reliability", "value"), checks),
        SummaryTable(("Person", "verdicts"), people),
    ]
    return [table for table in tables if table.rows]


def _row(name: str, share: Mapping[str, Any]) -> tuple[str, ...]:
    row = Share(share["judged"], share["right"], share["share"], share["bound"])
    return (
        name,
        f"{row.judged:,}",
        f"{row.right:,}",
        _share_text(row.share),
        _precise(row.bound),
    )


def _precise(share: float) -> str:
    """Return a share with two decimals, since claims are close to 100 %."""
    return rounded_percent(share, 2)


def _share_text(share: float | None) -> str:
    return "not measured" if share is None else _precise(share)


def _disagreements(figures: Tally, verdicts: Sequence[Verdict], queue: Queue | None) -> list[dict[str, Any]]:
    grouped = opinions(verdicts)
    listed = []
    for item in figures.disagreements[:_SHOWN]:
        place = None if queue is None else queue.places.get(item)
        shown = None if queue is None or place is None else queue.item(place)
        texts = {} if shown is None else {"answer": shown.answer, "texts": [line.text for line in shown.lines]}
        given = [verdict for people in grouped[item].values() for verdict in people]
        columns = ("reviewer", "verdict", "note", "judged_at")
        listed.append(
            {
                "item": item,
                **texts,
                "verdicts": [{name: getattr(verdict, name) for name in columns} for verdict in given],
            }
        )
    return listed
