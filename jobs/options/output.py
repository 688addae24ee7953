"""Checks of every ``--output``.

--output -> lasting -> the URL, or wrong usage
"""

from __future__ import annotations

from schemas.errors import UsageError


def lasting(url: str | None) -> str | None:
    """Return an output's URL; one in this process's memory, which ends with the command, is wrong usage."""
    if url and any(part.startswith("memory:") for part in url.split("::")):  # :: chains URLs, such as dir::memory://a
        raise UsageError(f"{url}: is in this command's memory and gone when it ends. Name a file or folder on a store")
    return url
