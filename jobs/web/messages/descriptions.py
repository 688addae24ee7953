"""Addresses of the server with their descriptions for its OpenAPI document.

address, title, statuses, model of the body -> route -> an endpoint of the application
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Final, TypeVar, get_args

import pydantic
from fastapi import FastAPI

from jobs.web.messages.addresses import gate_statuses
from jobs.web.messages.bodies import MODE
from jobs.web.messages.documents import FaultDocument
from jobs.web.settings import Limits, Serving
from model.choices import Mode
from schemas.filters import MAX_VALUE_CHARACTERS

_Endpoint = TypeVar("_Endpoint", bound=Callable[..., Any])

DESCRIPTION = """HTTP server of an index of questions. It finds the questions of the index that are most similar
to a new one, and returns the answer of one of them, or none where it is not sure enough.

Bodies are JSON objects with known fields only. 64-bit ids are strings. The response to a refused request has one
sentence in its field error.
"""

_FAULTS = {
    400: "The request is no valid HTTP, or its body no valid JSON.",
    401: "The bearer token is missing or wrong.",
    403: "A page of another site asks.",
    404: "There is none with this id, or no question with this value.",
    408: "The head of the request was not complete in time.",
    409: "The server cannot do this as it was started, or in its present state.",
    413: "The body is too large.",
    415: "The Content-Type is not application/json.",
    421: "The request is not for this host.",
    422: "A parameter or a field is missing, unknown, given twice or out of bounds.",
    429: "Too many requests of this client.",
    431: "The head of the request is too large.",
    503: "Busy, not ready or about to end, or a file of the server cannot be read or written.",
    504: "Not done in time.",
}

EXAMPLE: Final = "how do I pay my bill"
"""Question of the examples."""

_ID, _VALUE = "ID", "VALUE"
"""Ids and values of the examples, for which a person puts in those of the index."""


def route(
    app: FastAPI,
    settings: Serving,
    address: str,
    summary: str,
    *statuses: int,
    returns: Any = None,
    body: dict[str, Any] | None = None,
    parameters: list[dict[str, Any]] | None = None,
) -> Callable[[_Endpoint], _Endpoint]:
    """Return a decorator that adds an endpoint and its description to an application.

    Args:
        app: the application.
        settings: of the server.
        address: method and path, such as "GET /search".
        summary: one sentence.
        statuses: of its faults, beside those of the connection and the gate.
        returns: type of the response; None: text.
        body: by `body_schema`.
        parameters: of the path or the query.
    """
    method, path = address.split(" ")
    refused = gate_statuses(path, has_token=settings.token_file is not None, has_rate=settings.limits.rate is not None)
    faults: dict[int | str, dict[str, Any]] = {
        status: {"description": _FAULTS[status], "model": FaultDocument} for status in sorted({*statuses, *refused})
    }
    extra: dict[str, Any] = {} if body is None else {"requestBody": body}
    if parameters:
        extra["parameters"] = parameters
    text = {"description": "Text.", "content": {"text/plain": {"schema": {"type": "string"}}}}
    good = text if returns is None else {"description": summary, "model": returns}
    return app.api_route(path, methods=[method], summary=summary, responses={200: good, **faults}, openapi_extra=extra)


def body_schema(model: type[pydantic.BaseModel], columns: Sequence[str] = (), **fields: Any) -> dict[str, Any]:
    """Return the description of a body, with an example.

    Args:
        model: of the body.
        columns: that it names a value of.
        fields: of the example, beside question and values.
    """
    example = {"question": EXAMPLE, **fields} | ({"filters": dict.fromkeys(columns, _VALUE)} if columns else {})
    return {
        "required": True,
        "content": {"application/json": {"schema": model.model_json_schema(), "example": example}},
    }


def describe_modes(document: dict[str, Any], modes: Sequence[Mode]) -> dict[str, Any]:
    """Name the ways of searching of the index that answers, and return the document.

    Args:
        document: of OpenAPI; it is changed.
        modes: of the index.
    """
    methods = document["paths"]["/search"]
    [parameter] = [parameter for parameter in methods["get"]["parameters"] if parameter["name"] == "mode"]
    body = methods["post"]["requestBody"]["content"]["application/json"]["schema"]
    for schema in (parameter["schema"], body["properties"]["mode"]["anyOf"][0]):
        schema["enum"] = [*modes]
    return document


def search_parameters(limits: Limits, columns: Sequence[str]) -> list[dict[str, Any]]:
    """Return the parameters of ``GET /search``, whose index has these columns to vary by."""
    text = {"type": "string", "maxLength": limits.max_characters}
    way = {"type": "string", "enum": [*get_args(Mode)]}
    number = {"type": "integer", "minimum": 1, "maximum": limits.most_k, "default": limits.default_k}
    asked = {"required": True, "schema": text, "description": "The question.", "example": EXAMPLE}
    return [
        {"name": "q", "in": "query", **asked},
        {"name": "k", "in": "query", "required": False, "schema": number, "description": "Maximum hits."},
        {"name": "mode", "in": "query", "required": False, "schema": way, "description": MODE},
        *column_parameters(columns),
    ]


def column_parameters(columns: Sequence[str]) -> list[dict[str, Any]]:
    """Return the parameters of an address that name a value of each column."""
    value = {"type": "string", "minLength": 1, "maxLength": MAX_VALUE_CHARACTERS}
    more = {"in": "query", "required": True, "schema": value, "example": _VALUE}
    return [{"name": name, "description": f"Value of {name}.", **more} for name in columns]


def id_parameter(noun: str, columns: Sequence[str] = ()) -> list[dict[str, Any]]:
    """Return the parameters of an address that names something by its id, and a value of each column."""
    named = {"required": True, "schema": {"type": "string", "minLength": 1}, "example": _ID}
    return [
        {"name": "id", "in": "path", "description": f"Id of the {noun}.", **named},
        *column_parameters(columns),
    ]
