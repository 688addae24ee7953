"""Versions of a warehouse: their list, one record, rollback, and the removal of artefacts that no kept version names.

warehouse -> show_versions, show_version, roll_back, sweep -> tables or JSON
"""

from __future__ import annotations

import contextlib
import datetime
import shlex
from collections.abc import Callable, Iterator, Set

import rich.table

from jobs.display.console import emit, say, two_columns
from jobs.display.safe_text import escape_controls
from jobs.workflows.warehouses.version_figures import rows_of_metrics, rows_of_report, table_of_changes
from schemas.artifacts import storage
from schemas.artifacts.manifest import MANIFEST, read_manifest
from schemas.artifacts.output_lock.lock import held
from schemas.artifacts.output_lock.owner import LockedError
from schemas.errors import QprError
from schemas.quantities import counted
from schemas.versions import history, layout
from schemas.versions.sweep import FOLDERS, removable, remove, spared
from schemas.versions.version import Version, is_there

LAST_REFUSED = "refused"
"""Value of ``--at`` for the last version that the gate refused."""

LOCK = "lock"
"""Folder of a warehouse's lock: one night, removal or rollback at a time."""


@contextlib.contextmanager
def alone_in(warehouse: str) -> Iterator[Callable[[], None]]:
    """Hold the lock of a warehouse inside the block, so that one night, removal or rollback works on it at a time.

    It yields a function that raises an error if the lock was lost, as that on a remote store is in a long pause.

    Raises:
        LockedError: another one is under way.
    """

    def check() -> None:
        if not lock.is_held():
            fault = "the lock of this run expired, as in a long pause, and another run may have changed the warehouse"
            raise QprError(f"{warehouse}: {fault}. Nothing is published. Run this again; finished steps are used again")

    folder = storage.join(warehouse, LOCK)
    with contextlib.ExitStack() as stack:
        try:
            lock = stack.enter_context(held(folder))
        except LockedError as error:
            raise LockedError(warehouse, error.who, hint=error.hint) from error
        yield check


def check_warehouse(warehouse: str) -> None:
    """Check that there is a folder with versions.

    Raises:
        QprError: there is none, or the layout of the warehouse cannot be used.
    """
    number = layout.read_layout(warehouse)
    if storage.exists(storage.join(warehouse, history.VERSIONS)):
        return
    if number is None:
        advice = "Correct --warehouse, or make one with `qpr nightly`"
        raise QprError(f"{warehouse}: has no versions and is no warehouse. {advice}")
    raise QprError(f"{warehouse}: has no versions. `qpr nightly --warehouse {shlex.quote(warehouse)}` makes the first")


def show_versions(warehouse: str, *, as_json: bool) -> None:
    """Print the versions of a warehouse and those that the gate refused, with the artefacts of each that are gone.

    Raises:
        QprError: a record is damaged.
    """
    check_warehouse(warehouse)
    versions = {number: history.read_version(warehouse, number) for number in history.numbers(warehouse)}
    refused = history.refused_versions(warehouse)
    paths = _existing_paths(warehouse)
    result = {
        "warehouse": warehouse,
        "current": max(versions, default=None),
        "versions": [
            {"version": number, **version.as_json(), "gone": _gone(version, paths)}
            for number, version in versions.items()
        ],
        "refused": [{**version.as_json(), "gone": _gone(version, paths)} for version in refused],
    }
    emit(result, as_json=as_json, table=lambda: _table(warehouse, versions, refused, paths))


def show_version(warehouse: str, at: str | None, *, report: str | None, overwrite: bool, as_json: bool) -> None:
    """Print one version with the artefacts of it that are gone and the days of erasures, and write its page.

    Args:
        warehouse: its URL.
        at: number, date or `LAST_REFUSED`; None for the current version.
        report: URL of its page; None for none.
        overwrite: replace that file.
        as_json: print JSON.

    Raises:
        UsageError: `at` is none of these.
        QprError: there is no such version, or the page cannot be made.
    """
    if at not in (None, LAST_REFUSED):
        history.number_or_date(at)
    check_warehouse(warehouse)
    number, version = _version(warehouse, at)
    if report is not None:
        from jobs.workflows.warehouses.version_report import write_version_report  # only pages need jinja2

        write_version_report(warehouse, number, version, report, overwrite=overwrite)
    gone = _gone(version, {artefact.path for artefact in version.artefacts if is_there(warehouse, artefact)})
    erased = _erased(warehouse, version, gone)
    page = {} if report is None else {"page": report}
    table = table_of_changes(warehouse, version)
    result = {"version": number, **version.as_json(), "gone": gone, "erased": erased, "table_of_changes": table, **page}
    rows = {"version": number or "refused", "date": str(version.date), "created": version.created}
    rows |= {name: storage.join(warehouse, getattr(version, name).path) for name in ("dataset", "model", "index")}
    rows |= {"window": counted(version.window_days, "day"), "days with a drop": str(version.days)}
    rows |= rows_of_metrics(version)
    rows |= rows_of_report(warehouse, version)
    rows |= {"gone, as after qpr gc": ", ".join(gone)} if gone else {}
    rows |= {"questions erased on": ", ".join(erased)} if erased else {}
    rows |= {"refused": escape_controls(version.refused)} if version.refused else {}
    emit(result, as_json=as_json, table=lambda: two_columns(warehouse, rows | page))


def roll_back(warehouse: str, to: int, *, as_json: bool) -> None:
    """Publish an older version again and print its number.

    Nothing removes artefacts meanwhile, and no night ends that began with the version that was current until now.

    Raises:
        QprError: there is no such version, an artefact of it is gone, or a night or removal is under way.
    """
    check_warehouse(warehouse)
    with alone_in(warehouse):
        result = {"version": history.roll_back(warehouse, to), "rollback_of": to}
    rows = {"version": result["version"], "equals version": to}
    emit(result, as_json=as_json, table=lambda: two_columns(warehouse, rows))


def sweep(warehouse: str, *, keep: int, grace_hours: float, delete: bool, as_json: bool) -> None:
    """Print the folders that no kept version names, and remove them with ``delete``.

    Raises:
        QprError: a record or a lease is damaged, or a night is under way.
    """
    check_warehouse(warehouse)
    now = datetime.datetime.now(datetime.UTC)
    with alone_in(warehouse) if delete else contextlib.nullcontext():
        of_any_age = removable(warehouse, keep=keep, grace=datetime.timedelta(0), now=now)
        folders = removable(warehouse, keep=keep, grace=datetime.timedelta(hours=grace_hours), now=now)
        for lease in spared(warehouse, keep=keep, now=now):
            say(f"version {lease.version} stays: {lease.reader} has it open")
        if delete:
            remove(warehouse, folders)
    freed = sum(folder.bytes for folder in folders)
    result = {"warehouse": warehouse, "deleted": delete, "bytes": freed, "folders": [f.path for f in folders]}
    rows = {folder.path: counted(folder.bytes, "byte") for folder in folders}
    title = f"{counted(len(folders), 'folder')}, {counted(freed, 'byte')}, {'removed' if delete else 'removable'}"
    nothing = _nothing_to_remove(len(of_any_age) - len(folders), grace_hours)
    emit(result, as_json=as_json, table=lambda: two_columns(title, rows) if folders else nothing)
    if folders and not delete:
        say("Nothing was removed. Add --delete to remove them")


def _nothing_to_remove(young: int, grace_hours: float) -> str:
    """Return the line for no removable folder, with the number of those that are too young."""
    are = f" {counted(young, 'folder')} {'is' if young == 1 else 'are'} younger than --grace-hours {grace_hours:g}."
    return f"Nothing to remove.{are if young else ''}"


def _version(warehouse: str, at: str | None) -> tuple[int | None, Version]:
    """Return a version and its number, which a refused one does not have."""
    if at == LAST_REFUSED:
        refused = history.refused_versions(warehouse)
        if not refused:
            raise QprError(f"{warehouse}: no version was refused. `qpr versions` lists all")
        return None, max(refused, key=lambda version: version.created)
    return history.version_at(warehouse, at)


def _erased(warehouse: str, version: Version, gone: list[str]) -> list[str]:
    """Return the days on which questions were erased from an artefact after the version was published."""
    days = set()
    for artefact in version.artefacts:
        if artefact.path not in gone:
            erasures = read_manifest(storage.join(warehouse, artefact.path)).erased
            since = [erasure.digest for erasure in erasures]
            days |= {str(e.on) for e in erasures[since.index(artefact.digest) :]} if artefact.digest in since else set()
    return sorted(days)


def _existing_paths(warehouse: str) -> set[str]:
    """Return the paths of the artefacts in a warehouse; a folder without a manifest is none, as a killed `qpr gc` left.

    All files are listed, a thousand in a request: a request for each artefact of a year's versions takes a minute on an
    object store.
    """
    names: list[str] = []
    for folder in FOLDERS:
        url = storage.join(warehouse, folder)
        file_system, path = storage.locate(url)
        with storage.explained(url):
            names += file_system.find(path)
    return {"/".join(name.split("/")[-3:-1]) for name in names if name.endswith(f"/{MANIFEST}")}


def _gone(version: Version, paths: Set[str]) -> list[str]:
    """Return the paths of the artefacts of a version that are not among those that are there."""
    return sorted({artefact.path for artefact in version.artefacts} - paths)


def _table(warehouse: str, versions: dict[int, Version], refused: list[Version], paths: Set[str]) -> rich.table.Table:
    table = rich.table.Table(
        "version", "date", "days", "MRR", "model of", "note", title=warehouse, title_justify="left"
    )
    for number, version in versions.items():
        notes = [f"equals {version.rollback_of}"] if version.rollback_of else []
        current = ", current" if number == max(versions) else ""
        table.add_row(f"{number}{current}", *_cells(version), "; ".join([*notes, *_note(_gone(version, paths))]))
    for version in refused:
        notes = [escape_controls(version.refused or ""), *_note(_gone(version, paths))]
        table.add_row("refused", *_cells(version), "; ".join(notes))
    return table


def _note(gone: list[str]) -> list[str]:
    """Return a note with the folders of the artefacts that are gone; none where all are there."""
    folders = dict.fromkeys(path.split("/")[0] for path in gone)
    return [f"gone: {', '.join(folders)}"] if folders else []


def _cells(version: Version) -> list[str]:
    mrr = version.metrics.get("mrr")
    return [
        str(version.date),
        f"{version.days} of {version.window_days}",
        "" if mrr is None else f"{mrr:.4f}",
        str(version.trained.date),
    ]
