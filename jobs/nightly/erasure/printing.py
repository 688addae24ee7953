"""Report of an erasure: a table or JSON on stdout, and lines on what is left for a person to do.

counts of the whole, counts of each artefact -> print_report -> stdout, stderr
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from jobs.display.console import emit, say, two_columns
from schemas.quantities import counted

_NOT_ERASED = "not_erased"
_FAULTS = "faults"


def print_report(
    report: Mapping[str, Any], results: Sequence[Mapping[str, Any]], *, is_whole: bool, as_json: bool
) -> None:
    """Print what an erasure has rewritten, what it could not find, and where copies are left.

    Args:
        report: on the whole, of a warehouse with lists of what is left.
        results: counts of each artefact and file.
        is_whole: all was written, and every day has the drop that shows what the users asked.
        as_json: print for a program.
    """
    emit(
        {**report, "artefacts": results}, as_json=as_json, table=lambda: two_columns("Erasure", _rows(report, results))
    )
    is_any_found = any(type(n) is int and n for result in results for n in result.values())
    if not is_any_found and _FAULTS not in report:
        say("Nothing of it was found" + ("; there is nothing left to erase" if is_whole else ""))
    if shared := report["shared_questions"]:
        say(f"{counted(shared, 'question')} of these users stay, since others asked them too")
    if drops := report.get("logs_with_it"):
        say(f"Still in {counted(len(drops), 'log file')}, which are yours to change: {', '.join(drops)}")
    if readers := report.get("readers"):
        say(f"Restart the readers that have a version open, in whose memory it still is: {'; '.join(readers)}")
    if left := report.get(_NOT_ERASED):
        say(f"Not erased: {'; '.join(left)}")
    else:
        say("Erase it from the logs too: a later run would bring it back. Models and copies stay as they are")


def _rows(report: Mapping[str, Any], results: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """Return the rows of the table: the report with the number of each list, each artefact's counts, and the faults."""
    listed = {name: value for name, value in report.items() if name not in {_NOT_ERASED, _FAULTS}}
    shown = {name: len(value) if isinstance(value, list) else value for name, value in listed.items()}
    rows = {name.replace("_", " "): value for name, value in shown.items()}
    for result in results:
        (_, url), *counts = result.items()
        rows |= {f"{url}: {name.replace('_', ' ')}": value for name, value in counts}
    return rows | {f"{url}: fault": text for url, text in report.get(_FAULTS, {}).items()}
