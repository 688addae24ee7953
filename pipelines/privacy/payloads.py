"""Payloads of rejected rows: never with a user id, and without texts where few users are protected.

readable rows -> protect_rows -> rows to store; Unreadable -> protect_unreadable -> REJECTS
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Iterator, Mapping
from typing import Any, Final, NamedTuple

import pyarrow as pa

from pipelines.privacy.settings import Privacy
from pipelines.privacy.users import UserKey, as_text, hash_users
from pipelines.writing.rejects import reject
from schemas.tables import QA_LOG

USER_ID: Final = "user_id"
_TEXTS: Final = ("question", "answer")


def _finite_or_none(digits: str) -> float | None:
    number = float(digits)
    return number if math.isfinite(number) else None


def _without_repeated_names(fields: list[tuple[str, Any]]) -> dict[str, Any]:
    row = dict(fields)
    if len(row) < len(fields):  # JSON keeps the last value only, and the others would be stored unread
        raise ValueError("a name of a field occurs twice")
    return row


_DECODER: Final = json.JSONDecoder(
    parse_float=_finite_or_none, parse_constant=lambda _: None, object_pairs_hook=_without_repeated_names
)

_WITH_DIGITS: Final = json.JSONDecoder(
    parse_int=str, parse_float=str, parse_constant=lambda _: None, object_pairs_hook=_without_repeated_names
)
"""Numbers become texts with the digits of the payload, as readers read the numbers of a column of texts."""

_NO_UTF8: Final = re.compile(r"\\x[0-9a-f]{2}")
"""A byte that is no UTF-8, as `pipelines.reading.batches.raw_payload` writes it."""

_MAX_DEPTH: Final = 64
"""Maximum number of lists and objects within one another; each takes up to two of Python's 1,000 calls at once."""

_ESCAPE: Final = re.compile(
    r"\\(?:u[dD][89abAB][0-9a-fA-F]{2}\\u[dD][c-fC-F][0-9a-fA-F]{2}|u(?![dD][89a-fA-F])[0-9a-fA-F]{4}|[\"\\/bfnrt])"
)
"""An escape of JSON for a whole character."""


class Unreadable(NamedTuple):
    """Rows of a file that cannot be used.

    Attributes:
        rejects: REJECTS of them.
        rows: columns of `schemas.tables.QA_LOG` of each, as the reader reads them; null where there is no such value.
    """

    rejects: pa.Table
    rows: pa.Table


def protect_rows(rows: pa.Table, privacy: Privacy, key: UserKey | None) -> pa.Table:
    """Return rows as they may be stored among the rejected ones.

    A user id becomes its keyed hash; without a key it is left out. Where ``min_users`` is above 1, questions and
    answers are left out too, as nobody counts the users of a rejected row.

    Args:
        rows: columns of `schemas.tables.QA_LOG`.
        privacy: the settings.
        key: of the hashes.
    """
    place = rows.schema.get_field_index(USER_ID)
    if key is None:
        rows = rows.drop_columns(USER_ID)
    else:
        rows = rows.set_column(place, USER_ID, as_text(hash_users(rows[USER_ID], key)))
    return rows.drop_columns(list(_TEXTS)) if privacy.min_users > 1 else rows


def protect_unreadable(
    unreadable: Unreadable, names: Mapping[str, str], privacy: Privacy, key: UserKey | None, *, has_users: bool
) -> pa.Table:
    """Return REJECTS of unreadable rows with payloads that may be stored.

    Of an object in a file with user ids the values of the other columns stay. Of a line that is no object only the
    number of characters stays, since the place of the id in it is unknown.

    Args:
        unreadable: the rows. The user id is hashed as the reader reads it, so that all rows of a user have one hash.
        names: our name of a column -> the file's, where they differ.
        privacy: the settings.
        key: of the hashes of users.
        has_users: the file has a column of user ids.
    """
    rejects = unreadable.rejects
    if not len(rejects):
        return rejects
    theirs = {names.get(name, name): name for name in reversed(QA_LOG.names)} | {name: name for name in QA_LOG.names}
    payloads = rejects["payload"].to_pylist()
    hashes = [None] * len(payloads) if key is None else as_text(hash_users(unreadable.rows[USER_ID], key)).to_pylist()
    user = names.get(USER_ID, USER_ID)
    stored = [
        _stored(payload, theirs, user, hashed, privacy, has_users)
        for payload, hashed in zip(payloads, hashes, strict=True)
    ]
    if stored == payloads:
        return rejects
    reasons = rejects["reason"].combine_chunks()
    return reject(pa.array(stored, pa.string()), stage=rejects["stage"][0].as_py(), reasons=reasons)


def _stored(
    payload: str, columns: Mapping[str, str], user: str, hashed: str | None, privacy: Privacy, has_users: bool
) -> str:
    row = object_in(payload)
    names_user = has_users or (_names(payload, user) if row is None else not {user, USER_ID}.isdisjoint(row))
    if not names_user and privacy.min_users == 1:
        return payload
    if row is None or privacy.min_users > 1:
        return length_of(payload)
    kept = {name: value for name, value in row.items() if name in columns and not isinstance(value, list | dict)}
    place = user if user in kept else USER_ID  # where the payload has our names of columns
    kept = {name: value for name, value in kept.items() if name not in {user, USER_ID}}
    if hashed is not None:
        kept[place] = hashed
    return json.dumps(kept, ensure_ascii=False, allow_nan=False)


def length_of(payload: str) -> str:
    """Return the payload that stands for one of which nothing but the length may be stored."""
    return json.dumps({"characters": len(payload)})


def _names(line: str, user: str) -> bool:
    """Return whether a line that is no object has the name of a user column as a word, in any quotes."""
    forms = (line, unescaped(line))
    return any(re.search(rf"(?<!\w){re.escape(name)}(?!\w)", form) for name in {user, USER_ID} for form in forms)


def object_in(payload: str, *, is_raw: bool = False) -> dict[str, Any] | None:
    r"""Return the JSON object of a payload; None where it is something else.

    None too for an object that has a name twice at any depth, or more than 64 lists and objects within one another.
    Numbers that are not finite become null. A surrogate without its other half, which no UTF-8 can have, becomes the
    six characters of its escape, such as ``\ud83d``.

    Args:
        payload: of a rejected row.
        is_raw: it is a row as a file has it, compared with erased questions: numbers become texts with the digits of
            the payload, and an object with bytes that are no UTF-8 is none, as nothing can be compared with them.
    """
    if is_raw and _NO_UTF8.search(payload):
        return None
    try:
        row = (_WITH_DIGITS if is_raw else _DECODER).decode(payload)
        return _with_whole_characters(row) if isinstance(row, dict) else None
    except (ValueError, RecursionError):
        return None


def _with_whole_characters(value: Any, depth: int = 0) -> Any:
    if isinstance(value, str):
        return value.encode("utf-8", "backslashreplace").decode()
    if not isinstance(value, list | dict):
        return value
    if depth == _MAX_DEPTH:
        raise ValueError(f"has more than {_MAX_DEPTH} lists and objects within one another")
    if isinstance(value, list):
        return [_with_whole_characters(part, depth + 1) for part in value]
    return _without_repeated_names(
        [(_with_whole_characters(name), _with_whole_characters(part, depth + 1)) for name, part in value.items()]
    )


def unescaped(line: str) -> str:
    r"""Return a line with the characters of its escapes of JSON, ``é`` for ``\u00e9``; half of one stays escaped."""
    return _ESCAPE.sub(lambda escape: str(json.loads(f'"{escape[0]}"')), line)


def texts_in(value: object) -> Iterator[str]:
    """Yield all strings in a value of JSON, names of fields that are more than one ASCII word, numbers of ``question``.

    Other numbers are counts, ranks and times.
    """
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict):
        for name, part in value.items():
            if " " in name or not name.isascii():
                yield name
            yield from texts_in(str(part) if name == "question" and isinstance(part, int | float) else part)
    elif isinstance(value, list):
        for part in value:
            yield from texts_in(part)
