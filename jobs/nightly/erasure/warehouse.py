"""Erasure from one warehouse: list of erased questions, artefacts, records of refused nights, and what remains.

warehouse, Erasure -> erase_from_warehouse -> counts by artefact, report
"""

from __future__ import annotations

import ast
import datetime
import re
import unicodedata
from collections.abc import Iterator, Sequence
from typing import Any, Final, NamedTuple

from jobs.display.console import say, warn, working
from jobs.nightly.erasure.artefacts import count_unowned, erase_artefacts, unknown_folders
from jobs.nightly.erasure.suppressed import KEY, check_user_key, suppress, suppressions_of
from jobs.nightly.gate.canaries import SHOWN
from jobs.nightly.warehouse import (
    DAILY,
    EVENTS,
    date_url,
    dates_of,
    dates_with_a_drop,
    day_of,
    days_on,
    drop_of,
    every_day,
    open_warehouse,
)
from jobs.options.inputs import input_files
from jobs.workflows.erasure.faults import Faults, kept
from jobs.workflows.erasure.user_questions import Log, changed_inputs, files_with, open_logs
from pipelines.graphs.settings import IngestConfig
from pipelines.privacy.erase import Erasure
from pipelines.privacy.users import UserKey
from schemas.artifacts import storage
from schemas.artifacts.atomic_files import staged_for
from schemas.artifacts.manifest import Manifest, read_settings
from schemas.errors import QprError
from schemas.quantities import counted
from schemas.text import key as key_of
from schemas.versions import history
from schemas.versions.layout import read_layout
from schemas.versions.leases import lease_files, read_lease

REMAINS: Final = (
    "weights of trained models, as numbers",
    "answers, wordings of other questions, and copies of artefacts elsewhere",
)
"""Parts that no erasure removes, for the report."""

_QUOTED: Final = re.compile(r"(?<!\w)(?=('(?:[^'\\]|\\.)*'|\"(?:[^\"\\]|\\.)*\"))")
"""A text as `repr` writes it, or `ascii` in earlier releases.

An apostrophe within or behind a word begins none, and others hide none."""


class FromWarehouse(NamedTuple):
    """Counts of each artefact that had something, and the report on the whole."""

    artefacts: list[dict[str, Any]]
    report: dict[str, Any]


def check_layout(warehouse: str) -> None:
    """Check that a folder is a warehouse that can be read; nothing is migrated.

    Raises:
        QprError: it is none, or of a layout that cannot be used.
    """
    if read_layout(warehouse) is None:
        raise QprError(f"{warehouse}: no warehouse. Correct --warehouse, or make one with `qpr nightly`")


def logs_of(warehouse: str, key: UserKey, faults: Faults) -> list[Log]:
    """Return the drops of a warehouse, to be read as their days were ingested; others as the last day was.

    Args:
        warehouse: its URL.
        key: of its list of erased users.
        faults: gets the drops that have no file of a known format.

    Raises:
        QprError: a daily table or a list is damaged, or the list has another key.
    """
    dates = dates_with_a_drop(warehouse, dates_of(warehouse, EVENTS))
    configs = {day.date: _config(day.manifest, day.url) for day in days_on(warehouse, dates)}
    last = next(reversed(configs.values()), IngestConfig())
    erased = suppressions_of(warehouse, dates, key)
    logs = []
    for date in dates:
        config = configs.get(date, last)
        with kept(date_url(warehouse, EVENTS, date), faults):
            files = input_files(drop_of(warehouse, date), config, example="")
            logs.append(Log(files, config.column_names, config.privacy.columns, erased.get(date)))
    return logs


def erase_from_warehouse(
    warehouse: str,
    erasure: Erasure,
    users: Sequence[str],
    *,
    logs: Sequence[Log] | None,
    listed: Erasure,
    key: UserKey,
    faults: Faults,
    dry_run: bool,
) -> FromWarehouse:
    """Erase questions and users from a warehouse.

    Args:
        warehouse: its URL, by `check_layout`; nobody else writes to it. An older layout is migrated.
        erasure: everything to erase.
        users: ids, to find the drops that have them.
        logs: drops by `logs_of` that are open already; None: they are opened here.
        listed: questions and users whose rows later nights leave out.
        key: of the hashes.
        faults: gets the drops that cannot be read, and the artefacts, records and leases that are damaged or cannot
            be written.
        dry_run: count only.

    Raises:
        QprError: the key is another one, or the manifest of a day is damaged, which has the fingerprint of its key.
    """
    if not dry_run:
        open_warehouse(warehouse)
    check_user_key(warehouse, every_day(warehouse), (), key)
    drops, days = dates_with_a_drop(warehouse, dates_of(warehouse, EVENTS)), dates_of(warehouse, DAILY)
    new = False
    if not dry_run and (drops or days):
        new = suppress(warehouse, listed, until=max([*drops, *days]), key=key)
    with working("Erasing from the warehouse"):
        artefacts = [
            *erase_artefacts(warehouse, erasure, key, faults, dry_run=dry_run),
            *_refused(warehouse, erasure, faults, dry_run=dry_run),
        ]
        if logs is None:
            logs = open_logs(logs_of(warehouse, key, faults), faults, needs_users=False)
        with_it = files_with(logs, erasure.ids, users, faults)
        changed = _changed_drops(warehouse, drops, faults) if users else []
        unowned = count_unowned(warehouse, erasure, key, faults) if users and not faults else 0
    if changed:
        dates = ", ".join(map(str, changed))
        fault = f"drops of {dates} were changed after their ingestion, and questions of users in the former files only"
        warn(f"{warehouse}: {fault} are not found. Give these by --question, and ingest the days again")
    if unowned:
        fault = f"{counted(unowned, 'question')} of versions in no daily table, as after a corrected drop"
        warn(f"{warehouse}: {fault}, and no drop shows who asked them. Give those of these users by --question")
    if users and (gone := sorted(set(days).difference(drops))):
        where = f"{counted(len(gone), 'day')} without a drop, the first {gone[0]} and the last {gone[-1]}"
        say(f"Questions of users on {where}, are not found. Give these by --question")
    unchanged = set(drops).difference(changed)
    report = {
        "warehouse": warehouse,
        "artefacts_read": len({result["path"] for result in artefacts}),
        "added_to_the_list_of_erased": new,
        "days_without_a_drop": [str(date) for date in days if date not in unchanged],
        "questions_in_no_day": unowned,
        "logs_with_it": with_it,
        "readers": sorted(set(_readers(warehouse, faults))),
        "not_erased": [*REMAINS, *(f"folder {name}, which is unknown here" for name in unknown_folders(warehouse))],
    }
    return FromWarehouse([result for result in artefacts if any(type(n) is int and n for n in result.values())], report)


def _changed_drops(warehouse: str, dates: Sequence[datetime.date], faults: Faults) -> list[datetime.date]:
    """Return the dates whose drop lacks a file that the day was ingested from, compared by bytes."""
    changed = []
    for date in dates:
        url = date_url(warehouse, EVENTS, date)
        with kept(url, faults):
            files = input_files(drop_of(warehouse, date), IngestConfig(), example="")
            if (day := day_of(warehouse, date)) and changed_inputs(day.manifest, files, faults):
                changed.append(date)
    return changed


def _readers(warehouse: str, faults: Faults) -> Iterator[str]:
    """Yield the readers that have a version open."""
    now = datetime.datetime.now(datetime.UTC)
    for url in lease_files(warehouse):
        with kept(url, faults):
            if (lease := read_lease(url)) and lease.is_valid(now):
                yield lease.reader


def _refused(warehouse: str, erasure: Erasure, faults: Faults, *, dry_run: bool) -> Iterator[dict[str, Any]]:
    """Remove the reason of refused nights that shows a question, and the records that killed nights left unfinished."""
    folder = storage.join(warehouse, history.VERSIONS, history.REFUSED)
    for name in filter(staged_for, storage.children(folder)):
        url = storage.join(folder, name)
        with kept(url, faults):
            if not dry_run:
                storage.delete_file(url)
            yield {"path": f"{history.VERSIONS}/{history.REFUSED}/{name}", "leftovers": 1}
    for url in history.refused_files(warehouse):
        with kept(url, faults):
            version = history.read_refused(url)
            if version.refused and _shows(version.refused, erasure):
                if not dry_run:
                    reason = "the reason showed a question that was erased since"
                    history.keep_refused(warehouse, version.model_copy(update={"refused": reason}))
                yield {"path": f"{history.VERSIONS}/{history.REFUSED} of {version.date}", "reasons": 1}


def _shows(reason: str, erasure: Erasure) -> bool:
    """Return whether a text that a reason quotes is an erased question or the beginning of one, or cannot be read."""
    try:
        quoted = [ast.literal_eval(part) for part in _QUOTED.findall(reason)]
    except (SyntaxError, ValueError):
        return True
    beginnings = [_whole_characters(key_of(text)) for text in quoted if len(text) >= SHOWN]
    return any(key_of(text) in erasure.keys for text in quoted) or any(
        key.startswith(beginning) for key in erasure.keys for beginning in beginnings
    )


def _whole_characters(key: str) -> str:
    """Return the key of a cut text without its last character and the marks on it: others can have been cut off."""
    end = len(key)
    while end and unicodedata.combining(key[end - 1]):
        end -= 1
    return key[: max(end - 1, 0)]


def _config(manifest: Manifest, url: str) -> IngestConfig:
    settings = {name: value for name, value in manifest.configuration.items() if name != KEY}
    return read_settings(url, manifest.model_copy(update={"configuration": settings}), IngestConfig, again="Ingest it")
