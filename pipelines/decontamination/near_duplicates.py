"""Detection of questions with the same words, or almost the same words, in another split.

MEMBERS of all splits -> sets_to_compare -> SETS of one ``shard`` -> find_leaks -> LEAKS

Sets are compared only if they have a blocking key in common. The words of a set are divided into m > k parts by a hash
of the word. Two sets that differ in at most k words are equal in at least m - k parts. Each key is a hash of the words
in m - k of the parts, with one key for each choice of parts. So no similar pair is missed, and few other pairs are
compared.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator
from typing import Final, NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from pipelines.decontamination.places import earliest, place_in_lists, place_once
from pipelines.decontamination.set_similarity import differences, similar_pairs
from pipelines.intermediate import LEAKS, SETS
from schemas.hashing import bag_ids, mix
from schemas.ragged import starts_of_runs

PRECEDENCE: Final = ("train", "test", "validation")
"""Order of the splits: a question is removed from its split if an earlier one has the same or a similar question."""

REASONS: Final = tuple(
    f"{kind}in_{split}"
    for split in PRECEDENCE[:2]
    for kind in ("", "same_words_", "near_duplicate_", "similar_spelling_")
)
"""Reasons for removal, of which the first that applies is used: four for each split that has a similar question."""

SAME_WORDS, NEAR_DUPLICATE, SIMILAR_SPELLING, KINDS = 1, 2, 3, 4
"""Places of three reasons among the `KINDS` of a split; the reason at place 0 is the same question."""

KEYS_A_LEVEL: Final = 6
"""Maximum number of keys of a set on a level; a level above 5 has ``level`` + 1 keys.

With more parts fewer dissimilar sets are compared, but each set has more keys."""


class Found(NamedTuple):
    """LEAKS, and the number of pairs of sets that were compared word by word."""

    leaks: pa.Table
    pairs: int


def sets_to_compare(members: pa.Table, near_duplicate: float, shards: int = 1) -> Iterator[pa.Table]:
    """Yield the SETS rows of each member: one to find equal sets, others to find sets that differ in a few words.

    Args:
        members: MEMBERS with their split.
        near_duplicate: minimum Jaccard index of near duplicates; 1: only equal bags of words, repeats included.
        shards: number of shards in which sets are compared.
    """
    ranks = pc.index_in(members["split"], value_set=pa.array(PRECEDENCE)).cast(pa.int8())
    columns = {"question_id": members["question_id"], "rank": ranks, "bag_id": members["bag_id"]}
    same = members["bag_id"] if near_duplicate == 1 else bag_ids(members["token_ids"])
    empty = pa.nulls(len(members), SETS.field("token_ids").type)
    yield place_once(pa.table({**columns, "token_ids": empty}), same, shards).select(SETS.names).cast(SETS)
    if near_duplicate < 1:
        plain = pa.table({**columns, "token_ids": members["token_ids"]}).combine_chunks()
        yield from _near(plain, near_duplicate, shards)


def _near(rows: pa.Table, least: float, shards: int) -> Iterator[pa.Table]:
    """Yield the SETS rows by which sets that differ are compared."""
    sizes = pc.list_value_length(rows["token_ids"]).to_numpy()
    row, keys = [np.zeros(0, np.int64)], [np.zeros(0, np.int64)]
    for size in np.unique(sizes).tolist():
        levels = {level_of(differing) for differing in differences(size, least).values() if differing}
        if not levels:
            continue
        of_size = np.flatnonzero(sizes == size)
        tokens = pc.list_flatten(rows["token_ids"].take(pa.array(of_size))).to_numpy().reshape(-1, size)
        for level in sorted(levels):
            for key in blocking_keys(tokens, level):
                row.append(of_size)
                keys.append(key)
    placed = place_in_lists(rows, np.concatenate(row), np.concatenate(keys), sizes=8 * sizes, shards=shards)
    yield from (table.select(SETS.names).cast(SETS) for table in placed)


def level_of(differing: int) -> int:
    """Return ``differing``, the maximum number of differing words, rounded up to a power of two.

    Rounding reduces the number of different levels, for each of which a set has keys of its own.
    """
    return 1 << (differing - 1).bit_length()


def blocking_keys(tokens: np.ndarray, level: int) -> Iterator[np.ndarray]:
    """Yield int64 blocking keys; sets that differ in at most ``level`` words have at least one key in common.

    Args:
        tokens: (rows, words) int64, distinct in each row.
        level: at least 1.
    """
    parts = level + 1
    while math.comb(parts + 1, level) <= KEYS_A_LEVEL:
        parts += 1
    values = mix(tokens, level)
    part_of = values >> np.uint64(32)
    sums = [np.where(part_of % np.uint64(parts) == part, values, np.uint64(0)).sum(axis=1) for part in range(parts)]
    total = np.sum(sums, axis=0, dtype=np.uint64)
    for number, left_out in enumerate(itertools.combinations(range(parts), level)):
        kept = np.asarray(total - np.sum([sums[part] for part in left_out], axis=0, dtype=np.uint64))
        yield mix(kept.view(np.int64), number * 4096 + level).view(np.int64)


def find_leaks(sets: pa.Table, near_duplicate: float) -> Found:
    """Return the questions with the same or almost the same words in an earlier split.

    A question has one row for each split and reason, with the highest index that was found.

    Args:
        sets: SETS; all rows of each shard are present.
        near_duplicate: minimum Jaccard index of near duplicates.
    """
    equal = pc.is_null(sets["token_ids"])
    leaks, pairs = [_equals(sets.filter(equal))], 0
    different = sets.filter(pc.invert(equal)).combine_chunks()
    ranks, ids = different["rank"].to_numpy(), different["question_id"].to_numpy()
    for block in similar_pairs(different, near_duplicate, equal=False):
        reason = ranks[block.partner] * KINDS + NEAR_DUPLICATE
        leaks.append(highest(leaks_of(ids[block.row], ranks[block.row], reason, block.jaccard)))
        pairs += block.compared
    return Found(highest(pa.concat_tables(leaks)), pairs)


def highest(leaks: pa.Table) -> pa.Table:
    """Return the row with the highest score of each question, split and reason."""
    columns = [leaks[name].to_numpy() for name in ("question_id", "rank", "reason")]
    order = np.lexsort((-leaks["score"].to_numpy(), *columns[::-1]))
    return leaks.take(pa.array(order[starts_of_runs(*(column[order] for column in columns))]))


def _equals(sets: pa.Table) -> pa.Table:
    """Return the LEAKS among rows that have one key each, whose sets are equal where it is."""
    ranks, ids = sets["rank"].to_numpy(), sets["question_id"].to_numpy()
    of_set = earliest(pc.list_flatten(sets["blocking_keys"]).to_numpy(), ranks)
    of_bag = earliest(sets["bag_id"].to_numpy(), ranks)  # equal bags are equal sets, so all rows of a bag are present
    leaked = of_set < ranks
    reason = of_set * KINDS + np.where(of_bag == of_set, SAME_WORDS, NEAR_DUPLICATE)
    return leaks_of(ids[leaked], ranks[leaked], reason[leaked], np.ones(np.count_nonzero(leaked)))


def leaks_of(ids: np.ndarray, ranks: np.ndarray, reasons: np.ndarray, scores: np.ndarray) -> pa.Table:
    """Return LEAKS with these columns: question ids, ranks of their splits, numbers of reasons, Jaccard indexes."""
    columns = {"question_id": ids, "rank": ranks, "reason": reasons.astype(np.int8), "score": scores}
    return pa.table(columns).cast(LEAKS)
