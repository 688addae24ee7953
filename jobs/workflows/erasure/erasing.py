"""Work behind `qpr erase`: questions and users leave artefacts in one run, with a report.

questions, users, artefacts -> erase_from_artefacts -> report
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from jobs.display.console import emit, say, two_columns, warn, working
from schemas.errors import UsageError
from schemas.quantities import counted

if TYPE_CHECKING:
    from pipelines.privacy.erase import Erasure
    from pipelines.privacy.users import UserKey


def erase_from_artefacts(
    *,
    questions: Sequence[str],
    users: Sequence[str],
    datasets: Sequence[str],
    indexes: Sequence[str],
    user_key: UserKey | None,
    dry_run: bool,
    as_json: bool,
) -> None:
    """Erase questions, and those that only some users asked, from artefacts, and print what was rewritten.

    Neither texts nor ids are printed.

    Args:
        questions: texts.
        users: ids.
        datasets: folders; the logs of these are read for users.
        indexes: folders.
        user_key: of the hashes in rejected rows.
        dry_run: count only.
        as_json: print for a program.

    Raises:
        UsageError: there is nothing to erase or nowhere to erase it.
        QprError: an artefact cannot be read or written.
    """
    if not questions and not users:
        raise UsageError("nothing to erase. Give --question TEXT or --user ID")
    if not datasets and not indexes:
        raise UsageError("no artefact. Give --dataset FOLDER or --index FOLDER")
    if users and not datasets:
        raise UsageError("--user: needs --dataset FOLDER, whose logs show what the user asked")
    from pipelines.privacy.erase import erasure_of

    if users and user_key is None:
        warn("no user key: rejected rows are compared by question only. Add --user-key-file if the run had one")
    own, shared = _asked_by(users, datasets) if users else ([], 0)
    erasure = erasure_of([*questions, *own], users, user_key)
    results = _erase(erasure, datasets, indexes, dry_run=dry_run)
    report = {"dry_run": dry_run, "questions_to_erase": len(erasure.keys), "shared_questions": shared}
    emit(
        report | {"artefacts": results},
        as_json=as_json,
        table=lambda: two_columns("Erasure", _rows(report, results)),
    )
    if not any(any(isinstance(n, int) and n for n in result.values()) for result in results):
        say("Nothing of it was found")
    if shared:
        say(f"{counted(shared, 'question')} of these users stay, since others asked them too")
    say("Erase it from the logs too: a later run would bring it back. Models and copies stay as they are")


def _asked_by(users: Sequence[str], datasets: Sequence[str]) -> tuple[list[str], int]:
    """Return the questions that only these users asked, and the number of those that others asked too."""
    from jobs.workflows.erasure.user_questions import questions_of
    from schemas.artifacts.manifest import read_manifest

    own, shared = list[str](), 0
    with working(f"Reading the logs of {counted(len(datasets), 'dataset')}"):
        for url in datasets:
            found = questions_of(url, read_manifest(url, "dataset"), users)
            own += found.own
            shared += found.shared
    return own, shared


def _erase(erasure: Erasure, datasets: Sequence[str], indexes: Sequence[str], *, dry_run: bool) -> list[dict[str, Any]]:
    """Erase from each artefact; return the counts of each."""
    results: list[dict[str, Any]] = []
    if datasets:
        from jobs.workflows.erasure.datasets import erase_from_dataset

        for url in datasets:
            with working(f"Erasing from {url}"):
                results.append(erase_from_dataset(url, erasure, dry_run=dry_run))
    if indexes:
        from jobs.workflows.erasure.indexes import erase_from_index

        results += [erase_from_index(url, erasure, dry_run=dry_run) for url in indexes]
    return results


def _rows(report: dict[str, Any], results: Sequence[dict[str, Any]]) -> dict[str, Any]:
    """Return the rows of the table: the report, then the counts of each artefact."""
    rows = {name.replace("_", " "): value if name != "dry_run" else str(value) for name, value in report.items()}
    for result in results:
        (_, url), *counts = result.items()
        rows |= {f"{url}: {name.replace('_', ' ')}": n if type(n) is int else str(n) for name, n in counts}
    return rows
