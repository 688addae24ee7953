"""Results of the requests that are searched together, each with its own error.

Call, questions of each request -> outcomes -> results, or an error, of each request
"""

from __future__ import annotations

import itertools
import time
from collections.abc import Sequence
from typing import Any

from jobs.web.versions.calls import Call

FEW = 4
"""Questions that may hold up the event loop, together, where threads would take turns in the interpreter."""

Outcome = Sequence[Any] | Exception
"""Results of the questions of a request, or why it has none."""


def outcomes(call: Call, parts: Sequence[Sequence[str]]) -> list[Outcome]:
    """Return the outcome of each request, of which these are the questions, and remember the time of few questions."""
    questions = [*itertools.chain.from_iterable(parts)]
    began = time.thread_time()
    of_parts = [_outcome(call, questions)]  # no variable is an error: it leads to the variables of this function
    if isinstance(of_parts[0], Exception):  # one request's error must not become that of its neighbours
        of_parts[:] = [_outcome(call, part) for part in parts]
    else:
        results = iter(of_parts[0])
        of_parts[:] = [[*itertools.islice(results, len(part))] for part in parts]
    if len(questions) <= FEW and not call.makes_view:
        call.version.seconds[call.way] = (time.thread_time() - began) / len(questions)
    return of_parts


def _outcome(call: Call, questions: Sequence[str]) -> Outcome:
    try:
        return call(questions)
    except Exception as error:  # noqa: BLE001  # raised again where the request waits
        return error


def use_one_thread() -> None:
    """Limit FAISS to one thread for searches of this thread."""
    import faiss

    faiss.omp_set_num_threads(1)
