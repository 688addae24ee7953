"""The proof that nothing leaked: the clusters as they were written, compared once more in another way.

Written of clusters -> CheckLeakage -> Written (counts of what was compared and what was found)

Removal compares what the pipeline holds in memory, by parts of hashed sets. This reads the finished files, starts from
their texts and compares by prefixes: with the words of both sets ordered from rare to frequent, sets of n and m words
that share i have l in common among their first n - i + l and m - i + l (prefix filtering, Chaudhuri et al. 2006).
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

from pipelines.decontamination.near_duplicates import PRECEDENCE, earliest
from pipelines.decontamination.set_similarity import differences, similar_pairs
from pipelines.engine.shuffle import GroupByShard
from pipelines.intermediate import SETS, Written
from pipelines.questions.aggregation import token_ids
from pipelines.questions.token_frequencies import TokenWeights
from schemas.artifacts.manifest import read_verified
from schemas.hashing import mix
from schemas.text_arrays import hash64_all, key_all, words_all

COMMON_WORDS: Final = 3
"""So many of the rarest words must be shared before two sets are compared."""

LONG: Final = 30
"""Of sets with more words than this one shared word will do: there are too many threes."""


@dataclasses.dataclass
class CheckLeakage(beam.PTransform):
    """Count the questions of written clusters that have a like in an earlier split.

    Input: Written of clusters, and one TokenWeights.
    Output: Written with ``leakage.check.*`` counts.

    Attributes:
        near_duplicate: as for `pipelines.decontamination.transform.Leakage`.
        shards: of the shuffle.
        url: the dataset's, which the files are relative to.
    """

    near_duplicate: float
    shards: int
    url: str

    def __post_init__(self) -> None:
        super().__init__()

    def expand(self, inputs: tuple[beam.PCollection[Written], beam.PCollection[TokenWeights]]) -> Any:
        """Read the files, meet and count."""
        written, weights = inputs
        asked = written | "ReadClusters" >> beam.FlatMap(_read, self.url).with_outputs("written", main="main")
        found = (
            asked.main
            | "SetsToCheck" >> beam.Map(sets_to_check, self.near_duplicate, weights=beam.pvalue.AsSingleton(weights))
            | "MeetByPrefix" >> GroupByShard(key="meeting", shards=self.shards)
            | "CountLeaks" >> beam.Map(lambda sets: Written(None, count_leaks(sets, self.near_duplicate)))
        )
        return (asked.written, found) | "Checked" >> beam.Flatten()


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


def sets_to_check(asked: pa.Table, near_duplicate: float, weights: TokenWeights) -> pa.Table:
    """Return the SETS rows of each question.

    Args:
        asked: what `questions_of` returns.
        near_duplicate: the least Jaccard index; 1: only equal bags of words meet, 0: only equal questions.
        weights: tell the rare tokens; any would lead to the same finds.
    """
    known = {"question_id": asked["question_id"], "rank": asked["rank"], "bag_id": asked["question_id"]}
    if near_duplicate in (0, 1):
        ranks = asked["rank"] if near_duplicate else pc.min_element_wise(asked["rank"], pa.scalar(1, pa.int8()))
        meeting = _sorted_words(asked["text"]) if near_duplicate else asked["question_id"]
        empty = pa.nulls(len(asked), SETS.field("token_ids").type)
        return pa.table({"meeting": meeting, **known, "rank": ranks, "token_ids": empty}).cast(SETS)
    lists = token_ids(key_all(asked["text"].combine_chunks()))
    sizes = pc.list_value_length(lists).to_numpy(zero_copy_only=False)
    tokens = pc.list_flatten(lists).to_numpy(zero_copy_only=False)
    rare_first = tokens[np.lexsort((tokens, -weights.of(tokens), np.repeat(np.arange(len(sizes)), sizes)))]
    rows = pa.table({**known, "token_ids": pa.ListArray.from_arrays(lists.offsets, pa.array(rare_first))})
    met = [SETS.empty_table()]
    for size in np.unique(sizes).tolist():
        of_size = rows.filter(pa.array(sizes == size)).combine_chunks()
        matrix = pc.list_flatten(of_size["token_ids"]).to_numpy().reshape(-1, size)
        met += [
            of_size.add_column(0, "meeting", pa.array(m)).cast(SETS) for m in prefix_meetings(matrix, near_duplicate)
        ]
    return pa.concat_tables(met)


def _sorted_words(texts: pa.ChunkedArray) -> pa.Array:
    words = words_all(key_all(texts.combine_chunks())).to_pylist()
    return hash64_all(pa.array([" ".join(sorted(one)) for one in words], pa.string()))


def prefix_meetings(tokens: np.ndarray, least: float) -> Iterator[np.ndarray]:
    """Yield int64 keys: of two similar sets at least one is the same.

    Args:
        tokens: (rows, words) int64, distinct in each row and in an order that all sets share.
        least: the Jaccard index from which on sets are similar.
    """
    size = tokens.shape[1]
    for other, most in differences(size, least).items():
        if min(size, other) > LONG:
            continue
        overlap = (size + other - most) // 2
        common = min(COMMON_WORDS, overlap)
        sizes = min(size, other) * 4096 + max(size, other)
        for chosen in itertools.combinations(range(size - overlap + common), common):
            yield mix(mix(tokens[:, list(chosen)], 0).sum(axis=1, dtype=np.uint64).view(np.int64), sizes).view(np.int64)
    if size > LONG:
        for position in range(size - math.ceil(least * size - 1e-9) + 1):
            yield mix(tokens[:, position], 0).view(np.int64)


def count_leaks(sets: pa.Table, near_duplicate: float) -> dict[str, int]:
    """Return in how many places a question has its like in an earlier split, and how many pairs were compared.

    Args:
        sets: SETS; all rows of each meeting are present.
        near_duplicate: the least Jaccard index.
    """
    equal = pc.is_null(sets["token_ids"])
    same, different = sets.filter(equal), sets.filter(pc.invert(equal)).combine_chunks()
    ranks = same["rank"].to_numpy()
    found = int(np.count_nonzero(earliest(same["meeting"].to_numpy(), ranks) < ranks))
    compared = 0
    for pairs in similar_pairs(different, near_duplicate, equal=True):
        found += len(np.unique(pairs.row))
        compared += pairs.compared
    return {"leakage.check.found": found, "leakage.check.compared.pairs_of_sets": compared}
