"""Leases of readers: a version that a process has open is not removed.

warehouse, version -> leased -> leases/RUN.json, renewed until the block ends; warehouse -> leased_paths -> kept folders

A lease that is not renewed for `LEASE` is expired, so that a dead process keeps nothing for longer; one whose process
has certainly ended, on this machine, is expired at once.
"""

from __future__ import annotations

import contextlib
import datetime
import threading
from collections.abc import Iterator
from typing import Final

import pydantic

from schemas.artifacts import storage
from schemas.artifacts.output_lock.owner import Owner, new_run_id
from schemas.errors import QprError
from schemas.versions.version import Version

LEASES: Final = "leases"

LEASE: Final = datetime.timedelta(minutes=10)
"""Time to live; longer than clocks of two machines differ and than a store fails to answer."""

PERIOD_S: Final = 60.0
"""Time between two renewals: nine can fail before a lease expires."""


class Lease(pydantic.BaseModel, frozen=True, extra="forbid"):
    """A reader and the version that it has open.

    Attributes:
        owner: the reading process.
        version: number of the version.
        paths: folders of its artefacts, below the warehouse.
        expires: from then on it keeps nothing.
    """

    owner: Owner
    version: int = pydantic.Field(ge=1)
    paths: list[str]
    expires: pydantic.AwareDatetime

    def is_valid(self, now: datetime.datetime) -> bool:
        """Return whether the reader may still be there."""
        return now < self.expires and not self.owner.is_dead

    @property
    def reader(self) -> str:
        """Return the reader for a message."""
        return f"process {self.owner.process} on {self.owner.host}, since {self.owner.since}"


@contextlib.contextmanager
def leased(warehouse: str, number: int, version: Version) -> Iterator[None]:
    """Keep the artefacts of a version from removal inside the block, by a file that a thread renews.

    Raises:
        QprError: the warehouse cannot be written to.
    """
    started = datetime.datetime.now(datetime.UTC)
    owner = Owner.here(new_run_id(started), started)
    paths = sorted({artefact.path for artefact in version.artefacts})
    lease = Lease(owner=owner, version=number, paths=paths, expires=started + LEASE)
    url = storage.join(warehouse, LEASES, f"{owner.run_id}.json")
    storage.write_bytes(url, _content(lease))
    ended = threading.Event()
    thread = threading.Thread(target=_keep, args=(url, lease, ended), name=f"lease {owner.run_id}", daemon=True)
    thread.start()
    try:
        yield
    finally:
        ended.set()
        thread.join(timeout=PERIOD_S)
        with contextlib.suppress(QprError, OSError):  # it expires
            storage.delete_file(url)


def leases(warehouse: str) -> dict[str, Lease]:
    """Return all leases by their URL, valid or expired.

    Raises:
        QprError: one is damaged, so that it is unknown what it keeps.
    """
    read = {url: read_lease(url) for url in lease_files(warehouse)}
    return {url: lease for url, lease in read.items() if lease}


def lease_files(warehouse: str) -> list[str]:
    """Return the URLs of all leases, sorted."""
    folder = storage.join(warehouse, LEASES)
    return [storage.join(folder, name) for name in storage.children(folder) if name.endswith(".json")]


def read_lease(url: str) -> Lease | None:
    """Return a lease; None if its reader has ended meanwhile.

    Raises:
        QprError: it is damaged, so that it is unknown what it keeps.
    """
    content = storage.read_if_there(url)
    try:
        return None if content is None else Lease.model_validate_json(content)
    except pydantic.ValidationError as error:
        raise QprError(
            f"{url}: damaged lease, so that it is unknown which version its reader has open. Delete the file if no "
            f"reader is older than {LEASE.seconds // 60} minutes, then run this again"
        ) from error


def leased_paths(warehouse: str, now: datetime.datetime) -> dict[str, Lease]:
    """Return the folders that readers have open, below the warehouse, with a lease on each.

    Raises:
        QprError: a lease is damaged.
    """
    valid = [lease for lease in leases(warehouse).values() if lease.is_valid(now)]
    return {path: lease for lease in valid for path in lease.paths}


def remove_expired(warehouse: str, now: datetime.datetime) -> int:
    """Remove the leases of readers that are gone and return their number.

    Raises:
        QprError: a lease is damaged, or one cannot be removed.
    """
    expired = [url for url, lease in leases(warehouse).items() if not lease.is_valid(now)]
    for url in expired:
        storage.delete_file(url)
    return len(expired)


def _keep(url: str, lease: Lease, ended: threading.Event) -> None:
    while not ended.wait(PERIOD_S):
        with contextlib.suppress(QprError, OSError):  # the store may answer next time
            expires = datetime.datetime.now(datetime.UTC) + LEASE
            storage.write_bytes(url, _content(lease.model_copy(update={"expires": expires})))


def _content(lease: Lease) -> bytes:
    return lease.model_dump_json(indent=2).encode() + b"\n"
