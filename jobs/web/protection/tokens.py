"""The bearer token of a server.

file -> read_token -> token
"""

from __future__ import annotations

import ipaddress
import re
from pathlib import Path

from jobs.options.secret_files import check_private
from schemas.errors import QprError, UsageError

_LEAST = 16
"""Characters of a token: 16 random ones of 64 are 96 bits."""


def is_local(host: str) -> bool:
    """Return whether only this machine can connect to an address or a name, in capital letters or with a final dot."""
    try:
        name = host.lower().removesuffix(".")
        return name == "localhost" or ipaddress.ip_address(name).is_loopback
    except ValueError:
        return False


def checked_token(host: str, token_file: str | None) -> str | None:
    """Return the token that requests need; None where the server is open to this machine.

    Raises:
        UsageError: other machines can connect, and there is no token file.
        QprError: the file is missing, readable by others, empty or too short.
    """
    if token_file is not None:
        return read_token(Path(token_file))
    if not is_local(host):
        raise UsageError(f"--host {host}: other machines can connect; give --token-file FILE, or listen on 127.0.0.1")
    return None


def read_token(path: Path) -> str:
    """Return the token in a file.

    Raises:
        QprError: the file is missing, readable by others, empty or too short.
    """
    try:
        mode = path.stat().st_mode
        text = path.read_text("ascii").strip()
    except UnicodeDecodeError as error:
        raise QprError(f"{path}: a token has only letters, digits and signs of ASCII. Write another one") from error
    except OSError as error:
        raise QprError(f"{path}: {error.strerror}. Write a token into it, readable by you only") from error
    check_private(str(path), mode, "token")
    if not text:
        raise QprError(f"{path}: is empty. Write a token of at least {_LEAST} characters into it")
    if len(text) < _LEAST or not re.fullmatch(r"[!-~]+", text):
        raise QprError(f"{path}: a token is one word of at least {_LEAST} characters. Write a longer one")
    return text
