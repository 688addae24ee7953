"""Files with a secret: the key of the hashes of users, and the permissions of such files.

--user-key-file or QPR_USER_KEY -> read_user_key -> UserKey; path, mode -> check_private
"""

from __future__ import annotations

import os
import stat
from typing import TYPE_CHECKING, Annotated, Final

import typer

from schemas.artifacts import storage
from schemas.errors import QprError, UsageError

if TYPE_CHECKING:
    from pipelines.privacy.users import UserKey

VARIABLE: Final = "QPR_USER_KEY"

UserKeyFile = Annotated[
    str | None,
    typer.Option(
        metavar="FILE",
        help=f"File with the secret key of the hashes that stand for users; or set {VARIABLE}. Without a key none are "
        "written.",
        rich_help_panel="Privacy",
        show_default=False,
    ),
]


def read_user_key(file: str | None) -> UserKey | None:
    """Return the key in a file, else that of the environment, else None. White space around a key does not count.

    Raises:
        UsageError: the key is too short; the message does not contain it.
        QprError: the file cannot be read, or everybody on this machine can read or change it.
    """
    from pipelines.privacy.users import UserKey

    given = os.environ.get(VARIABLE)
    if file:
        place, secret = file, storage.read_bytes(file)
        if (local := storage.local_path(file)) is not None:
            check_private(file, os.stat(local).st_mode, "user key")
    elif given:
        place, secret = VARIABLE, os.fsencode(given)
    else:
        return None
    try:
        return UserKey(secret.strip())
    except ValueError as error:
        step = "Make one with: openssl rand -hex 32"
        raise UsageError(f"{place}: the user key {error}. {step}") from error


def check_private(path: str, mode: int, secret: str) -> None:
    """Check that not everybody on this machine can read or change a file with a secret.

    Args:
        path: of the file.
        mode: its permissions, as `os.stat` returns them.
        secret: noun of its content.

    Raises:
        QprError: everybody can.
    """
    if mode & (stat.S_IROTH | stat.S_IWOTH):
        raise QprError(f"{path}: everybody can read or change this {secret}. Run: chmod 600 {path}")
