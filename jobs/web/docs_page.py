"""The page that describes the addresses of the server, without an asset of another site.

OpenAPI document -> docs_page -> HTML
"""

from __future__ import annotations

import json
import re
import shlex
from collections.abc import Mapping
from typing import Any, Final
from urllib.parse import urlencode

from jobs.display.rendering import render
from jobs.web.messages.addresses import needs_token

_HOST: Final = re.compile(r"[\w.:\[\]-]{1,260}", re.ASCII)
"""A host with its port; another one is not printed as part of a command."""

_Schema = Mapping[str, Any]


def docs_page(document: Mapping[str, Any], host: str, *, with_token: bool) -> bytes:
    """Return the page of an OpenAPI document.

    Args:
        document: with an example of each required parameter and each body.
        host: that the browser asked, with its port; the commands of the page name it.
        with_token: the server needs a token.
    """
    server = f"http://{host if _HOST.fullmatch(host) else '127.0.0.1:8080'}"
    operations = [
        {
            "name": f"{method.upper()} {path}",
            "summary": operation["summary"],
            "parameters": [
                {
                    "name": parameter["name"],
                    "kind": kind_text(parameter["schema"], required=parameter["required"]),
                    **_text(parameter),
                }
                for parameter in operation.get("parameters", [])
            ],
            "fields": _fields(operation),
            "command": _command(method.upper(), path, operation, server, with_token=with_token and needs_token(path)),
            "statuses": {status: answer["description"] for status, answer in operation["responses"].items()},
        }
        for path, methods in document["paths"].items()
        for method, operation in methods.items()
    ]
    about = document["info"]
    return render(
        "api.html",
        title=about["title"],
        version=about["version"],
        paragraphs=about["description"].strip().split("\n\n"),
        operations=operations,
    ).encode()


def kind_text(schema: _Schema, *, required: bool) -> str:
    """Return type, range and default of a parameter or a field, such as "integer, 1 to 100, default 10"."""
    kinds = [kind for kind in schema.get("anyOf", [schema]) if kind.get("type") != "null"]
    parts = [*map(_kind, kinds)]
    if required:
        parts.append("required")
    elif schema.get("default") is not None:
        parts.append(f"default {schema['default']}")
    return ", ".join(parts)


def _kind(schema: _Schema) -> str:
    """Return type and range of a value."""
    if "enum" in schema:
        return f"one of {', '.join(schema['enum'])}"
    if schema["type"] == "object":
        return f"object with {', '.join(schema['properties'])}"
    if schema["type"] == "array":
        return f"list of 1 to {schema['maxItems']:,}, each a {_kind(schema['items'])}"
    texts = {
        "minimum": f"{schema.get('minimum', 0):,.15g} to {schema.get('maximum', 0):,.15g}",
        "maxLength": f"at most {schema.get('maxLength', 0):,} characters",
        "pattern": f"pattern {schema.get('pattern')}",
    }
    return ", ".join([schema["type"], *(text for name, text in texts.items() if name in schema)])


def _text(described: _Schema) -> dict[str, str]:
    return {"text": described.get("description", "")}


def _fields(operation: Mapping[str, Any]) -> list[dict[str, str]]:
    """Return the fields of an operation's body; none if it takes no body."""
    if "requestBody" not in operation:
        return []
    schema = operation["requestBody"]["content"]["application/json"]["schema"]
    required = schema.get("required", ())
    return [
        {"name": name, "kind": kind_text(field, required=name in required), **_text(field)}
        for name, field in schema["properties"].items()
    ]


def _command(method: str, path: str, operation: Mapping[str, Any], server: str, *, with_token: bool) -> str:
    """Return a command line that sends the example of an operation."""
    examples: dict[str, dict[str, str]] = {"path": {}, "query": {}}
    for parameter in operation.get("parameters", []):
        if "example" in parameter:
            examples[parameter["in"]][parameter["name"]] = parameter["example"]
    query = f"?{urlencode(examples['query'])}" if examples["query"] else ""
    words = ["curl", *(() if method == "GET" or "requestBody" in operation else ("-X", method))]
    words.append(f"{server}{path.format(**examples['path'])}{query}")
    if with_token:
        words += ["-H", "Authorization: Bearer TOKEN"]
    if "requestBody" in operation:
        example = operation["requestBody"]["content"]["application/json"]["example"]
        words += ["-H", "Content-Type: application/json", "-d", json.dumps(example)]
    return shlex.join(words)
