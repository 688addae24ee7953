"""Rules that depend on the address of a request: the gate enforces them, and the documents list their statuses.

method, path -> needs_token, is_rated, is_timed, is_upkeep; gate_statuses -> statuses of the gate at an address
"""

from __future__ import annotations

from typing import Final

OPEN_PATHS: Final = frozenset({"/", "/healthz", "/readyz", "/review"})
"""Served without a token: they return no question and no answer of the index."""


def needs_token(path: str) -> bool:
    """Return whether a server with a token asks for it here; open addresses have no limit of concurrency either."""
    return path not in OPEN_PATHS


def is_rated(path: str) -> bool:
    """Return whether requests count for the rate of a client."""
    return path != "/healthz"


def is_timed(path: str) -> bool:
    """Return whether a request is given up after the time limit; a new version may take longer."""
    return path != "/reload"


def is_upkeep(method: str, path: str) -> bool:
    """Return whether an operator asks: a busy server too can be measured, exchange its version and block an answer."""
    return path in ("/metrics", "/reload") or (method == "DELETE" and path.startswith("/answers/"))


def gate_statuses(path: str) -> frozenset[int]:
    """Return the statuses of requests to an address that do not pass the gate.

    503 is among those of every address: of a busy server, or one that ends or has too many connections.
    """
    by_rule = {401: needs_token(path), 422: needs_token(path), 429: is_rated(path), 504: is_timed(path)}
    return frozenset({403, 421, 503, *(status for status, applies in by_rule.items() if applies)})
