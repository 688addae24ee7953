"""Rules that depend on the address of a request: the gate enforces them, and the documents list their statuses.

method, path -> needs_token, is_rated, is_timed, is_upkeep; gate_statuses -> statuses of refused requests to an address
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


def gate_statuses(path: str, *, has_token: bool, has_rate: bool) -> frozenset[int]:
    """Return the statuses of requests to an address that do not pass the connection or the gate.

    400, 408 and 431 are among those of every address: of a head that is invalid, late or too large. So are 403, of a
    page of another site, and 503, of a busy server, or one that ends or has too many connections.

    Args:
        path: of the address.
        has_token: requests to the server need a token; without one it answers requests to a local name only.
        has_rate: the server limits the rate of a client.
    """
    by_rule = {
        401: has_token and needs_token(path),
        421: not has_token,
        422: needs_token(path),
        429: has_rate and is_rated(path),
        504: is_timed(path),
    }
    return frozenset({400, 403, 408, 431, 503, *(status for status, applies in by_rule.items() if applies)})
