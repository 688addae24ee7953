"""The console script.

argv -> main -> a command of `jobs.commands.registry` -> exit code
"""

from __future__ import annotations

import atexit
import contextlib
import errno
import gc
import os
import signal
import sys
from collections.abc import Callable, Sequence
from typing import NoReturn

from schemas.errors import NO_WINDOWS, QprError

BEAM_COMMANDS = frozenset({"clusters", "quora", "index", "ingest", "nightly"})
"""Commands that hand everything after ``--`` to Apache Beam.

Their tables are freed without the collector of cycles, which searches less often for them.
"""


def main(arguments: Sequence[str] | None = None) -> None:
    """Run ``qpr`` with ``arguments`` (those of the process by default) and exit with its code."""
    if sys.platform == "win32":
        sys.exit(f"error: {NO_WINDOWS}")
    given = list(sys.argv[1:] if arguments is None else arguments)
    if arguments is None and given[:1] == ["serve"]:
        signal.signal(signal.SIGHUP, signal.SIG_IGN)  # until it listens: systemd restarts none that SIGHUP has ended
    from jobs.machine.libraries import set_up_libraries
    from jobs.machine.limits import allow_files  # needs a module that Windows lacks

    ended = [] if arguments is not None else _end_of_process()
    if sys.stdout is None:  # closed: its number, which the next file would get, is taken, and what is printed fails
        sys.stdout = os.fdopen(os.open(os.devnull, os.O_RDONLY), "w", encoding="utf-8")
    allow_files()
    set_up_libraries(given[0] if given else "")
    if given and given[0] in BEAM_COMMANDS:
        gc.set_threshold(50_000, 20, 100)  # by default 500 collections while modules load, a sixth of a small run
    try:
        from jobs.commands.registry import app
        from jobs.display.console import run_explained
    except KeyboardInterrupt:  # half a second in which Ctrl-C would show the imports
        sys.exit(130)
    own, beam_options = given, []
    if given and given[0] in BEAM_COMMANDS and "--" in given:
        cut = given.index("--")
        own, beam_options = given[:cut], given[cut + 1 :]
    code = run_explained(lambda: _run(lambda: app(own, obj=beam_options, prog_name="qpr")), own)
    _drop_unwritten()
    if os.environ.get("WORLD_SIZE", "1") != "1":
        _end_now(code)
    ended.append(code)
    sys.exit(code)


def _run(command: Callable[[], None]) -> None:
    """Run a command of Typer's, which ends with an exit, and write all of its results.

    Raises:
        QprError: standard output is closed.
        OSError: the results cannot be written; at its end Python would not explain that.
    """
    try:
        try:
            command()
        except SystemExit:
            sys.stdout.flush()
            raise
    except OSError as error:
        if error.errno == errno.EBADF:
            raise QprError("standard output: is closed. Open it, such as by >/dev/null") from error
        raise


def _drop_unwritten() -> None:
    """Drop results that cannot be written, once that is explained; at its end Python would report it again."""
    try:
        sys.stdout.flush()
    except OSError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def _end_of_process() -> list[int]:
    """Return an empty list; with an exit code in it the process ends after its threads and all later exit handlers.

    Python would then free each object and unload each library, which the system does at once.
    """
    codes: list[int] = []
    atexit.register(lambda: _end_now(codes[0]) if codes else None)
    return codes


def _end_now(code: int) -> NoReturn:
    """End the process without the end of Python.

    In a process that `torchrun` started, a thread of gloo's may ask for Python's lock too late and abort it although
    its work is done, which `torchrun` then reports as a failed training (pytorch, pull request 179291).
    """
    for stream in filter(None, (sys.stdout, sys.stderr)):
        with contextlib.suppress(OSError, ValueError):  # closed by the reader, or by an exit handler
            stream.flush()
    os._exit(code)
