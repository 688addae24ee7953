"""Reading a version of a warehouse: its index and certificate, held by a lease until the reader ends.

--index and --certificate, or --warehouse and --at -> reading -> Served
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from typing import NamedTuple

from jobs.display.console import say, warn
from jobs.workflows.warehouses.versions import check_warehouse
from schemas.artifacts import storage
from schemas.errors import QprError, UsageError
from schemas.versions import history
from schemas.versions.leases import leased
from schemas.versions.version import check_artefact


class Served(NamedTuple):
    """URLs of an index and of its certificate; None: it has none."""

    index_url: str
    certificate: str | None


@contextlib.contextmanager
def reading(index: str | None, certificate: str | None, warehouse: str | None, at: str | None) -> Iterator[Served]:
    """Yield what to read; of a warehouse `qpr gc` removes nothing of the version until the block ends.

    Args:
        index: URL of an index.
        certificate: URL of its certificate; of a version by default its own.
        warehouse: in place of an index, a warehouse.
        at: number or date of the version; None: the current one.

    Raises:
        UsageError: neither an index nor a warehouse is given, or both are.
        QprError: there is no such version, or an artefact of it is gone.
    """
    if warehouse is None:
        if at is not None:
            raise UsageError(f"--at {at}: is a version of --warehouse; give that too")
        if index is None:
            raise UsageError("give --index, or --warehouse for the index of its current version")
        yield Served(index, certificate)
        return
    if index is not None:
        raise UsageError("--index: is an index by itself, --warehouse has those of its versions. Give either")
    check_warehouse(warehouse)
    found = history.current(warehouse) if at is None else history.version_at(warehouse, at)
    if found is None:
        raise QprError(f"{warehouse}: has no version yet; run `qpr nightly`")
    number, version = found
    with contextlib.ExitStack() as stack:
        try:
            stack.enter_context(leased(warehouse, number, version))
        except QprError as error:
            warn(f"no lease on version {number}: {error}. `qpr gc` may remove it while it is read")
        name = f"version {number}"
        erased = check_artefact(warehouse, version.index, "index", version=name).digest != version.index.digest
        if version.certificate:
            check_artefact(warehouse, version.certificate, "certificate", version=name)
        if version.certificate and erased and certificate is None:
            warn(f"questions were erased from {name}, so its certificate does not hold. The next night certifies again")
        elif version.certificate and certificate is None:
            certificate = storage.join(warehouse, version.certificate.path)
        say(f"version {number} of {version.date}, {'with a' if certificate else 'without a'} certificate")
        yield Served(storage.join(warehouse, version.index.path), certificate)
