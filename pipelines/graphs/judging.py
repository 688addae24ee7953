"""Steps of the graph of a dataset that judge clusters and make the tables of the accepted ones.

MEMBERS and STANDINGS of whole answers -> judge -> members of accepted clusters, finished tables of train, REJECTS
members of validation and test without leaked questions -> finish -> their finished tables
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import apache_beam as beam
import pyarrow as pa
import pyarrow.compute as pc

from pipelines.clusters.clustering import cluster, describe
from pipelines.clusters.coherence import Coherence, coherence
from pipelines.clusters.pairs import pair
from pipelines.clusters.splits import keep_splits, splits_of_answers, without_splits
from pipelines.engine import progress
from pipelines.engine.shuffle import Joined
from pipelines.graphs.settings import Assembly
from pipelines.linkage.linker import Linker
from pipelines.linkage.standings import LogAgreement
from pipelines.linkage.threshold_sample import with_evidence
from pipelines.questions.aggregation import places
from pipelines.questions.token_frequencies import TokenWeights
from pipelines.summary.fallbacks import broad_answers
from pipelines.writing.rejects import TAG
from pipelines.writing.reported import Written
from schemas.ragged import starts_of_runs
from schemas.tables import SPLITS


def judge(
    joined: Joined,
    assembly: Assembly,
    weights: TokenWeights,
    linker: Linker | None = None,
    agreement: Mapping[int, LogAgreement] | None = None,
    threshold: float | None = None,
    has_earlier_splits: bool = False,
) -> Iterator[Any]:
    """Yield the members of accepted clusters with their split, the finished tables of train, and rejected members.

    The split is the answer's, so that all clusters of an answer share it.

    Args:
        joined: MEMBERS of whole answers, with their vectors if there is an encoder, and their STANDINGS of each kind if
            there are any.
        assembly: how to judge.
        weights: weights of the log's tokens.
        linker: splits the answers.
        agreement: agreement of the log by the number of the kind, where neighbours were sought.
        threshold: of the log, for a linker that has none of its own.
        has_earlier_splits: splits are of earlier versions, and not of rejected rows.
    """
    members, evidence = with_evidence(joined, agreement)
    members, moved = keep_splits(members)
    splits = members.select(["answer_id", "split"])
    judged = [without_splits(members) if has_earlier_splits else members]
    del members
    broad = broad_answers(judged[0], weights)
    given, reviewed = assembly.recalibration, assembly.reviewed
    clustered = cluster(  # it alone has the members, so that they can leave memory
        judged.pop(), assembly.gate, weights, linker, given, evidence=evidence, threshold=threshold, reviewed=reviewed
    )
    progress.count(clustered.counts["members_judged"], "question", "clustered")
    split = splits_of_answers(clustered.members["answer_id"], splits, assembly.salt)
    believed = clustered.members.set_column(clustered.members.column_names.index("split"), "split", split)
    yield believed
    in_train = pc.equal(split, "train")
    starts = starts_of_runs(believed["cluster_id"].to_numpy())
    cluster_in_train = in_train.take(pa.array(starts)).to_numpy(zero_copy_only=False)
    scores = Coherence(*(values[cluster_in_train] for values in clustered.coherence))
    yield from _tables(believed.filter(in_train), scores, assembly)
    yield beam.pvalue.TaggedOutput(TAG, pa.concat_tables([clustered.rejects, moved]))
    clustered.counts["members_judged"] += len(moved)
    written = Written(None, clustered.counts, broad_answers=broad, judged_answers=clustered.judged_answers)
    yield beam.pvalue.TaggedOutput("written", written)
    if len(clustered.names):
        yield beam.pvalue.TaggedOutput("names", clustered.names)


def finish(members: pa.Table, assembly: Assembly, weights: TokenWeights) -> Iterator[Any]:
    """Yield the finished tables of validation and test, scored again now that leaked questions are gone."""
    starts = starts_of_runs(members["cluster_id"].to_numpy())
    yield from _tables(members, coherence(members["token_ids"], starts, weights), assembly)


def _tables(members: pa.Table, scores: Coherence, assembly: Assembly) -> Iterator[beam.pvalue.TaggedOutput]:
    """Yield the tables of each split; ``shard_key`` is the hash of an answer of the shard."""
    yield beam.pvalue.TaggedOutput("places", places(members))
    tables = {"clusters": describe(members, scores), "pairs": pair(members, assembly.max_pairs_per_cluster)}
    split_of_cluster = tables["clusters"].select(["cluster_id", "split"])
    for split in SPLITS:
        ids = split_of_cluster.filter(pc.equal(split_of_cluster["split"], split))["cluster_id"]
        for name, table in tables.items():
            part = (
                table.filter(pc.is_in(table["cluster_id"], value_set=ids))
                if len(ids) < len(split_of_cluster)
                else table
            )
            if len(ids) and len(part):
                shard_key = pa.repeat(members["answer_id"][0], len(part))
                yield beam.pvalue.TaggedOutput(f"{name}_{split}", part.append_column("shard_key", shard_key))
