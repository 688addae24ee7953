"""A process that `qpr serve --processes` starts: it opens what its first message names, and searches for the server.

settings of the searcher as JSON, descriptor of a socket -> jobs.web.processes.worker
"""

from __future__ import annotations

import contextlib
import functools
import socket
import sys
from collections.abc import Sequence

from jobs.web.processes.worker import work
from jobs.web.versions.opening import Opener
from model.search.searcher import open_searcher
from model.search.settings import Opening


def opener(opening: Opening) -> Opener:
    """Return the function that opens an index for a server, with these settings."""
    return functools.partial(open_searcher, compiled=True, **opening.model_dump())


def command(opening: Opening) -> Sequence[str]:
    """Return the command line of a process, but for its last argument, the descriptor."""
    checked = opening.model_copy(update={"verify": False})  # the server checks all files
    return [sys.executable, "-P", "-m", __name__, checked.model_dump_json()]


if __name__ == "__main__":
    with socket.socket(fileno=int(sys.argv[2])) as connection, contextlib.suppress(ConnectionError):
        work(connection, opener(Opening.model_validate_json(sys.argv[1])))  # without a server nobody waits for the rest
