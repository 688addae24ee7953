"""Claim of an output, so that one run writes to it at a time.

output's URL, holder -> claim -> LocalClaim or LeasedClaim
"""

from __future__ import annotations

import sys
from typing import Protocol

from fsspec.implementations.local import LocalFileSystem

from schemas.artifacts import storage
from schemas.artifacts.holder import Holder
from schemas.artifacts.leased_claim import CLAIMS, LeasedClaim

CLAIM = "claim.json"
"""The file of a local claim."""

NAMES = frozenset({CLAIM, CLAIMS})
"""What a claim may leave in an output's folder, if its process is killed."""


class Claim(Protocol):
    """The right to write to an output."""

    def holds(self) -> bool:
        """Return whether the claim still stands."""

    def taker(self) -> Holder | None:
        """Return the run that holds the place now; None if it cannot be told."""

    def release(self) -> None:
        """Give the place to the next run; a second time does nothing."""


def claim(url: str, holder: Holder) -> Claim:
    """Return the claim of a run on the folder of its output; that of a dead run is taken over.

    Raises:
        HeldError: another run has it.
        QprError: the folder cannot be written to.
    """
    file_system, path = storage.locate(url)
    if sys.platform == "win32" or not isinstance(file_system, LocalFileSystem):
        return LeasedClaim(url, holder)
    from schemas.artifacts.local_claim import LocalClaim, NoLocksError  # needs fcntl, which Windows lacks

    try:
        with storage.explained(url):
            return LocalClaim(storage.join(path, CLAIM), url=url, holder=holder)
    except NoLocksError:
        return LeasedClaim(url, holder)
