"""The process that serves an index until it is stopped.

settings, Readable -> serve -> socket, versions, application -> requests, until SIGTERM
"""

from __future__ import annotations

import contextlib
import functools
import gc
import sys
from collections.abc import Iterator, Sequence

from jobs.web.app import create_app
from jobs.web.exchange import Exchange
from jobs.web.listening import Server, address_of, listening
from jobs.web.processes.group import start_processes
from jobs.web.protection.gate import Gate
from jobs.web.protection.tokens import checked_token, is_local
from jobs.web.service import Service
from jobs.web.settings import Serving
from jobs.web.state import locked_state
from jobs.web.versions.leases import Versions
from jobs.web.versions.opening import Opener, open_version
from jobs.workflows.warehouses.version_reading import Readable
from schemas.errors import UsageError

_SWITCH_S = 0.0005
"""Seconds after which a thread that computes gives way to the event loop. Beside a client with 512 questions a request,
the median of single ones was 31 to 334 ms in three runs with Python's 5 ms; with .5 ms it was 13 to 42 ms."""


def serve(readable: Readable, settings: Serving, open_searcher: Opener, process: Sequence[str]) -> None:
    """Serve an index until SIGTERM or SIGINT; requests that run then are finished.

    Args:
        readable: place of the index, where new versions are published.
        settings: of the server.
        open_searcher: opens the index and its later versions, each with its certificate.
        process: command line of a process that searches.

    Raises:
        QprError: the address or the state is in use, the token file is no good, or the index cannot be opened.
        UsageError: other machines could connect without a token, or answers are to be drawn without a state.
    """
    if "audits" in settings.model_fields_set and settings.audits and settings.state is None:
        raise UsageError("--audits: are drawn into the folder of --state; give that too")
    token = checked_token(settings.host, settings.token_file)
    with contextlib.ExitStack() as stack:
        state = stack.enter_context(locked_state(settings.state))
        listener = stack.enter_context(listening(settings.host, settings.port))
        stack.enter_context(_giving_way())
        versions = Versions(open_version(readable, open_searcher))
        stack.callback(versions.close)
        start = functools.partial(start_processes, count=settings.processes, command=process)
        start(versions.current)
        service = Service(settings, versions, state)
        stack.callback(service.close)  # before the lock on the state is released
        gc.collect()
        gc.freeze()  # later collections need not pass over the objects of the index
        exchange = Exchange(service, readable, open_searcher, start)
        app = create_app(service, exchange)
        gate = Gate(app, settings=settings, metrics=service.metrics, token=token, local=is_local(settings.host))
        greeting = f"serving {readable.url} at {address_of(listener)}, version {service.versions.current.name}"
        Server(gate, greeting, drain=settings.drain, reload=exchange.reload).run([listener])


@contextlib.contextmanager
def _giving_way() -> Iterator[None]:
    """Shorten the interval after which threads of this process give way, until the block ends."""
    before = sys.getswitchinterval()
    sys.setswitchinterval(_SWITCH_S)
    try:
        yield
    finally:
        sys.setswitchinterval(before)
