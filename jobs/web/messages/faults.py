"""Faults of requests, each a status and one plain sentence.

Fault -> response -> JSON with the sentence as ``error``
"""

from __future__ import annotations

import contextlib
import re
import sys
from collections.abc import Iterator, Mapping
from typing import Any, Final

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


_HIGH_CONTROL: Final = re.compile(rb"\x7f|\xc2[\x80-\x9f]")
_HIGH_CONTROLS: Final = [(chr(code).encode(), rf"\u{code:04x}".encode()) for code in range(0x7F, 0xA0)]

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


def json_bytes(document: Any) -> bytes:
    """Return JSON of plain Python objects, all control characters spelled: curl and a log print it on terminals.

    orjson leaves those from U+007F to U+009F as they are.
    """
    content = orjson.dumps(document)
    if _HIGH_CONTROL.search(content):
        for control, spelled in _HIGH_CONTROLS:  # .4 s for 6 MB of them; a substitution by the expression takes 2 s
            content = content.replace(control, spelled)
    return content


def json_response(document: Any, status: int = 200, headers: Mapping[str, str] | None = None) -> Response:
    """Return a response with a JSON document of plain Python objects."""
    return Response(json_bytes(document), status, headers=headers, media_type="application/json")
