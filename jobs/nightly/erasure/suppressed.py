"""The list of erased questions and users of a warehouse: later nights leave their rows out.

hashes -> suppress -> erased/NNNNNNNN.json; days, key -> suppressions_of -> Suppressions; drop -> check_erased_users
"""

from __future__ import annotations

import datetime
from collections.abc import Collection, Mapping, Sequence
from typing import TYPE_CHECKING, Annotated, Final

import pydantic

from jobs.display.console import warn
from jobs.nightly.warehouse import DAILY, date_url, ingest_command, log_files, min_users_of
from jobs.options.inputs import require_users
from pipelines.privacy.erase import Erasure
from pipelines.privacy.suppression import Suppression
from pipelines.privacy.users import UserKey
from schemas.artifacts import conditional_writes, storage
from schemas.artifacts.manifest import first_fault
from schemas.errors import BadDropError, QprError, UsageError

if TYPE_CHECKING:
    from pipelines.ingestion.days import Day
    from pipelines.privacy.settings import Privacy
    from pipelines.reading.sources import Source as LogFile

LISTS: Final = "erased"
"""Folder of a warehouse with its lists, one file for each erasure."""

KEY: Final = "user_key"
"""Name of the fingerprint of the user key in the manifest of a day."""

_GIVE: Final = "--user-key-file or QPR_USER_KEY"

_Hash = Annotated[str, pydantic.Field(pattern="^[0-9a-f]{16}$")]


class ErasedUser(pydantic.BaseModel, frozen=True, extra="forbid"):
    """Keyed hash of a user, and the last day of which no row of that user is read."""

    hash: _Hash
    until: datetime.date


class ErasedList(pydantic.BaseModel, frozen=True, extra="forbid"):
    """Hashes of one erasure.

    Attributes:
        created: day.
        key: fingerprint of the key of the hashes.
        questions: hashes of questions, of which no row of any day is read.
        users: hashes of users.
    """

    created: datetime.date
    key: _Hash
    questions: list[_Hash]
    users: list[ErasedUser]


def suppress(warehouse: str, erasure: Erasure, *, until: datetime.date, key: UserKey) -> bool:
    """Add erased questions and users to the list of a warehouse; return whether there is a new one among them.

    Args:
        warehouse: its URL; nobody else writes to it.
        erasure: the questions and users.
        until: last day of which no row of these users is read.
        key: of the hashes.

    Raises:
        QprError: a list is damaged or has another key, or it cannot be written.
    """
    lists = _lists(warehouse, key)
    questions = erasure.question_hashes - {question for erased in lists for question in erased.questions}
    listed = {(user.hash, user.until) for erased in lists for user in erased.users}
    users = {user for user in erasure.user_hashes if not any(h == user and day >= until for h, day in listed)}
    if not questions and not users:
        return False
    made = ErasedList(
        created=datetime.datetime.now(datetime.UTC).date(),
        key=key.fingerprint,
        questions=sorted(questions),
        users=[ErasedUser(hash=user, until=until) for user in sorted(users)],
    )
    if not lists:
        warn(f"{warehouse}: its list of erased questions is written with this user key; give it to every later night")
    url = storage.join(warehouse, LISTS, f"{len(lists) + 1:08d}.json")
    conditional_writes.create(url, made.model_dump_json(indent=2).encode())
    return True


def suppressions_of(
    warehouse: str, dates: Collection[datetime.date], key: UserKey | None
) -> dict[datetime.date, Suppression]:
    """Return the questions and users whose rows of each day are not read; none where nothing was erased.

    Raises:
        UsageError: there is a list but no key.
        QprError: a list is damaged or has another key.
    """
    if not (lists := _lists(warehouse, key)):
        return {}
    assert key is not None
    questions = frozenset(int(question, 16) for erased in lists for question in erased.questions)
    users = [user for erased in lists for user in erased.users]
    return {
        date: Suppression(questions, frozenset(int(user.hash, 16) for user in users if date <= user.until), key)
        for date in dates
    }


def check_erased_users(
    date: datetime.date, files: Sequence[LogFile], names: Mapping[str, str], *, ingested: Collection[str]
) -> None:
    """Refuse a drop without user ids, in which erased users would come back; warn of single files without them.

    Args:
        date: of the drop, with users that were erased.
        files: all of it.
        names: our name of a column -> the files', where they differ.
        ingested: URLs of files whose rows the day has already.

    Raises:
        BadDropError: no file has user ids, and not all of them are ingested.
    """
    missing: dict[str, QprError] = {}
    for file in files:
        try:
            require_users([file], names)
        except QprError as error:
            missing[file.url] = error
    new = [url for url in missing if url not in ingested]
    if new and len(missing) == len(files):
        fault = f"users of {date} were erased, and without user ids their rows would come back"
        advice = "if nobody has an id, add an empty column user_id"
        raise BadDropError(f"drop of {date}: {fault}. {missing[new[0]]}; {advice}") from missing[new[0]]
    for url in new:
        warn(f"{url}: has no user ids, so its rows count as those of other users than the erased ones")


def check_user_key(
    warehouse: str,
    every: Sequence[Day],
    dates: Collection[datetime.date],
    key: UserKey | None,
    *,
    privacy: Privacy | None = None,
) -> None:
    """Refuse another user key than that of the days that are not ingested now, and of the list of erased questions.

    Args:
        warehouse: its URL.
        every: its days.
        dates: days that are ingested now.
        key: of this run.
        privacy: of a run that ingests days. Days with a minimum number of users need this option in later runs too: a
            night without it would publish all rows that wait for more users.

    Raises:
        UsageError: there is no key, or no minimum number of users, though there was one.
        QprError: there was another key.
    """
    min_users = privacy.min_users if privacy else 1
    if min_users > 1 and key is None:
        warn(f"--min-users {min_users}: counts the users of each day, not of the window, as no user key is given")
    _lists(warehouse, key)
    if privacy and "min_users" not in privacy.model_fields_set:
        _check_forgotten(every)
    days = [day for day in every if day.date not in dates]
    keyed = [day for day in days if KEY in day.manifest.configuration]
    others = [day for day in keyed if key is None or day.manifest.configuration[KEY] != key.fingerprint]
    if not others:
        return
    if key is None:
        raise UsageError(f"{warehouse}: {others[0].date} was ingested with a user key. Give the same one by {_GIVE}")
    stored = others[0].manifest.configuration[KEY]
    without = [date_url(warehouse, DAILY, day.date) for day in others if not log_files(warehouse, day.date)]
    first = f"remove the folders of days whose drop is gone ({', '.join(without)}), then " if without else ""
    options = [*([f"--min-users {min_users}"] if min_users > 1 else []), "--user-key-file FILE"]
    again = ingest_command(warehouse, days[0].date, max([days[-1].date, *dates]), *options)
    raise QprError(
        f"{warehouse}: {others[0].date} was ingested with another user key (fingerprint {stored}, not "
        f"{key.fingerprint}), so its users cannot be compared. Give that one, or {first}ingest all days with the new "
        f"one: {again}"
    )


def _check_forgotten(days: Sequence[Day]) -> None:
    """Raise `UsageError` if days were ingested with a minimum number of users above 1."""
    least = [(min_users_of(day), day.date) for day in days]
    if least and (highest := max(least))[0] > 1:
        raise UsageError(
            f"--min-users: is not given, but {highest[1]} was ingested with --min-users {highest[0]}. Give the same "
            "number, or --min-users 1 to publish questions that only one person asked"
        )


def _lists(warehouse: str, key: UserKey | None) -> Sequence[ErasedList]:
    lists = []
    for name in storage.children(storage.join(warehouse, LISTS)):
        if not name.endswith(".json"):
            continue
        url = storage.join(warehouse, LISTS, name)
        try:
            lists.append(ErasedList.model_validate_json(storage.read_bytes(url)))
        except pydantic.ValidationError as error:
            advice = "Restore it from a copy: without it erased questions come back"
            raise QprError(f"{url}: no list of erased questions ({first_fault(error)}). {advice}") from error
        if key is None:
            raise UsageError(f"{warehouse}: questions were erased, and their list needs the user key. Give {_GIVE}")
        if lists[-1].key != key.fingerprint:
            raise QprError(
                f"{url}: was written with another user key (fingerprint {lists[-1].key}, not {key.fingerprint}). "
                f"Give that one by {_GIVE}"
            )
    return lists
