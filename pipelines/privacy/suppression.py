"""Suppression of erased questions: their rows are left out when a log is read again.

rows of a log -> Suppression.remove_rows -> the other rows; REJECTS of unreadable rows -> remove_unreadable -> REJECTS

The list has keyed hashes only, so whoever lacks the key cannot find out what was erased.
"""

from __future__ import annotations

import dataclasses
import json

import pyarrow as pa
import pyarrow.compute as pc

from pipelines.privacy.payloads import USER_ID, object_in, texts_in
from pipelines.privacy.users import UserKey, hash_questions, hash_users
from pipelines.writing.rejects import reject
from schemas.text_arrays import key_all


@dataclasses.dataclass(frozen=True)
class Suppression:
    """Hashes of erased questions and users, and their key.

    Attributes:
        questions: of `users.hash_questions`, of the keys of questions.
        users: of `users.hash_users`.
        key: of the hashes.
    """

    questions: frozenset[int]
    users: frozenset[int]
    key: UserKey

    def remove_rows(self, rows: pa.Table) -> pa.Table:
        """Return the rows of other questions and users.

        Args:
            rows: with ``question`` and ``user_id``.
        """
        asked = pc.is_in(self._questions(rows["question"]), value_set=pa.array(self.questions, pa.uint64()))
        by = pc.is_in(hash_users(rows[USER_ID], self.key), value_set=pa.array(self.users, pa.uint64()))
        return rows.filter(pc.invert(pc.or_(asked, by)))

    def remove_unreadable(self, rejects: pa.Table, user_column: str) -> pa.Table:
        """Return the rejected rows without erased questions and users; a line that is no object becomes its length.

        Args:
            rejects: REJECTS of unreadable rows.
            user_column: name of the column of user ids in the file.
        """
        if not len(rejects):
            return rejects
        kept, stored = [], []
        for row, payload in enumerate(rejects["payload"].to_pylist()):
            values = object_in(payload)
            if values is None or not self._has(values, user_column):
                kept.append(row)
                stored.append(payload if values is not None else json.dumps({"characters": len(payload)}))
        reasons = rejects["reason"].combine_chunks().take(pa.array(kept, pa.int64()))
        return reject(pa.array(stored, pa.string()), stage=rejects["stage"][0].as_py(), reasons=reasons)

    def _has(self, values: dict[str, object], user_column: str) -> bool:
        users = [str(values[name]) for name in {user_column, USER_ID} & values.keys() if values[name] is not None]
        texts = pa.array([*texts_in(values)], pa.string())
        return not self.users.isdisjoint(
            hash_users(pa.array(users, pa.string()), self.key).to_pylist()
        ) or not self.questions.isdisjoint(self._questions(texts).to_pylist())

    def _questions(self, texts: pa.Array | pa.ChunkedArray) -> pa.Array:
        return hash_questions(key_all(texts), self.key)
