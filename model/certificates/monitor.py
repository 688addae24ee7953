"""The watch over certificates in use: some of the given answers are judged every day.

verdicts on given answers -> record -> Monitor beside the certificate -> alarm: from then on exact questions only

The certificates of a warehouse that promise the same have one monitor, in its folder `certificates`. Another
certificate has one beside its folder, which goes on when a new one with the same promise is made in its place.
"""

from __future__ import annotations

import datetime
import os
from collections.abc import Iterable
from typing import Final

import pydantic

from model.certificates.certificate import Loaded, load_certificate
from model.certificates.evidence import Audited, AuditVerdict, Monitor
from model.certificates.version import Version
from schemas.artifacts import storage
from schemas.artifacts.conditional_writes import change
from schemas.artifacts.manifest import first_fault
from schemas.artifacts.paths import WAREHOUSE_FILE
from schemas.errors import QprError

_SUFFIX: Final = ".monitor.json"
_FOLDER: Final = "certificates"
_ARTEFACTS: Final = (_FOLDER, "indexes")
"""Folders of a warehouse, in which last alarms are looked for."""


def monitor_url(certificate: str, alpha: float) -> str:
    """Return the URL of the monitor of a certificate.

    Args:
        certificate: URL of its folder.
        alpha: its promise.

    Raises:
        QprError: the store does not answer.
    """
    shared = _shared_folder(certificate)
    return _beside(certificate) if shared is None else storage.join(shared, f"alpha-{alpha!r}{_SUFFIX}")


def load_watched(url: str, version: Version) -> Loaded:
    """Read the certificate at an fsspec URL and its state; every byte and all its figures are checked.

    Args:
        url: of the certificate.
        version: of the opened answerer.

    Raises:
        QprError: there is none, it or its state was edited or damaged, or it is of another version.
    """
    loaded = load_certificate(url)
    loaded.check(version)
    return loaded._replace(alarm=is_ended(loaded))


def is_ended(loaded: Loaded) -> bool:
    """Return whether an alarm has ended a certificate.

    Raises:
        QprError: its state is damaged or cannot be read.
    """
    return read_monitor(loaded).ends(loaded.digest, loaded.certificate.created)


def read_monitor(loaded: Loaded) -> Monitor:
    """Return the state of a certificate and of those before it that promise the same; without a file a new one.

    Raises:
        QprError: a file is damaged or cannot be read.
    """
    url = monitor_url(loaded.url, loaded.certificate.alpha)
    return _state(url, storage.read_if_there(url), loaded)


def last_alarm(artefact: str) -> datetime.datetime | None:
    """Return the time of the last alarm at the place of a certificate, or of its warehouse; None: there was none.

    Args:
        artefact: URL of the certificate, or of an index of the warehouse.

    Raises:
        QprError: a file is damaged or cannot be read.
    """
    shared = _shared_folder(artefact)
    urls = [_beside(artefact)]
    if shared is not None:
        urls = [storage.join(shared, name) for name in storage.children(shared) if name.endswith(_SUFFIX)]
    states = [_parsed(url, content) for url in urls if (content := storage.read_if_there(url)) is not None]
    return max((state.alarmed for state in states if state.alarmed), default=None)


def enter(certificate: str) -> None:
    """Add the certificate at a URL to the state, from which on verdicts on its answers count.

    Raises:
        QprError: it or the state is damaged, cannot be read or written, or other processes change it all the time.
    """
    record(load_certificate(certificate), [], now=datetime.datetime.now(datetime.UTC))


def record(loaded: Loaded, verdicts: Iterable[AuditVerdict], *, now: datetime.datetime) -> Monitor:
    """Add a certificate and verdicts to the state, unless it has them, and return it.

    Args:
        loaded: the certificate in use.
        verdicts: on answers that were drawn at random from those that it or one of the state permitted.
        now: present time.

    Raises:
        ContradictionError: an answer was counted with the other verdict before; nothing is added.
        QprError: a verdict is about a certificate that is not in the state, the file is damaged or cannot be written,
            or other processes change it all the time.
    """
    url, listed = monitor_url(loaded.url, loaded.certificate.alpha), list(verdicts)

    def judged(before: bytes | None) -> tuple[bytes, Monitor]:
        state = _state(url, before, loaded).after(listed, now)
        return (state.model_dump_json(indent=2) + "\n").encode(), state

    return change(url, judged)


def _beside(certificate: str) -> str:
    return f"{certificate.rstrip('/')}{_SUFFIX}"


def _shared_folder(artefact: str) -> str | None:
    """Return the folder of the certificates of a warehouse, if a certificate or an index is one of its artefacts."""
    local = storage.local_path(artefact)
    place = artefact.rstrip("/") if local is None else os.path.abspath(local)
    warehouse, _, name = place.rpartition("/")[0].rpartition("/")
    is_of_warehouse = name in _ARTEFACTS and storage.exists(storage.join(warehouse, WAREHOUSE_FILE))
    return storage.join(warehouse, _FOLDER) if is_of_warehouse else None


def _state(url: str, content: bytes | None, loaded: Loaded) -> Monitor:
    """Return the state of a file that has or lacks the certificate in use, with it."""
    certificate = loaded.certificate
    state = Monitor(alpha=certificate.alpha) if content is None else _parsed(url, content)
    if state.alpha != certificate.alpha:  # another promise needs evidence of its own; an alarm still needs new requests
        state = Monitor(alpha=certificate.alpha, alarmed=state.alarmed)
    audited = Audited(certificate=loaded.digest, created=certificate.created)
    if url != (beside := _beside(loaded.url)) and state.of(loaded.digest) is None:
        earlier = storage.read_if_there(beside)  # releases before kept one for each certificate of a warehouse
        of_earlier = Monitor(alpha=certificate.alpha) if earlier is None else _parsed(beside, earlier)
        if of_earlier.alarmed and (state.alarmed is None or state.alarmed < of_earlier.alarmed):
            state = state.model_copy(update={"alarmed": of_earlier.alarmed})
        audited = (of_earlier.of(loaded.digest) or audited).model_copy(update={"created": certificate.created})
    return state.including(audited, certificate.created)


def _parsed(url: str, content: bytes) -> Monitor:
    try:
        return Monitor.model_validate_json(content)
    except pydantic.ValidationError as error:
        fault = first_fault(error)
        raise QprError(
            f"{url}: damaged: {fault}. Restore it from a copy, or remove it and certify by requests from then on"
        ) from error
