"""The page that describes the addresses of the server, without an asset of another site.

OpenAPI document -> docs_page -> HTML
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from jobs.display.rendering import render


def docs_page(document: Mapping[str, Any]) -> bytes:
    """Return the page of an OpenAPI document."""
    operations = [
        {
            "name": f"{method.upper()} {path}",
            "summary": operation["summary"],
            "parameters": operation.get("parameters", []),
            "body": _schema(operation),
            "statuses": {status: answer["description"] for status, answer in operation["responses"].items()},
        }
        for path, methods in document["paths"].items()
        for method, operation in methods.items()
    ]
    about = document["info"]
    return render(
        "api.html", title=about["title"], version=about["version"], text=about["description"], operations=operations
    ).encode()


def _schema(operation: Mapping[str, Any]) -> str | None:
    """Return the JSON Schema of an operation's body as text; None if it takes no body."""
    body = operation.get("requestBody")
    return json.dumps(body["content"]["application/json"]["schema"]["properties"], indent=2) if body else None
