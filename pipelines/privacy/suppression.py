"""Suppression of erased questions: their rows are left out when a log is read again.

rows of a log -> Suppression.remove_rows -> the other rows; Unreadable -> remove_unreadable -> Unreadable

The list has keyed hashes only, so whoever lacks the key cannot find out what was erased.
"""

from __future__ import annotations

import dataclasses
import functools

import pyarrow as pa
import pyarrow.compute as pc

from pipelines.privacy.payloads import USER_ID, Unreadable, length_of, object_in, texts_in
from pipelines.privacy.scrub import scrub
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
        return rows.filter(pc.invert(self._are_erased(rows)))

    def remove_unreadable(self, unreadable: Unreadable) -> Unreadable:
        """Return the unreadable rows without erased questions and users; a line that is no object becomes its length.

        A row has an erased question if any text in its payload is one, as it was asked or with personal data replaced.
        """
        rejects = unreadable.rejects
        if not len(rejects):
            return unreadable
        kept, stored = [], []
        erased = self._are_erased(unreadable.rows, scrubbed=True).to_pylist()
        for row, payload in enumerate(rejects["payload"].to_pylist()):
            values = object_in(payload, is_raw=True)
            if not erased[row] and (values is None or not self._has(values)):
                kept.append(row)
                stored.append(payload if values is not None else length_of(payload))
        places = pa.array(kept, pa.int64())
        reasons = rejects["reason"].combine_chunks().take(places)
        left = reject(pa.array(stored, pa.string()), stage=rejects["stage"][0].as_py(), reasons=reasons)
        return Unreadable(left, unreadable.rows.take(places))

    def are_users(self, ids: pa.Array | pa.ChunkedArray) -> pa.Array:
        """Return for each user id whether it is that of an erased user."""
        return pc.is_in(hash_users(ids, self.key), value_set=pa.array(self.users, pa.uint64()))

    def _are_erased(self, rows: pa.Table, *, scrubbed: bool = False) -> pa.Array:
        forms = [rows["question"], *([scrub(rows["question"]).texts] if scrubbed else [])]
        questions = pa.array(self.questions, pa.uint64())
        asked = functools.reduce(pc.or_, (pc.is_in(self._questions(form), value_set=questions) for form in forms))
        return pc.or_(asked, self.are_users(rows[USER_ID]))

    def _has(self, values: dict[str, object]) -> bool:
        texts = pa.array([*texts_in(values)], pa.string())
        return any(
            not self.questions.isdisjoint(self._questions(form).to_pylist()) for form in (texts, scrub(texts).texts)
        )

    def _questions(self, texts: pa.Array | pa.ChunkedArray) -> pa.Array:
        return hash_questions(key_all(texts), self.key)
