"""Faults of requests, each a status and one plain sentence.

Fault -> response -> JSON with the sentence as ``error``
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import orjson
from starlette.responses import Response


class Fault(Exception):  # noqa: N818  # a fault of the request, not of this program
    """A request that is refused.

    Attributes:
        status: of the response.
        message: one sentence for the client.
        cause: short name in the metrics.
        headers: of the response.
    """

    def __init__(
        self, status: int, message: str, cause: str = "invalid", headers: Mapping[str, str] | None = None
    ) -> None:
        super().__init__(message)
        self.status = status
        self.message = message
        self.cause = cause
        self.headers = headers


DEFECT = Fault(500, "a defect of the server; its log has the cause", "defect")


def response(fault: Fault) -> Response:
    """Return the response to a request with a fault."""
    return json_response({"error": fault.message}, fault.status, fault.headers)


def json_response(document: Any, status: int = 200, headers: Mapping[str, str] | None = None) -> Response:
    """Return a response with a JSON document of plain Python objects."""
    return Response(orjson.dumps(document), status, headers=headers, media_type="application/json")
