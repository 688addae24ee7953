"""Check that the written clusters have no leaked question, by another method than the removal.

Written of clusters -> CheckLeakage -> Written (counts of questions and pairs compared and of leaks found)

The removal compares rows in memory, by parts of hashed sets. The check reads the written files, computes the sets from
the texts and compares them by prefix filtering (Chaudhuri et al. 2006): the words of each set are ordered from rare to
frequent. If sets of n and m words share i words, then at least l of these are among the first n - i + l words of the
one set and the first m - i + l words of the other.
"""

from __future__ import annotations

import dataclasses
import itertools
import math
from collections.abc import Iterator
from typing import Any, Final

import apache_beam as beam
import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from pipelines.decontamination.near_duplicates import PRECEDENCE
from pipelines.decontamination.places import earliest, place_in_lists, place_once
from pipelines.decontamination.set_similarity import differences, similar_pairs
from pipelines.engine.shuffle import GroupByShard
from pipelines.intermediate import SETS
from pipelines.questions.aggregation import token_ids
from pipelines.questions.token_frequencies import TokenWeights
from pipelines.writing.reported import Written
from schemas.artifacts.manifest import read_verified
from schemas.hashing import mix
from schemas.text_arrays import hash64_all, key_all, words_all

COMMON_WORDS: Final = 3
"""Number of words of their prefixes that two sets must share to be compared; fewer if similar sets can share fewer."""

LONG: Final = 30
"""Maximum number of words of the smaller set at which `COMMON_WORDS` is used.

Longer sets are compared if they share one word of their prefixes, because the combinations of three are too many."""


@dataclasses.dataclass
class CheckLeakage(beam.PTransform):
    """Count the questions of written clusters that have an equal or similar question in an earlier split.

    Input: Written of clusters, and one TokenWeights.
    Output: Written with ``leakage.check.*`` counts.

    Attributes:
        near_duplicate: similarity of leaked questions, as in `pipelines.decontamination.settings.Leakage`.
        shards: number of shards of the shuffle.
        url: URL of the dataset; the paths of the files are relative to it.
    """

    near_duplicate: float
    shards: int
    url: str

    def expand(self, inputs: tuple[beam.PCollection[Written], beam.PCollection[TokenWeights]]) -> Any:
        """Read the files, group their questions by blocking key and count the leaks."""
        written, weights = inputs
        asked = written | "ReadClusters" >> beam.FlatMap(_read, self.url).with_outputs("written", main="main")
        leaks = (
            asked.main
            | "SetsToCheck"
            >> beam.FlatMap(
                sets_to_check, self.near_duplicate, weights=beam.pvalue.AsSingleton(weights), shards=self.shards
            )
            | "ShuffleByPrefix" >> GroupByShard(key="shard", shards=self.shards)
            | "CountLeaks" >> beam.Map(lambda sets: Written(None, count_leaks(sets, self.near_duplicate)))
        )
        return (asked.written, leaks) | "Checked" >> beam.Flatten()


def _read(written: Written, url: str) -> Iterator[Any]:
    if written.file:
        columns = ["split", "question_ids", "texts"]
        asked = questions_of(pq.read_table(pa.BufferReader(read_verified(url, written.file)), columns=columns))
        splits = pc.value_counts(pa.array(PRECEDENCE).take(asked["rank"])).to_pylist()
        yield asked
        counts = {f"leakage.check.compared.{count['values']}": count["counts"] for count in splits}
        yield beam.pvalue.TaggedOutput("written", Written(None, counts))


def questions_of(clusters: pa.Table) -> pa.Table:
    """Return ``question_id``, ``rank`` of the split and ``text`` of each question of each of the CLUSTERS."""
    parents = pc.list_parent_indices(clusters["question_ids"])
    return pa.table(
        {
            "question_id": pc.list_flatten(clusters["question_ids"]),
            "rank": pc.index_in(clusters["split"], value_set=pa.array(PRECEDENCE)).cast(pa.int8()).take(parents),
            "text": pc.list_flatten(clusters["texts"]),
        }
    ).combine_chunks()


def sets_to_check(asked: pa.Table, near_duplicate: float, weights: TokenWeights, shards: int = 1) -> Iterator[pa.Table]:
    """Yield the SETS rows of each question.

    Args:
        asked: table from `questions_of`.
        near_duplicate: minimum Jaccard index; 1: only equal bags of words, 0: only equal questions.
        weights: weights by which tokens are ordered from rare to frequent. They affect the number of pairs compared,
            not the leaks found.
        shards: number of shards in which sets are compared.
    """
    columns = {"question_id": asked["question_id"], "rank": asked["rank"], "bag_id": asked["question_id"]}
    if near_duplicate in (0, 1):
        ranks = asked["rank"] if near_duplicate else pc.min_element_wise(asked["rank"], pa.scalar(1, pa.int8()))
        key = _sorted_words(asked["text"]) if near_duplicate else asked["question_id"]
        empty = pa.nulls(len(asked), SETS.field("token_ids").type)
        rows = pa.table({**columns, "rank": ranks, "token_ids": empty})
        yield place_once(rows, key, shards).select(SETS.names).cast(SETS)
        return
    lists = token_ids(key_all(asked["text"].combine_chunks()))
    sizes = pc.list_value_length(lists).to_numpy(zero_copy_only=False)
    tokens = pc.list_flatten(lists).to_numpy(zero_copy_only=False)
    rare_first = tokens[np.lexsort((tokens, -weights.of(tokens), np.repeat(np.arange(len(sizes)), sizes)))]
    rows = pa.table({**columns, "token_ids": pa.ListArray.from_arrays(lists.offsets, pa.array(rare_first))})
    row, keys = [np.zeros(0, np.int64)], [np.zeros(0, np.int64)]
    for size in np.unique(sizes).tolist():
        of_size = np.flatnonzero(sizes == size)
        matrix = pc.list_flatten(rows["token_ids"].take(pa.array(of_size))).to_numpy().reshape(-1, size)
        for key in prefix_keys(matrix, near_duplicate):
            row.append(of_size)
            keys.append(key)
    placed = place_in_lists(rows, np.concatenate(row), np.concatenate(keys), sizes=8 * sizes, shards=shards)
    yield from (table.select(SETS.names).cast(SETS) for table in placed)


def _sorted_words(texts: pa.ChunkedArray) -> pa.Array:
    words = words_all(key_all(texts.combine_chunks())).to_pylist()
    return hash64_all(pa.array([" ".join(sorted(listed)) for listed in words], pa.string()))


def prefix_keys(tokens: np.ndarray, least: float) -> Iterator[np.ndarray]:
    """Yield int64 blocking keys; two similar sets have at least one key in common.

    Args:
        tokens: (rows, words) int64, distinct in each row; the order of two tokens is the same in all rows.
        least: minimum Jaccard index of similar sets.
    """
    size = tokens.shape[1]
    for other, limit in differences(size, least).items():
        if min(size, other) > LONG:
            continue
        overlap = (size + other - limit) // 2
        common = min(COMMON_WORDS, overlap)
        sizes = min(size, other) * 4096 + max(size, other)  # a salt, so that sets of other sizes have other keys
        for chosen in itertools.combinations(range(size - overlap + common), common):
            yield mix(mix(tokens[:, list(chosen)], 0).sum(axis=1, dtype=np.uint64).view(np.int64), sizes).view(np.int64)
    if size > LONG:
        for position in range(size - math.ceil(least * size - 1e-9) + 1):
            yield mix(tokens[:, position], 0).view(np.int64)


def count_leaks(sets: pa.Table, near_duplicate: float) -> dict[str, int]:
    """Return the number of leaks and the number of pairs compared.

    A leak is a row with an equal or similar question in an earlier split. A question with several SETS rows can be
    counted several times.

    Args:
        sets: SETS; all rows of each shard are present.
        near_duplicate: minimum Jaccard index.
    """
    equal = pc.is_null(sets["token_ids"])
    same, different = sets.filter(equal), sets.filter(pc.invert(equal)).combine_chunks()
    ranks = same["rank"].to_numpy()
    leaks = int(np.count_nonzero(earliest(pc.list_flatten(same["blocking_keys"]).to_numpy(), ranks) < ranks))
    compared = 0
    for pairs in similar_pairs(different, near_duplicate, equal=True):
        leaks += len(np.unique(pairs.row))
        compared += pairs.compared
    return {"leakage.check.found": leaks, "leakage.check.compared.pairs_of_sets": compared}
