"""A process that searches one version of an index for a server, until the server's end of the connection is closed.

socket -> messages -> Version -> outcomes -> messages
"""

from __future__ import annotations

import gc
import signal
import socket
import traceback
from collections.abc import Mapping
from typing import Any

from jobs.web.processes.messages import call_of, framed, outcomes_message, received
from jobs.web.versions.leases import Version
from jobs.web.versions.opening import Opener, open_version
from jobs.web.versions.outcomes import outcomes, use_one_thread
from jobs.workflows.warehouses.version_reading import Readable
from schemas.errors import QprError


def work(connection: socket.socket, open_searcher: Opener) -> None:
    """Open the version that the first message names, then answer the others.

    A signal that all processes of a server get is for the server alone, which finishes requests that run.

    Args:
        connection: to the server.
        open_searcher: opens the index with its certificate.
    """
    for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
        signal.signal(number, signal.SIG_IGN)
    use_one_thread()
    messages = received(connection)
    first = next(messages)
    try:
        version = _opened(first, open_searcher)
    except QprError as error:
        connection.sendall(framed({"refused": str(error)}))
        return
    gc.collect()
    gc.freeze()  # later collections need not pass over the objects of the index
    connection.sendall(framed({"opened": version.name}))
    blocked = frozenset[str]()
    for message in messages:
        if message["do"] == "block":
            blocked |= set(message["ids"])
        else:
            connection.sendall(framed(_searched(message, version, blocked)))


def _opened(message: Mapping[str, Any], open_searcher: Opener) -> Version:
    """Return the version that a message names.

    Raises:
        QprError: it cannot be opened, or another one is at its place now.
    """
    readable = Readable(message["index"], message["certificate"])
    version = open_version(readable, open_searcher)
    if version.name != message["version"]:
        raise QprError(f"{readable.url}: has version {version.name} now, not {message['version']}")
    return version


def _searched(message: Mapping[str, Any], version: Version, blocked: frozenset[str]) -> dict[str, Any]:
    call = call_of(message, version, blocked)
    results = outcomes(call, message["parts"])
    for outcome in results:
        if isinstance(outcome, Exception) and not isinstance(outcome, QprError):
            traceback.print_exception(outcome)
    return outcomes_message(call, results)
