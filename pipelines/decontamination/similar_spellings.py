"""Detection of questions with almost the same spelling in another split.

MEMBERS -> spellings -> SPELLINGS -> count_held_out -> merge -> TokenWeights
SPELLINGS, TokenWeights -> place_spellings -> SPELLINGS of one ``shard`` -> find_similar_spellings -> LEAKS

Sets of words miss a question that differs from another one in a few characters, such as "root of 31" from "root of
3". Their sets of character 4-grams are compared by the same Jaccard index.
"""

from __future__ import annotations

from collections.abc import Iterator
from types import ModuleType
from typing import Final

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from pipelines.decontamination.character_grams import count_grams, gram_sets, prefixes
from pipelines.decontamination.near_duplicates import (
    KINDS,
    PRECEDENCE,
    SIMILAR_SPELLING,
    Found,
    highest,
    leaks_of,
)
from pipelines.decontamination.partners import Partners
from pipelines.decontamination.places import contested, place_in_lists
from pipelines.decontamination.set_similarity import jaccard
from pipelines.decontamination.wide_parities import WideParities
from pipelines.intermediate import LEAKS, SPELLINGS
from pipelines.questions.token_frequencies import TokenWeights
from schemas.compiled import load_loops
from schemas.tables import with_nulls
from schemas.text_arrays import key_all

BLOCK_PAIRS: Final = 1_000_000
"""Approximate number of pairs whose sizes and parities numpy compares at a time: about 60 MB."""

POSSIBLE_PAIRS: Final = 2**18
"""Number of pairs that are left of these and compared at a time, if the compiled loop leaves them."""

COMPILED_PAIRS: Final = 2**22
"""Minimum number of pairs for which the compiled loop is loaded: numpy takes a tenth of a second for them."""


def spellings(members: pa.Table) -> pa.Table:
    """Return SPELLINGS of MEMBERS, one row a member, with question, rank and key alone."""
    columns = {
        "question_id": members["question_id"],
        "rank": pc.index_in(members["split"], value_set=pa.array(PRECEDENCE)).cast(pa.int8()),
        "key": key_all(members["text"].combine_chunks()),
    }
    return with_nulls(SPELLINGS, columns)


def count_held_out(rows: pa.Table) -> TokenWeights:
    """Return the number of questions of test and validation with each gram."""
    return count_grams(rows.filter(pc.greater(rows["rank"], 0))["key"].combine_chunks())


def place_spellings(
    rows: pa.Table, near_duplicate: float, held_out: TokenWeights, shards: int = 1
) -> Iterator[pa.Table]:
    """Yield SPELLINGS with the grams by which each question is compared; most questions of train have none.

    Args:
        rows: SPELLINGS of `spellings`.
        near_duplicate: minimum Jaccard index of near duplicates.
        held_out: sum of `count_held_out`.
        shards: number of shards in which spellings are compared.
    """
    compared = prefixes(rows["key"].combine_chunks(), near_duplicate, held_out)
    size, parity = np.zeros(len(rows), np.int32), np.zeros(len(rows), np.int64)
    size[compared.row], parity[compared.row] = compared.size, compared.parity
    columns = {"size": size, "parity": parity} | {name: rows[name] for name in ("question_id", "rank", "key")}
    sizes = pc.binary_length(rows["key"]).to_numpy()
    for table in place_in_lists(pa.table(columns), compared.row, compared.gram, sizes=sizes, shards=shards):
        yield table.select(SPELLINGS.names).cast(SPELLINGS)


def find_similar_spellings(rows: pa.Table, near_duplicate: float) -> Found:
    """Return the questions with almost the same spelling in an earlier split.

    A question has one row for each split, with the highest index that was found. One with very many possible partners
    is compared with no further ones of a split once one of them is similar (`partners.ALWAYS`).

    Args:
        rows: SPELLINGS; all rows of each shard are present.
        near_duplicate: minimum Jaccard index of near duplicates.
    """
    places = contested(rows, ("question_id", "rank", "size", "parity"))
    row_of, ranks, ids = (places[name].to_numpy() for name in ("row", "rank", "question_id"))
    max_differences = _most_differences(int(places["size"].to_numpy().max(initial=0)), near_duplicate)
    contested_sizes = np.zeros(len(rows), np.int64)
    contested_sizes[row_of] = places["size"].to_numpy()
    parities = WideParities.of(rows["key"], contested_sizes, max_differences)
    leaks, compared = [LEAKS.empty_table()], 0
    leaking = np.zeros((len(places), len(PRECEDENCE)), bool)
    for pairs in _candidates(places, near_duplicate, max_differences, leaking):
        compared += len(pairs[0])
        code = row_of[pairs[0]] * len(rows) + row_of[pairs[1]]
        _, once, again = np.unique(code, return_index=True, return_inverse=True)  # long questions share many grams
        distinct = row_of[pairs[:, once]]
        possible = np.flatnonzero(parities.may_be_similar(*distinct))
        scores = np.zeros(len(once))
        scores[possible] = _compare(rows, distinct[:, possible])
        score = scores[again]
        similar = score >= near_duplicate
        row, partner = pairs[:, similar]
        leaking[row, ranks[partner]] = True
        reason = ranks[partner] * KINDS + SIMILAR_SPELLING
        leaks.append(highest(leaks_of(ids[row], ranks[row], reason, score[similar])))
    return Found(highest(pa.concat_tables(leaks)), compared)


def _compare(rows: pa.Table, pairs: np.ndarray) -> np.ndarray:
    """Return the (P,) Jaccard index of each of (2, P) pairs of rows of SPELLINGS; each question is spelled once."""
    ids = rows["question_id"].to_numpy()
    _, first, place = np.unique(ids[pairs].ravel(), return_index=True, return_inverse=True)
    keys = rows["key"].take(pa.array(pairs.ravel()[first])).combine_chunks()
    left, right = place.reshape(2, -1)
    return jaccard(left, right, gram_sets(keys))


def _most_differences(largest: int, least: float) -> np.ndarray:
    """Return the maximum number of grams in which similar sets differ, int64 by the sum of their sizes.

    Sets of a and b grams with a Jaccard index of at least t differ in at most (a + b)(1 - t) / (1 + t) grams.

    Args:
        largest: maximum number of grams of a set.
        least: minimum Jaccard index of similar sets.
    """
    limits = np.floor(np.arange(2 * largest + 1) * (1 - least) / (1 + least) + 1e-9)
    return np.asarray(limits, np.int64)


def _candidates(
    places: pa.Table, least: float, max_differences: np.ndarray, leaking: np.ndarray
) -> Iterator[np.ndarray]:
    """Yield the pairs that sizes and parities do not exclude, one of a later split first, as (2, P) places.

    Args:
        places: of `contested`.
        least: minimum Jaccard index of similar sets.
        max_differences: of `_most_differences`.
        leaking: of `Partners.blocks`.
    """
    sizes = places["size"].to_numpy().astype(np.int64)
    parities = places["parity"].to_numpy().view(np.uint64)  # bits of a signed integer are counted in its absolute value
    later = np.flatnonzero(places["rank"].to_numpy() > 0)
    # 1e-9: a product that is whole but for its rounding error is whole
    smallest = np.ceil(least * sizes[later] - 1e-9).astype(np.int64)
    largest = np.floor(sizes[later] / least + 1e-9).astype(np.int64)
    partners = Partners.of(places, sizes, later, smallest, largest)
    all_pairs = int(partners.count.sum())
    loops = load_loops("pipelines.decontamination.numba_kernels", all_pairs, COMPILED_PAIRS)
    limit = BLOCK_PAIRS if loops is None else all_pairs + 1
    for block in partners.blocks(np.ones(len(places), np.int64), limit, leaking):
        if loops is None:
            row, partner = block.pairs
            possible = (
                np.bitwise_count(parities[row] ^ parities[partner]) <= max_differences[sizes[row] + sizes[partner]]
            )
            yield np.stack([row[possible], partner[possible]])
        else:
            yield from _compiled(loops, block, sizes, parities, max_differences)


def _compiled(
    loops: ModuleType, block: Partners, sizes: np.ndarray, parities: np.ndarray, max_differences: np.ndarray
) -> Iterator[np.ndarray]:
    """Yield the possible pairs of a block; each part is valid until the next one is taken."""
    pairs = np.empty((2, max(POSSIBLE_PAIRS, int(block.count.max()))), np.int64)
    run = 0
    while run < len(block.row):
        runs = block.row, block.first, block.count, block.order
        written, run = loops.write_possible(*runs, sizes, parities, max_differences, run, pairs)
        yield pairs[:, :written]
