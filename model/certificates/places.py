"""Places of the certificates of an index, so that an alarm of one is seen wherever the next one is written.

index, certificate -> remember -> INDEX.certificates.json; index -> places -> certificates
"""

from __future__ import annotations

import pydantic

from schemas.artifacts import storage
from schemas.artifacts.conditional_writes import change
from schemas.artifacts.manifest import first_fault
from schemas.errors import QprError


class _Places(pydantic.BaseModel, extra="forbid"):
    """Content of the file: URLs of certificates, local ones absolute, in the order in which they were first made."""

    certificates: tuple[str, ...] = ()


def places_url(index: str) -> str:
    """Return the URL of the file beside the folder of an index, which stays when a new index is published there."""
    return f"{index.rstrip('/')}.certificates.json"


def places(index: str) -> tuple[str, ...]:
    """Return the URLs of all certificates that were made for the index at a URL, also for earlier ones there.

    Raises:
        QprError: the file is damaged or cannot be read.
    """
    return _parsed(index, storage.read_if_there(places_url(index)))


def remember(index: str, certificate: str) -> None:
    """Add the URL of a certificate to those of the index at a URL.

    Raises:
        QprError: the file is damaged or cannot be written, or other processes change it all the time.
    """
    place = storage.local_path(certificate) or certificate

    def added(before: bytes | None) -> tuple[bytes, None]:
        listed = dict.fromkeys((*_parsed(index, before), place))
        return (_Places(certificates=tuple(listed)).model_dump_json(indent=2) + "\n").encode(), None

    change(places_url(index), added)


def _parsed(index: str, content: bytes | None) -> tuple[str, ...]:
    if content is None:
        return ()
    try:
        return _Places.model_validate_json(content).certificates
    except pydantic.ValidationError as error:
        fault = first_fault(error)
        raise QprError(f"{places_url(index)}: damaged: {fault}. Restore it from a copy, or remove it") from error
