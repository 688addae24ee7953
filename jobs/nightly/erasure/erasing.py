"""Work behind `qpr erase`: questions and users leave warehouses, artefacts and files in one run, with a report.

questions, users, Places -> erase_everywhere -> report

The list of erased questions of a warehouse is written first, so that no later night brings one back, also if the
erasure is killed.
"""

from __future__ import annotations

import contextlib
import dataclasses
import functools
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from jobs.display.console import warn, working
from jobs.nightly.erasure.printing import print_report
from schemas.errors import QprError, UsageError

if TYPE_CHECKING:
    from jobs.workflows.erasure.faults import Faults
    from jobs.workflows.erasure.user_questions import Log
    from pipelines.privacy.erase import Erasure
    from pipelines.privacy.users import UserKey


@dataclasses.dataclass(frozen=True)
class Places:
    """Everything to erase from.

    Attributes:
        warehouse: URL; None for none.
        datasets: folders; the logs of these are read for users.
        indexes: folders.
        reviews: databases of verdicts.
        files: exports of verdicts, requests and audit samples.
    """

    warehouse: str | None
    datasets: Sequence[str]
    indexes: Sequence[str]
    reviews: Sequence[str]
    files: Sequence[str]

    @property
    def all(self) -> list[str]:
        """Return all of them."""
        warehouses = [self.warehouse] if self.warehouse else []
        return [*warehouses, *self.datasets, *self.indexes, *self.reviews, *self.files]


def erase_everywhere(
    *,
    questions: Sequence[str],
    users: Sequence[str],
    places: Places,
    user_key: UserKey | None,
    dry_run: bool,
    as_json: bool,
) -> None:
    """Erase questions, and those that only some users asked, and print what was rewritten.

    Neither texts nor ids are printed.

    Args:
        questions: texts.
        users: ids.
        places: to erase from.
        user_key: of the hashes in rejected rows and in the list of a warehouse.
        dry_run: count only.
        as_json: print for a program.

    Raises:
        UsageError: there is nothing to erase or nowhere to erase it, or a warehouse without a user key.
        QprError: something cannot be read or written; all else is erased, and running this again completes it.
    """
    _check(questions, users, places, user_key)
    from pipelines.privacy.erase import erasure_of

    results: list[dict[str, Any]] = []
    more: dict[str, Any] = {}
    faults: dict[str, str] = {}
    with _locked(places.warehouse, dry_run=dry_run):
        reviewed = _reviewed(places, dry_run=dry_run)
        logs = _logs_of_users(places, user_key, faults) if users else None
        listed = erasure_of(questions, users, user_key)  # rows of these users bring back what only they asked
        erasure, shared = _with_questions_of(users, listed, user_key, logs or (), faults)
        if places.warehouse:
            from jobs.nightly.erasure.warehouse import erase_from_warehouse

            assert user_key is not None
            from_warehouse = erase_from_warehouse(
                places.warehouse,
                erasure,
                users,
                logs=logs and logs[len(places.datasets) :],
                listed=listed,
                key=user_key,
                faults=faults,
                dry_run=dry_run,
            )
            results += from_warehouse.artefacts
            more = from_warehouse.report
        with working("Erasing from artefacts and files"):
            results += _erase(erasure, places, reviewed, faults, dry_run=dry_run)
    report = {"dry_run": dry_run, "questions_to_erase": len(erasure.keys), "shared_questions": shared} | more
    report |= {"faults": faults} if faults else {}
    unseen = users and (more.get("days_without_a_drop") or more.get("questions_in_no_day"))
    print_report(report, results, is_whole=not (dry_run or unseen), as_json=as_json)
    if faults:
        causes = "; ".join(f"{url}: {cause.removeprefix(f'{url}: ')}" for url, cause in faults.items())
        done = "was counted" if dry_run else "was erased"
        raise QprError(f"{causes}. Everything else {done}. Mend or remove {', '.join(faults)}, then run this again")


def _check(questions: Sequence[str], users: Sequence[str], places: Places, user_key: UserKey | None) -> None:
    if not questions and not users:
        raise UsageError("nothing to erase. Give --question TEXT or --user ID")
    if not places.all:
        raise UsageError("nowhere to erase it. Give --warehouse, --dataset or --index FOLDER, --review or --file FILE")
    if users and not (places.datasets or places.warehouse):
        raise UsageError("--user: needs --warehouse or --dataset FOLDER, whose logs show what the user asked")
    if places.warehouse and user_key is None:
        raise UsageError(
            "--warehouse: needs a user key, for the list that keeps erased questions out of later nights. Give "
            "--user-key-file to this and to every later `qpr nightly`; make one with: openssl rand -hex 32"
        )
    if users and user_key is None:
        warn("no user key: rejected rows are compared by question only. Add --user-key-file if the run had one")
    if places.files:
        from jobs.workflows.erasure.text_files import check_file

        for file in places.files:
            check_file(file)


def _locked(warehouse: str | None, *, dry_run: bool) -> contextlib.AbstractContextManager[object]:
    """Return the lock of a warehouse, so that no night works on it meanwhile; none for a dry run.

    Raises:
        QprError: it is no warehouse.
    """
    if warehouse is None:
        return contextlib.nullcontext()
    from jobs.nightly.erasure.warehouse import check_layout
    from jobs.workflows.warehouses.versions import alone_in

    check_layout(warehouse)
    return contextlib.nullcontext() if dry_run else alone_in(warehouse)


def _reviewed(places: Places, *, dry_run: bool) -> Mapping[str, str | None]:
    """Return the dataset of each review database."""
    if not places.reviews:
        return {}
    from jobs.nightly.erasure.artefacts import complete_artefacts
    from jobs.review.erasing import dataset_of

    made = complete_artefacts(places.warehouse, "datasets") if places.warehouse else ()
    datasets = [*places.datasets, *made]
    return {path: dataset_of(path, datasets, dry_run=dry_run) for path in places.reviews}


def _logs_of_users(places: Places, user_key: UserKey | None, faults: Faults) -> list[Log]:
    """Return the logs of each dataset, then those of the warehouse.

    Raises:
        UsageError: no log has user ids.
    """
    from jobs.workflows.erasure.user_questions import changed_inputs, log_of_dataset, open_logs
    from schemas.artifacts.manifest import read_manifest

    logs = []
    for url in places.datasets:
        manifest = read_manifest(url, "dataset")
        logs.append(log_of_dataset(url, manifest))
        if changed := changed_inputs(manifest, logs[-1].files, faults):
            fault = "changed since this dataset was made, and questions of users in the former files only are not found"
            warn(f"{url}: {', '.join(changed)} {fault}. Give these by --question")
    if places.warehouse and user_key:
        from jobs.nightly.erasure.warehouse import logs_of

        logs += logs_of(places.warehouse, user_key, faults)
    return open_logs(logs, faults, needs_users=True)


def _with_questions_of(
    users: Sequence[str], erasure: Erasure, user_key: UserKey | None, logs: Sequence[Log], faults: Faults
) -> tuple[Erasure, int]:
    """Return an erasure with the questions that only these users asked, and the number of those that stay."""
    if not users:
        return erasure, 0
    from jobs.workflows.erasure.user_questions import questions_in, with_questions

    with working("Reading the logs"):
        questions = questions_in(logs, users, faults)  # of all logs at once: what is erased of one is erased of all
    return with_questions(erasure, questions.own, user_key), questions.shared


def _erase(
    erasure: Erasure, places: Places, reviewed: Mapping[str, str | None], faults: Faults, *, dry_run: bool
) -> Iterator[dict[str, Any]]:
    """Erase from each artefact and file outside of a warehouse; yield the counts of each that has no fault."""
    from jobs.workflows.erasure.faults import kept

    for place, work in _works(erasure, places, reviewed, dry_run=dry_run):
        with kept(place, faults):
            yield work()


def _works(
    erasure: Erasure, places: Places, reviewed: Mapping[str, str | None], *, dry_run: bool
) -> Iterator[tuple[str, Callable[[], dict[str, Any]]]]:
    """Yield each place outside of a warehouse, and the function that erases from it."""
    if places.datasets:
        from jobs.workflows.erasure.datasets import erase_from_dataset

        for url in places.datasets:
            yield url, functools.partial(erase_from_dataset, url, erasure, dry_run=dry_run)
    if places.indexes:
        from jobs.workflows.erasure.indexes import erase_from_index

        for url in places.indexes:
            yield url, functools.partial(erase_from_index, url, erasure, dry_run=dry_run)
    for path, dataset in reviewed.items():
        from jobs.review.erasing import erase_from_review

        yield path, functools.partial(erase_from_review, path, erasure, dataset, places.files, dry_run=dry_run)
    for file in places.files:
        yield file, functools.partial(_erase_from_file, file, erasure, places.reviews, dry_run=dry_run)


def _erase_from_file(file: str, erasure: Erasure, reviews: Sequence[str], *, dry_run: bool) -> dict[str, Any]:
    from jobs.review.erasing import check_databases_of
    from jobs.workflows.erasure.text_files import erase_from_file

    check_databases_of(file, erasure, reviews)
    return erase_from_file(file, erasure, dry_run=dry_run)
