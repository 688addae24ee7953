"""Files that only the owner of the user key can read.

content, UserKey -> seal -> sealed bytes -> unseal -> content
"""

from __future__ import annotations

import hashlib
from typing import Final

from cryptography.exceptions import InvalidTag
from cryptography.hazmat.primitives.ciphers.aead import AESSIV

from pipelines.privacy.users import UserKey
from schemas.errors import QprError

_PURPOSE: Final = b"qpr waiting"


def seal(content: bytes, key: UserKey) -> bytes:
    """Return content that is encrypted, by AES-SIV (RFC 5297); equal content gives equal bytes."""
    return _cipher(key).encrypt(content, [_PURPOSE])


def unseal(sealed: bytes, key: UserKey | None, *, name: str) -> bytes:
    """Return sealed content.

    Args:
        sealed: by `seal`.
        key: of the seal.
        name: of the file, for messages.

    Raises:
        QprError: there is no key, it is another one, or the file is damaged.
    """
    if key is None:
        raise QprError(f"{name}: is sealed with the user key. Give --user-key-file or QPR_USER_KEY")
    try:
        return _cipher(key).decrypt(sealed, [_PURPOSE])
    except InvalidTag as error:
        raise QprError(f"{name}: cannot be opened with this user key. Give that of its ingestion") from error


def _cipher(key: UserKey) -> AESSIV:
    return AESSIV(hashlib.blake2b(key.secret, digest_size=64, person=_PURPOSE).digest())
