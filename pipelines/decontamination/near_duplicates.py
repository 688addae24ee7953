"""Questions that say the same in other words' order, or nearly: where they meet, and which of them are too alike.

MEMBERS of all splits -> sets_to_compare -> SETS of a meeting -> find_leaks -> LEAKS

Two sets that differ in at most k words and are cut into m > k parts, each word into the part its hash decides, agree on
m - k parts at least. So they meet where the union of m - k parts is the same: no pair is missed, few meet in vain.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator
from typing import Final, NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from pipelines.decontamination.set_similarity import differences, similar_pairs
from pipelines.intermediate import LEAKS, SETS
from schemas.hashing import bag_ids, mix

PRECEDENCE: Final = ("train", "test", "validation")
"""A question leaves its split when an earlier one of these has its like."""

REASONS: Final = tuple(
    f"{kind}in_{split}" for split in PRECEDENCE[:2] for kind in ("", "same_words_", "near_duplicate_")
)
"""Why a question leaves, the first that applies: three for the split that has its like."""

SAME_WORDS, NEAR_DUPLICATE, KINDS = 1, 2, 3

MEETINGS_A_LEVEL: Final = 6
"""Finer parts meet less often in vain, but there are more unions of them; at most so many are formed if possible."""


class Found(NamedTuple):
    """LEAKS, and how many pairs of sets were compared word by word."""

    leaks: pa.Table
    pairs: int


def sets_to_compare(members: pa.Table, near_duplicate: float) -> pa.Table:
    """Return the SETS rows of each member: one to meet equals, more to meet sets that differ in a few words.

    Args:
        members: MEMBERS with their split.
        near_duplicate: the least Jaccard index to find; at 1 only bags of words meet, repeats included.
    """
    ranks = pc.index_in(members["split"], value_set=pa.array(PRECEDENCE)).cast(pa.int8())
    known = {"question_id": members["question_id"], "rank": ranks, "bag_id": members["bag_id"]}
    same = members["bag_id"] if near_duplicate == 1 else bag_ids(members["token_ids"])
    empty = pa.nulls(len(members), SETS.field("token_ids").type)
    equals = pa.table({"meeting": same, **known, "token_ids": empty}).cast(SETS)
    if near_duplicate == 1:
        return equals
    plain = pa.table({**known, "token_ids": members["token_ids"]}).combine_chunks()
    return pa.concat_tables([equals, *_near(plain, near_duplicate)])


def _near(rows: pa.Table, least: float) -> Iterator[pa.Table]:
    """Yield the SETS in which sets that differ can meet."""
    sizes = pc.list_value_length(rows["token_ids"]).to_numpy()
    for size in np.unique(sizes).tolist():
        levels = {level_of(most) for most in differences(size, least).values() if most}
        if not levels:
            continue
        of_size = rows.filter(pa.array(sizes == size))
        tokens = pc.list_flatten(of_size["token_ids"]).to_numpy().reshape(-1, size)
        for level in sorted(levels):
            for meeting in meetings(tokens, level):
                yield of_size.add_column(0, "meeting", pa.array(meeting)).cast(SETS)


def level_of(most: int) -> int:
    """Return the next power of two: sets that may differ in so many words or fewer meet on one level."""
    return 1 << (most - 1).bit_length()


def meetings(tokens: np.ndarray, level: int) -> Iterator[np.ndarray]:
    """Yield int64 keys: sets that differ in at most ``level`` words have at least one of them in common.

    Args:
        tokens: (rows, words) int64, distinct in each row.
        level: at least 1.
    """
    parts = level + 1
    while math.comb(parts + 1, level) <= MEETINGS_A_LEVEL:
        parts += 1
    values = mix(tokens, level)
    part_of = values >> np.uint64(32)
    sums = [np.where(part_of % np.uint64(parts) == part, values, np.uint64(0)).sum(axis=1) for part in range(parts)]
    total = np.sum(sums, axis=0, dtype=np.uint64)
    for number, left_out in enumerate(itertools.combinations(range(parts), level)):
        kept = np.asarray(total - np.sum([sums[part] for part in left_out], axis=0, dtype=np.uint64))
        yield mix(kept.view(np.int64), number * 4096 + level).view(np.int64)


def find_leaks(sets: pa.Table, near_duplicate: float) -> Found:
    """Return the questions that have their like in an earlier split; a question may be told of several times.

    Args:
        sets: SETS; all rows of each meeting are present.
        near_duplicate: the least Jaccard index.
    """
    equal = pc.is_null(sets["token_ids"])
    leaks, pairs = [_equals(sets.filter(equal))], 0
    different = sets.filter(pc.invert(equal)).combine_chunks()
    different = different.filter(pa.array(_mixed(different)))
    ranks, ids = different["rank"].to_numpy(), different["question_id"].to_numpy()
    for block in similar_pairs(different, near_duplicate, equal=False):
        reason = ranks[block.partner] * KINDS + NEAR_DUPLICATE
        leaks.append(_leaks(ids[block.row], ranks[block.row], reason, block.jaccard))
        pairs += block.compared
    return Found(pa.concat_tables(leaks), pairs)


def earliest(groups: np.ndarray, ranks: np.ndarray) -> np.ndarray:
    """Return for each row the lowest rank of its group."""
    distinct, group = np.unique(groups, return_inverse=True)
    lowest = np.full(len(distinct), len(PRECEDENCE), ranks.dtype)
    np.minimum.at(lowest, group, ranks)
    return lowest[group]


def _equals(sets: pa.Table) -> pa.Table:
    """Return the LEAKS among rows whose meeting tells that their sets are equal."""
    ranks, ids = sets["rank"].to_numpy(), sets["question_id"].to_numpy()
    of_set = earliest(sets["meeting"].to_numpy(), ranks)
    of_bag = earliest(sets["bag_id"].to_numpy(), ranks)  # equal bags are equal sets: they all are here
    leaked = of_set < ranks
    reason = of_set * KINDS + np.where(of_bag == of_set, SAME_WORDS, NEAR_DUPLICATE)
    return _leaks(ids[leaked], ranks[leaked], reason[leaked], np.ones(np.count_nonzero(leaked)))


def _mixed(sets: pa.Table) -> np.ndarray:
    """Tell of each row whether its meeting has rows of another rank."""
    meetings, ranks = sets["meeting"].to_numpy(), sets["rank"].to_numpy()
    return np.asarray(earliest(meetings, ranks) != -earliest(meetings, -ranks))


def _leaks(ids: np.ndarray, ranks: np.ndarray, reasons: np.ndarray, scores: np.ndarray) -> pa.Table:
    columns = {"question_id": ids, "rank": ranks, "reason": reasons.astype(np.int8), "score": scores}
    return pa.table(columns).cast(LEAKS)
