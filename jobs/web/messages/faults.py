"""Faults of requests, each a status and one plain sentence.

Fault -> response -> JSON with the sentence as ``error``
"""

from __future__ import annotations

import contextlib
import sys
from collections.abc import Iterator, Mapping
from typing import Any

import orjson
from starlette.responses import Response

from jobs.web.metrics import Cause
from model.index.rows.row_filters import UnknownValueError
from schemas.errors import QprError, UsageError


class Fault(Exception):  # noqa: N818  # a fault of the request, not of this program
    """A request that is refused.

    Attributes:
        status: of the response.
        message: one sentence for the client.
        cause: short name in the metrics.
        headers: of the response.
    """

    def __init__(
        self, status: int, message: str, cause: Cause = "invalid", headers: Mapping[str, str] | None = None
    ) -> None:
        super().__init__(message)
        self.status = status
        self.message = message
        self.cause = cause
        self.headers = headers


DEFECT = Fault(500, "a defect of the server; its log has the cause", "defect")


@contextlib.contextmanager
def explaining_refusals() -> Iterator[None]:
    """Turn the refusal of a searcher into a fault of the request."""
    try:
        yield
    except UnknownValueError as error:
        raise Fault(404, str(error), "not_found") from error
    except UsageError as error:
        raise Fault(422, str(error)) from error


@contextlib.contextmanager
def reporting_files() -> Iterator[None]:
    """Turn a failure to read or write a file of the server into a fault with the file's name, and print its cause."""
    try:
        yield
    except QprError as error:
        sys.stderr.write(f"error: {error}\n")
        raise Fault(503, f"{error}. Repeat the request when this is corrected", "files") from error


def response(fault: Fault) -> Response:
    """Return the response to a request with a fault."""
    return json_response({"error": fault.message}, fault.status, fault.headers)


def json_response(document: Any, status: int = 200, headers: Mapping[str, str] | None = None) -> Response:
    """Return a response with a JSON document of plain Python objects."""
    return Response(orjson.dumps(document), status, headers=headers, media_type="application/json")
