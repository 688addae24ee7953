"""Sketches of users that merge across days: the smallest distinct hashes of each question.

groups, hashes of users -> sketch_users -> Sketches; sketches of several days -> merge_sketches -> Sketches
-> has_users, count_users

The `size` smallest of the hashes of a union are among the `size` smallest of its parts, so merging loses nothing, in
any order and however often. A sketch with fewer hashes than its size holds every user, so its count is exact; a fuller
one estimates it with a standard error of about 1 / sqrt(size - 2) of the count (Beyer et al. 2007, "On Synopses for
Distinct-Value Estimation Under Multiset Operations"). Sketches are stored: hash users with a key (`users.hash_users`).
"""

from __future__ import annotations

from typing import Final, NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from schemas.ragged import lists_of, ranks_in_runs, starts_of_runs

SIZE: Final = 64
"""Maximum number of hashes of a sketch: exact for up to 63 users, else a standard error of 13 %; at most 512 bytes."""

SKETCH: Final = pa.field("users", pa.list_(pa.uint64()))
"""Column of sketches: ascending, distinct hashes."""


class Sketches(NamedTuple):
    """One sketch for each group.

    Attributes:
        groups: int64, ascending.
        users: (groups,) lists of at most the size of a sketch, of type `SKETCH`; a group of unknown users has an empty
            list.
    """

    groups: np.ndarray
    users: pa.ListArray


def sketch_users(groups: np.ndarray, hashes: pa.Array, size: int = SIZE) -> Sketches:
    """Return a sketch of the users of each group.

    Args:
        groups: (rows,) int64, such as the id of a question.
        hashes: (rows,) uint64 of `users.hash_users`; null: unknown, counts for no user.
        size: maximum number of hashes of a sketch, at least 3.
    """
    if size < 3:
        raise ValueError(f"a sketch has at least 3 hashes, not {size}")
    known = pc.is_valid(hashes).to_numpy(zero_copy_only=False)
    group, who = groups[known], hashes.drop_null().to_numpy()
    order = np.lexsort((who, group))
    group, who = group[order], who[order]
    distinct = starts_of_runs(group, who)
    group, who = group[distinct], who[distinct]
    smallest = ranks_in_runs(starts_of_runs(group), len(group)) < size
    group, who = group[smallest], who[smallest]
    every = np.unique(groups)
    return Sketches(every, lists_of(pa.array(who, pa.uint64()), np.searchsorted(group, every)))


def merge_sketches(groups: np.ndarray, users: pa.ListArray, size: int = SIZE) -> Sketches:
    """Return one sketch for each group of several, as of all of their users.

    Args:
        groups: (rows,) int64, in any order.
        users: (rows,) sketches of this size; a null counts as empty.
        size: maximum number of hashes of a sketch.
    """
    hashed = np.repeat(groups, pc.fill_null(pc.list_value_length(users), 0).to_numpy())
    merged = sketch_users(hashed, pc.list_flatten(users), size)
    every = np.unique(groups)
    starts = np.searchsorted(np.repeat(merged.groups, pc.list_value_length(merged.users).to_numpy()), every)
    return Sketches(every, lists_of(pc.list_flatten(merged.users), starts))


def has_users(users: pa.ListArray, least: int, size: int = SIZE) -> pa.BooleanArray:
    """Return whether each group has at least this many distinct users, exactly.

    Args:
        users: sketches.
        least: number of users, at most the size.
        size: of the sketches.

    Raises:
        ValueError: sketches of this size do not decide it.
    """
    if least > size:
        raise ValueError(f"sketches of {size} users do not decide whether there are {least}")
    return pc.greater_equal(pc.fill_null(pc.list_value_length(users), 0), least)


def count_users(users: pa.ListArray, size: int = SIZE) -> np.ndarray:
    """Return the number of distinct users of each group, int64: exact below the size, else an estimate.

    Args:
        users: sketches.
        size: of the sketches.
    """
    lengths = pc.fill_null(pc.list_value_length(users), 0).to_numpy()
    counts: np.ndarray = lengths.astype(np.int64)
    full = lengths >= size
    if full.any():
        largest = pc.list_flatten(users).to_numpy()[np.cumsum(lengths)[full] - 1].astype(np.float64)
        counts[full] = np.maximum(np.rint((size - 1) / (largest / 2.0**64)), size)
    return counts
