"""Messages between a server and the processes that search for it: JSON, each after its length.

Call, questions of requests -> call_message -> call_of; outcomes -> outcomes_message -> outcomes_of
"""

from __future__ import annotations

import contextlib
import operator
import socket
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, Final

import orjson

from jobs.web.versions.calls import Call, Listed, Listing
from jobs.web.versions.leases import Version
from jobs.web.versions.outcomes import Outcome
from model.index.rows.row_filters import UnknownValueError
from model.search.results import Answer, Hit, Why
from schemas.errors import FilterError, QprError, UsageError
from schemas.tables import INDEX_ROWS

_LENGTH: Final = 8
"""Bytes of the length of a message."""

_ERRORS: Final[Mapping[str, type[Exception]]] = {
    kind.__name__: kind for kind in (UnknownValueError, FilterError, UsageError, QprError)
}
"""Errors that the server explains to clients, the special ones first; any other is a defect."""

_OF_RECORD: Final[list[str]] = INDEX_ROWS.names
_record: Final = operator.attrgetter(*_OF_RECORD)

_READ_BYTES: Final = 2**18
"""Bytes that are read from a connection at a time."""


class SearchProcessError(Exception):
    """A defect while a search process searched, which has printed the cause."""


def framed(message: Mapping[str, Any]) -> bytes:
    """Return a message as bytes."""
    body = orjson.dumps(message)
    return len(body).to_bytes(_LENGTH, "big") + body


def received(connection: socket.socket) -> Iterator[dict[str, Any]]:
    """Yield the messages of a connection until it is closed, or the process at its other end has ended."""
    frames = Frames()
    with contextlib.suppress(ConnectionResetError):  # it ended before it had read all
        while data := connection.recv(_READ_BYTES):
            yield from frames.feed(data)


class Frames:
    """Cuts the bytes of a connection into messages."""

    def __init__(self) -> None:
        self._bytes = bytearray()

    def feed(self, data: bytes) -> Iterator[dict[str, Any]]:
        """Yield the messages that are complete with further bytes."""
        self._bytes += data
        while len(self._bytes) >= _LENGTH:
            end = _LENGTH + int.from_bytes(self._bytes[:_LENGTH], "big")
            if len(self._bytes) < end:
                return
            message = orjson.loads(memoryview(self._bytes)[_LENGTH:end])
            del self._bytes[:end]
            yield message


def call_message(call: Call, parts: Sequence[Sequence[str]]) -> dict[str, Any]:
    """Return the message that asks for a call.

    Args:
        call: the blocked answers of its listing have a message of their own.
        parts: questions of each request.
    """
    return {
        "do": "search",
        "kind": call.kind,
        "k": call.k,
        "mode": call.mode,
        "filters": call.filters,
        "listing": None if call.listing is None else [call.listing.k, call.listing.past],
        "parts": parts,
    }


def call_of(message: Mapping[str, Any], version: Version, blocked: frozenset[str]) -> Call:
    """Return the call that a message asks for, with these ids of blocked answers."""
    filters = tuple((name, value) for name, value in message["filters"])
    listing = message["listing"] and Listing(message["listing"][0], blocked, message["listing"][1])
    return Call(version, message["kind"], message["k"], message["mode"], filters, listing)


def outcomes_message(call: Call, outcomes: Sequence[Outcome]) -> dict[str, Any]:
    """Return the message with the outcomes of a call."""
    row_of = _rows(call)[0]
    return {
        "outcomes": [
            {"error": _error_row(outcome)} if isinstance(outcome, Exception) else {"found": [*map(row_of, outcome)]}
            for outcome in outcomes
        ]
    }


def outcomes_of(call: Call, message: Mapping[str, Any], parts: Sequence[Sequence[str]]) -> list[Outcome]:
    """Return the outcomes that a message has.

    Args:
        call: that was made.
        message: of the process that made it.
        parts: questions of each request.

    Raises:
        ValueError: a request has no outcome, or a question no result.
    """
    of_row = _rows(call)[1]
    outcomes: list[Outcome] = [
        [*map(of_row, outcome["found"])] if "found" in outcome else _error_of(outcome["error"])
        for outcome in message["outcomes"]
    ]
    for part, outcome in zip(parts, outcomes, strict=True):
        if not isinstance(outcome, Exception) and len(outcome) != len(part):
            raise ValueError("a process that searches gave another number of results than it was asked for")
    return outcomes


def _rows(call: Call) -> tuple[Callable[[Any], Any], Callable[[Any], Any]]:
    """Return the functions from a result to JSON, and back."""
    if call.kind == "answer":
        return _answer_row, _answer_of
    if call.listing is None:
        return (lambda hits: [*map(_hit_row, hits)]), (lambda rows: [*map(_hit_of, rows)])
    return tuple, Listed._make


def _hit_row(hit: Hit) -> list[Any]:
    why = hit.why
    reasons = why.shared_words, why.dense_rank, why.lexical_rank, dict(why.contributions), why.guard
    return [hit.rank, _record(hit), hit.probability, reasons]


def _hit_of(row: Sequence[Any]) -> Hit:
    rank, record, probability, (shared, *others) = row
    return Hit.of(dict(zip(_OF_RECORD, record, strict=True)), rank, probability, Why(tuple(shared), *others))


def _answer_row(answer: Answer) -> list[Any]:
    hit = None if answer.hit is None else _hit_row(answer.hit)
    return [answer.question, answer.answered, answer.reason, hit, answer.certificate, [*map(_hit_row, answer.hits)]]


def _answer_of(row: Sequence[Any]) -> Answer:
    question, answered, reason, hit, certificate, hits = row
    best = None if hit is None else _hit_of(hit)
    return Answer(question, answered, reason, best, certificate, tuple(map(_hit_of, hits)))


def _error_row(error: Exception) -> tuple[str, str]:
    for name, kind in _ERRORS.items():
        if isinstance(error, kind):
            return name, error.fault if isinstance(error, FilterError) else str(error)
    return "", f"{type(error).__name__} in a process that searches, which has printed the cause"


def _error_of(row: Sequence[str]) -> Exception:
    name, text = row
    return _ERRORS.get(name, SearchProcessError)(text)
