"""Hashes of users and questions: with a key, nobody else can compare them with guesses.

user ids, UserKey -> hash_users -> uint64 -> as_text -> 16 digits

Without a key the hashes only count within a run and are never written: ids are few, so all of them can be tried.
"""

from __future__ import annotations

import dataclasses
import hashlib
from typing import Final

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from schemas.text_arrays import encode

FEWEST_KEY_BYTES: Final = 16
"""Minimum length of a key: 128 random bits cannot be guessed."""


@dataclasses.dataclass(frozen=True)
class UserKey:
    """A secret key of hashes. Its representation does not contain it.

    Attributes:
        secret: at least `FEWEST_KEY_BYTES` bytes.
    """

    secret: bytes = dataclasses.field(repr=False)

    def __post_init__(self) -> None:
        if len(self.secret) < FEWEST_KEY_BYTES:
            raise ValueError(f"has {len(self.secret)} bytes; a key has at least {FEWEST_KEY_BYTES}")

    @property
    def fingerprint(self) -> str:
        """Return 16 hexadecimal digits that differ between keys, and show nothing of a random one."""
        secret = hashlib.blake2b(self.secret).digest()
        return hashlib.blake2b(digest_size=8, key=secret, person=b"qpr fingerprint").hexdigest()


def hash_users(ids: pa.Array | pa.ChunkedArray, key: UserKey | None) -> pa.Array:
    """Return a 64-bit hash of each user id, uint64; null for a missing or blank id.

    Two of a billion users have the same hash with a probability of about 3 %; two of one question never in practice.

    Args:
        ids: strings or nulls; compared as they are written.
        key: of the hash (keyed BLAKE2b, RFC 7693); None: no key, for counting only.
    """
    return _hash_all(ids, key, b"qpr user")


def hash_questions(keys: pa.Array | pa.ChunkedArray, key: UserKey) -> pa.Array:
    """Return a keyed 64-bit hash of each question, uint64; different from that of a user of the same name."""
    return _hash_all(keys, key, b"qpr question")


def as_text(hashes: pa.Array) -> pa.Array:
    """Return hashes as 16 hexadecimal digits; null stays null."""
    return pa.array([None if value is None else f"{value:016x}" for value in hashes.to_pylist()], pa.string())


def _hash_all(texts: pa.Array | pa.ChunkedArray, key: UserKey | None, purpose: bytes) -> pa.Array:
    coded = encode(texts)
    secret = b"" if key is None else hashlib.blake2b(key.secret).digest()  # 64 bytes, the maximum of BLAKE2b
    seeded = hashlib.blake2b(digest_size=8, key=secret, person=purpose)
    values = np.zeros(len(coded.dictionary), np.uint64)
    for row, text in enumerate(coded.dictionary.to_pylist()):
        state = seeded.copy()
        state.update(text.encode())
        values[row] = int.from_bytes(state.digest(), "little")
    blank = pc.equal(pc.utf8_trim_whitespace(coded.dictionary), "").to_numpy(zero_copy_only=False)
    return pa.array(values, mask=blank).take(coded.indices)
