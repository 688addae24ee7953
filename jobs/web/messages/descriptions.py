"""Descriptions of the server's addresses for its OpenAPI document.

title, statuses, model of the body -> described -> arguments of a route
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pydantic

from jobs.web.messages.bodies import DEFAULT_K, MODE
from jobs.web.messages.documents import FaultDocument
from jobs.web.settings import Limits
from model.choices import Mode
from schemas.filters import MAX_VALUE_CHARACTERS

DESCRIPTION = """Questions, and answers people can rely on.

Bodies are JSON with known fields only. 64-bit ids are strings. A refused request has a status and one sentence as
`error`.
"""

_FAULTS = {
    400: "The body is no JSON.",
    401: "The bearer token is missing or wrong.",
    403: "A page of another site asks.",
    404: "There is none with this id, or no question with this value.",
    409: "The server cannot do this as it was started.",
    413: "The body is too large.",
    415: "The body is no JSON by its type.",
    421: "The request is not for this host.",
    422: "A parameter or a field is missing, unknown or out of bounds.",
    429: "Too many requests of this client.",
    503: "Busy, or not ready.",
    504: "Not done in time.",
}

_ANYWHERE = (401, 403, 421, 422, 429, 503, 504)
"""Statuses that the gate gives at any address."""


def described(
    summary: str,
    *statuses: int,
    returns: Any = None,
    body: dict[str, Any] | None = None,
    parameters: list[dict[str, Any]] | None = None,
) -> dict[str, Any]:
    """Return the arguments of a route.

    Args:
        summary: one sentence.
        statuses: of its faults, beside those of the gate.
        returns: type of the response; None: text.
        body: by `body_schema`.
        parameters: of the path or the query.
    """
    faults = {
        status: {"description": _FAULTS[status], "model": FaultDocument} for status in sorted({*statuses, *_ANYWHERE})
    }
    extra: dict[str, Any] = {} if body is None else {"requestBody": body}
    if parameters:
        extra["parameters"] = parameters
    text = {"description": "Text.", "content": {"text/plain": {"schema": {"type": "string"}}}}
    good = text if returns is None else {"description": summary, "model": returns}
    return {"summary": summary, "responses": {200: good, **faults}, "openapi_extra": extra}


def body_schema(model: type[pydantic.BaseModel]) -> dict[str, Any]:
    """Return the description of a body."""
    return {"required": True, "content": {"application/json": {"schema": model.model_json_schema()}}}


def search_parameters(limits: Limits, modes: Sequence[Mode], columns: Sequence[str] = ()) -> list[dict[str, Any]]:
    """Return the parameters of ``GET /search``, whose index has these ways of searching and columns to vary by."""
    text = {"type": "string", "maxLength": limits.max_characters}
    way = {"type": "string", "enum": [*modes]}
    number = {"type": "integer", "minimum": 1, "maximum": limits.max_k, "default": min(DEFAULT_K, limits.max_k)}
    return [
        {"name": "q", "in": "query", "required": True, "schema": text, "description": "The question."},
        {"name": "k", "in": "query", "required": False, "schema": number, "description": "Maximum hits."},
        {"name": "mode", "in": "query", "required": False, "schema": way, "description": MODE},
        *column_parameters(columns),
    ]


def column_parameters(columns: Sequence[str]) -> list[dict[str, Any]]:
    """Return the parameters of an address that name a value of each column."""
    value = {"type": "string", "minLength": 1, "maxLength": MAX_VALUE_CHARACTERS}
    return [
        {"name": name, "in": "query", "required": True, "schema": value, "description": f"Value of {name}."}
        for name in columns
    ]


def id_parameter(noun: str, columns: Sequence[str] = ()) -> list[dict[str, Any]]:
    """Return the parameters of an address that names something by its id, and a value of each column."""
    schema = {"type": "string", "minLength": 1}
    return [
        {"name": "id", "in": "path", "required": True, "schema": schema, "description": f"Id of the {noun}."},
        *column_parameters(columns),
    ]
