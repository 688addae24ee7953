"""Removal of questions from the tables of a dataset.

questions to erase -> Erasure; rows of a table, Erasure -> erase_questions, erase_clusters, … -> the other rows
"""

from __future__ import annotations

import bisect
import json
import re
import unicodedata
from collections.abc import Iterable, Mapping
from typing import Any, Final, NamedTuple, Self

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from pipelines.privacy.patterns import KINDS, replace_personal
from pipelines.privacy.payloads import length_of, object_in, texts_in, unescaped
from pipelines.privacy.users import UserKey, as_text, hash_questions, hash_users
from pipelines.writing.rejects import MAX_RAW_CHARACTERS
from schemas.ragged import offsets_of
from schemas.text import fold, key
from schemas.text_arrays import hash64_all, words_all
from schemas.words import VERSION

_LENGTH: Final = r"^\{\"characters\": \d+\}$"
"""A payload that is the length of the former one (RE2)."""

_OTHER_CHARACTERS: Final = re.compile(r"\W+")


class Erasure(NamedTuple):
    """Everything to erase.

    Attributes:
        keys: of questions.
        question_hashes: keyed hashes of them, as in payloads of rejected rows; empty without a key.
        user_hashes: those of users.
    """

    keys: frozenset[str]
    question_hashes: frozenset[str] = frozenset()
    user_hashes: frozenset[str] = frozenset()

    @property
    def hashes(self) -> frozenset[str]:
        """Return the hashes of questions and users."""
        return self.question_hashes | self.user_hashes

    @property
    def ids(self) -> pa.Array:
        """Return the ids of the questions."""
        return hash64_all(pa.array(sorted(self.keys), pa.string()))

    @property
    def words(self) -> set[str]:
        """Return the words of the questions."""
        return words_of(pa.array(sorted(self.keys), pa.string()))


def erasure_of(questions: Iterable[str], users: Iterable[str], user_key: UserKey | None) -> Erasure:
    """Return the erasure of questions, as they were asked and with personal data replaced, and of users.

    Args:
        questions: texts; of all wordings with the same key.
        users: their ids.
        user_key: of the hashes in payloads; without one there are none.
    """
    forms = [form for text in questions for form in (text, replace_personal(text)[0])]
    keys = sorted({key(form) for form in forms} - {""})
    if user_key is None:
        return Erasure(frozenset(keys))
    of_questions = as_text(hash_questions(pa.array(keys, pa.string()), user_key))
    of_users = as_text(hash_users(pa.array([*users], pa.string()), user_key).drop_null())
    return Erasure(frozenset(keys), frozenset(of_questions.to_pylist()), frozenset(of_users.to_pylist()))


def words_of(keys: pa.Array) -> set[str]:
    """Return the words of question keys, of each version of words that vocabularies and counts can have."""
    versions = (pc.list_flatten(words_all(keys, version=version)).unique() for version in range(1, VERSION + 1))
    return {word for of_version in versions for word in of_version.to_pylist()}


def erase_clusters(clusters: pa.Table, erasure: Erasure, events: Mapping[int, int]) -> pa.Table:
    """Return clusters without the questions; one of fewer than two questions is removed.

    Scores stay those of the whole cluster.

    Args:
        clusters: `schemas.tables.CLUSTERS`.
        erasure: the questions.
        events: number of log rows of each of them; a cluster loses as many, but not more than one a question is left.
    """
    lengths = pc.list_value_length(clusters["question_ids"]).to_numpy()
    ids = pc.list_flatten(clusters["question_ids"]).to_numpy()
    cluster = np.repeat(np.arange(len(clusters)), lengths)
    erased = np.isin(ids, erasure.ids.to_numpy())
    if not erased.any():
        return clusters
    left = np.bincount(cluster[~erased], minlength=len(clusters))
    erased_events = np.zeros(len(clusters), np.int64)
    np.add.at(erased_events, cluster[erased], [events.get(question, 0) for question in ids[erased].tolist()])
    stays = left >= 2
    member = pa.array(~erased & stays[cluster])
    offsets = pa.array(offsets_of(left[stays]), pa.int32())
    columns: dict[str, Any] = {
        "size": pa.array(left[stays]),
        "events": pa.array(np.maximum(clusters["events"].to_numpy() - erased_events, left)[stays]),
    }
    for name in ("question_ids", "texts"):
        flat = pc.list_flatten(clusters[name]).filter(member)
        columns[name] = pa.ListArray.from_arrays(offsets, flat.combine_chunks())
    whole = clusters.filter(pa.array(stays))
    arrays = [columns.get(name, whole[name]) for name in clusters.column_names]
    return pa.table(arrays, names=clusters.column_names).cast(clusters.schema)


def erase_questions(questions: pa.Table, erasure: Erasure, removed_clusters: pa.Array) -> pa.Table:
    """Return the other questions; those of clusters that are removed are in none.

    Args:
        questions: `schemas.tables.QUESTIONS`.
        erasure: the questions to erase.
        removed_clusters: ids.
    """
    others = questions.filter(pc.invert(pc.is_in(questions["question_id"], value_set=erasure.ids)))
    alone = pc.is_in(others["cluster_id"], value_set=removed_clusters)
    for name in ("cluster_id", "split"):
        place = others.schema.get_field_index(name)
        others = others.set_column(place, others.schema.field(name), pc.if_else(alone, None, others[name]))
    return others


def erase_pairs(pairs: pa.Table, erasure: Erasure) -> pa.Table:
    """Return the pairs of other questions."""
    masks = [pc.is_in(pairs[f"question_id_{side}"], value_set=erasure.ids) for side in (1, 2)]
    return pairs.filter(pc.invert(pc.or_(*masks)))


def erase_rejected(rejected: pa.Table, erasure: Erasure) -> pa.Table:
    """Return the rejected rows whose payload has none of the questions and hashes.

    A payload that is no JSON object is removed if it contains the key of a question or a hash anywhere. If it may
    contain a question in another writing, or a part of one at its end, or lack the hash of a user, its length stays.

    Args:
        rejected: `schemas.tables.REJECTED`.
        erasure: the questions and users.
    """
    search = _Search.of(erasure)
    rows = zip(rejected["payload"].to_pylist(), rejected["stage"].to_pylist(), strict=True)
    left = [search.payload_without(payload, is_raw=stage == "read") for payload, stage in rows]
    others = rejected.filter(pa.array([payload is not None for payload in left], pa.bool_()))
    place = rejected.schema.get_field_index("payload")
    payloads = pa.array([payload for payload in left if payload is not None], pa.string())
    return others.set_column(place, rejected.schema.field(place), payloads)


def payloads_replaced(before: pa.Table, after: pa.Table) -> int:
    """Return the number of payloads of which `erase_rejected` left the length only."""
    lengths = (pc.sum(pc.match_substring_regex(rows["payload"], _LENGTH)).as_py() or 0 for rows in (after, before))
    return int(next(lengths) - next(lengths))


class _Search(NamedTuple):
    """Search for erased questions and users in payloads.

    Attributes:
        keys: of the questions.
        hashes: of the keys, keyed hashes of the questions and those of the users.
        has_users: there are any.
        letters: letters and digits of each question, sorted.
        starts: their first characters.
    """

    keys: frozenset[str]
    hashes: frozenset[str]
    has_users: bool
    letters: list[str]
    starts: frozenset[str]

    @classmethod
    def of(cls, erasure: Erasure) -> Self:
        """Return the search for an erasure."""
        letters = sorted(map(_letters, erasure.keys))
        hashes = erasure.hashes.union(map(str, erasure.ids.to_pylist()))
        return cls(erasure.keys, hashes, bool(erasure.user_hashes), letters, frozenset(text[:1] for text in letters))

    def payload_without(self, payload: str, *, is_raw: bool) -> str | None:
        """Return the payload of another row, its length if it may be an erased one, None if it is one.

        Args:
            payload: of a rejected row.
            is_raw: it is a row of a file as it was read, of which a number can be the question.
        """
        if (row := object_in(payload, is_raw=is_raw)) is not None:
            return None if self._names(row) else payload
        folded = (fold(payload), fold(unescaped(payload)))
        if any(erased in line for part in (self.keys, self.hashes) for erased in part for line in folded):
            return None
        is_replaced = any(kind.placeholder in payload for kind in KINDS)  # then it can have been longer, and cut off
        is_cut = is_replaced or len(payload) >= MAX_RAW_CHARACTERS
        return length_of(payload) if (self.has_users and is_cut) or self._may_be_in(payload) else payload

    def _names(self, row: dict[str, Any]) -> bool:
        """Return whether an object has a question or a hash."""
        texts = [*texts_in(row)]
        parts = (value for value in row.values() if isinstance(value, list | dict))
        nested = [fold(json.dumps(value, ensure_ascii=False)) for value in parts]
        return (
            not self.hashes.isdisjoint(texts)
            or any(key(text) in self.keys for text in texts)
            or any(erased in text for text in nested for erased in self.keys)
        )

    def _may_be_in(self, line: str) -> bool:
        """Return whether a line that is no object may have a question: its quotes are doubled, or its end is cut off.

        A backslash that is left can be that of a byte which is no UTF-8.
        """
        if not self.letters:
            return False
        plain = unescaped(line)
        forms = {_letters(line), _letters(plain)}
        is_inside = "\\" in plain or any(letters in form for letters in self.letters for form in forms)
        return is_inside or any(map(self._ends_in_one, forms))

    def _ends_in_one(self, form: str) -> bool:
        """Return whether letters end with the beginning of a question."""
        for place, character in enumerate(form):
            if character in self.starts:
                rest = form[place:]
                nearest = bisect.bisect_left(self.letters, rest)  # sorted: if any begins with the rest, this one does
                if nearest < len(self.letters) and self.letters[nearest].startswith(rest):
                    return True
        return False


def _letters(text: str) -> str:
    """Return the letters and digits of a folded text without accents, which the end of a line can lack."""
    return _OTHER_CHARACTERS.sub("", unicodedata.normalize("NFD", fold(text)))
