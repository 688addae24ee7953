"""Removal of questions from the tables of a dataset.

questions to erase -> Erasure; rows of a table, Erasure -> erase_questions, erase_clusters, … -> the other rows
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from pipelines.privacy.patterns import replace_personal
from pipelines.privacy.payloads import object_in, texts_in, unescaped
from pipelines.privacy.users import UserKey, as_text, hash_questions, hash_users
from schemas.ragged import offsets_of
from schemas.text import fold, key
from schemas.text_arrays import hash64_all, words_all
from schemas.words import VERSION


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
    lost = np.zeros(len(clusters), np.int64)
    np.add.at(lost, cluster[erased], [events.get(question, 0) for question in ids[erased].tolist()])
    stays = left >= 2
    member = pa.array(~erased & stays[cluster])
    offsets = pa.array(offsets_of(left[stays]), pa.int32())
    columns: dict[str, Any] = {
        "size": pa.array(left[stays]),
        "events": pa.array(np.maximum(clusters["events"].to_numpy() - lost, left)[stays]),
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
    found = [pc.is_in(pairs[f"question_id_{side}"], value_set=erasure.ids) for side in (1, 2)]
    return pairs.filter(pc.invert(pc.or_(*found)))


def erase_rejected(rejected: pa.Table, erasure: Erasure) -> pa.Table:
    """Return the rejected rows whose payload has none of the questions and hashes.

    A payload that is no JSON object is removed if it contains the key of a question anywhere.
    """
    keep = [not _names(payload, erasure) for payload in rejected["payload"].to_pylist()]
    return rejected.filter(pa.array(keep, pa.bool_()))


def _names(payload: str, erasure: Erasure) -> bool:
    if (row := object_in(payload)) is None:
        folded = (fold(payload), fold(unescaped(payload)))
        return any(one in line for one in erasure.keys for line in folded)
    texts = [*texts_in(row)]
    nested = [fold(json.dumps(value, ensure_ascii=False)) for value in row.values() if isinstance(value, list | dict)]
    return (
        not erasure.hashes.isdisjoint(texts)
        or any(key(text) in erasure.keys for text in texts)
        or any(one in text for text in nested for one in erasure.keys)
    )
