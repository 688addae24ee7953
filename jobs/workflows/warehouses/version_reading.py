"""Reading an index, or that of a version of a warehouse with its certificate, held by a lease until the reader ends.

--index and --certificate, or --warehouse and --at -> Readable -> Served
"""

from __future__ import annotations

import contextlib
import dataclasses
import functools
from collections.abc import Iterator
from typing import NamedTuple

from jobs.display.console import say, warn
from jobs.workflows.warehouses.versions import check_warehouse
from schemas.artifacts import storage
from schemas.artifacts.manifest import read_manifest
from schemas.errors import QprError, UsageError
from schemas.versions import history
from schemas.versions.leases import leased
from schemas.versions.version import Version, check_artefact


class Served(NamedTuple):
    """An index that is read.

    Attributes:
        index_url: of the index.
        certificate: URL of its certificate; None: it has none.
        number: of its version in a warehouse; None: it is an index by itself.
        dataset: URL of the dataset of that version.
        created: time of the record of that version.
    """

    index_url: str
    certificate: str | None
    number: int | None = None
    dataset: str | None = None
    created: str | None = None

    def runs(self) -> str:
        """Return the identity of what is published at the URLs now: number of the version and folders of the runs.

        Raises:
            QprError: there is no index, or no certificate.
        """
        runs = [] if self.number is None else [f"version {self.number}"]
        runs.append(read_manifest(self.index_url, "index").run_id)
        if self.certificate is not None:
            runs.append(read_manifest(self.certificate, "certificate").run_id)
        return "+".join(runs)


@dataclasses.dataclass(frozen=True)
class Readable:
    """Place of an index to read: its own, or a warehouse, whose current version changes.

    Args:
        index: URL of an index.
        certificate: URL of its certificate; of a version by default its own.
        warehouse: in place of an index, the URL of a warehouse.
        at: number or date of the version, which stays the same; None: the current one.

    Raises:
        UsageError: neither an index nor a warehouse is given, or both are, or `at` is no version.
    """

    index: str | None = None
    certificate: str | None = None
    warehouse: str | None = None
    at: str | None = None

    def __post_init__(self) -> None:
        """Check that there is one place."""
        if self.warehouse is None and self.at is not None:
            raise UsageError(f"--at {self.at}: is a version of --warehouse; give that too")
        if self.warehouse is None and self.index is None:
            raise UsageError("give --index, or --warehouse for the index of its current version")
        if self.warehouse is not None and self.index is not None:
            raise UsageError("--index: is an index by itself, --warehouse has those of its versions. Give either")
        if self.at is not None:
            history.number_or_date(self.at)

    @property
    def url(self) -> str:
        """Return the URL of the index or of the warehouse."""
        return self.warehouse or self.index or ""

    def now(self) -> Served:
        """Return the index to read now, unchecked and without a lease.

        Raises:
            QprError: there is no such version.
        """
        if self.warehouse is None:
            return Served(self.url, self.certificate)
        return self._served(self.warehouse, *self._version(self.warehouse))

    @contextlib.contextmanager
    def held(self) -> Iterator[Served]:
        """Yield the index to read now; of a warehouse `qpr gc` removes nothing of the version until the block ends.

        Raises:
            QprError: there is no such version, or an artefact of it is gone.
        """
        if self.warehouse is None:
            yield self.now()
            return
        check_warehouse(self.warehouse)
        number, version = self._version(self.warehouse)
        with contextlib.ExitStack() as stack:
            try:
                stack.enter_context(leased(self.warehouse, number, version))
            except QprError as error:
                warn(f"no lease on version {number}: {error}. `qpr gc` may remove it while it is read")
            check_artefact(self.warehouse, version.index, "index", version=f"version {number}")
            if version.certificate:
                check_artefact(self.warehouse, version.certificate, "certificate", version=f"version {number}")
            served = self._served(self.warehouse, number, version)
            if version.certificate and not served.certificate:
                warn(f"{self._lost(self.warehouse, number, version)}. The next night with --requests certifies again")
            say(f"version {number} of {version.date}, {'with a' if served.certificate else 'without a'} certificate")
            yield served

    def _version(self, warehouse: str) -> tuple[int, Version]:
        return history.version_at(warehouse, None) if self.at is None else self._pinned

    @functools.cached_property
    def _pinned(self) -> tuple[int, Version]:
        return history.version_at(self.url, self.at)  # once: a later night may end on the same date

    def _served(self, warehouse: str, number: int, version: Version) -> Served:
        """Return the index of a version with the given certificate, or its own while that holds."""
        index, certificate = storage.join(warehouse, version.index.path), self.certificate
        if certificate is None and version.certificate and not self._lost(warehouse, number, version):
            certificate = storage.join(warehouse, version.certificate.path)
        return Served(index, certificate, number, storage.join(warehouse, version.dataset.path), version.created)

    @staticmethod
    def _lost(warehouse: str, number: int, version: Version) -> str | None:
        """Return why the certificate of a version does not hold any more, None while it does."""
        if read_manifest(storage.join(warehouse, version.index.path), "index").digest != version.index.digest:
            return f"questions were erased from version {number}, so its certificate does not hold"
        if version.certificate and _is_of_other_rules(storage.join(warehouse, version.certificate.path)):
            return f"another release, which may give other answers, certified version {number}"
        return None


def _is_of_other_rules(certificate: str) -> bool:
    """Return whether an earlier or later release made a certificate; one that cannot be read is refused when used."""
    try:
        return not _is_current(certificate)
    except QprError:
        return False


@functools.lru_cache(maxsize=16)
def _is_current(certificate: str) -> bool:
    """Return whether this program gives the answers that a certificate permits.

    Args:
        certificate: URL of one run, whose content never changes.

    Raises:
        QprError: it cannot be read.
    """
    from model.certificates.certificate import load_certificate  # imports scipy

    return load_certificate(certificate).certificate.version.is_current
