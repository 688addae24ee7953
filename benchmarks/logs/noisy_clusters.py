"""Datasets with wrong train clusters, as logs have them, and unchanged validation and test.

dataset, share of wrong clusters -> write_noisy -> dataset
"""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from benchmarks.logs.cluster_sources import Source
from benchmarks.logs.silver_logs import ALONE, TWO_IN_ONE, UNRELATED, log_of
from pipelines.clusters.clustering import describe
from pipelines.clusters.coherence import coherence
from pipelines.clusters.pairs import pair
from pipelines.questions.token_frequencies import TokenWeights
from pipelines.writing.parquet import ORDER, to_parquet
from schemas.artifacts.dataset import Dataset
from schemas.artifacts.manifest import Manifest
from schemas.artifacts.manifest import Source as Input
from schemas.artifacts.writer import Output
from schemas.ragged import starts_of_runs
from schemas.tables import CLUSTERS, TABLES, conform
from schemas.text_arrays import key_all, tokens_all

PAIRS_AN_ANSWER = 10
"""Maximum number of pairs of an answer. A quarter of all pairs of Quora's train clusters are of the 50 largest ones;
without a limit the share of noise would matter less than whether it affects one of those."""

Answers = list[tuple[int, list[np.ndarray]]]
"""Kind of each answer, and the rows of each of its clusters."""


def noisy_answers(clusters: list[np.ndarray], *, share: float, seed: int) -> Answers:
    """Return answers with a share of wrong clusters; a larger share contains the wrong clusters of a smaller one.

    Half of the wrong clusters are joined in pairs under one answer. The questions of the other half are assigned at
    random to generic answers of the sizes of these clusters: unrelated ones share an answer, paraphrases have several.

    Args:
        clusters: rows of each.
        share: of the clusters, from 0 to 1.
        seed: of all choices.
    """
    generator = np.random.default_rng(seed)
    order = [clusters[number] for number in generator.permutation(len(clusters))]
    wrong = round(share * len(order))
    merged = wrong // 4
    right = len(order) - (wrong - 2 * merged)
    answers: Answers = [(TWO_IN_ONE, order[2 * number : 2 * number + 2]) for number in range(merged)]
    answers += [(ALONE, [cluster]) for cluster in order[2 * merged : right]]
    if generic := order[right:]:
        dealt = generator.permutation(np.concatenate(generic))
        parts = np.split(dealt, np.cumsum([len(cluster) for cluster in generic])[:-1])
        answers += [(UNRELATED, list(part[:, None])) for part in parts]
    return answers


def write_noisy(dataset: Dataset, url: str, *, share: float, pairs: int, seed: int = 0) -> Manifest:
    """Write the dataset with a share of its train clusters wrong, and ``pairs`` train pairs.

    The pairs are a uniform sample of at most `PAIRS_AN_ANSWER` pairs of each answer; their number is fixed.

    Args:
        dataset: its questions are in one cluster each.
        url: of the new one; an existing dataset is replaced.
        share: of the train clusters.
        pairs: of train; all pairs if there are fewer.
        seed: of all choices.
    """
    output = Output(url, "dataset", overwrite=True)
    source = _train(dataset)
    log = log_of(source, noisy_answers(source.clusters, share=share, seed=seed))
    members = _clustered(log.members)
    learned = pair(members, PAIRS_AN_ANSWER)
    drawn = np.random.default_rng(seed).permutation(len(learned))[:pairs]
    learned = learned.take(pa.array(np.sort(drawn)))
    tables = _tables(dataset, members, log.weights, learned)
    files = [
        output.write(f"{name}/all.parquet", to_parquet(table, name), table=name, rows=len(table))
        for name, table in tables.items()
    ]
    return output.publish(
        files,
        inputs=[Input(url=dataset.url, digest=dataset.manifest.digest)],
        configuration={"share": share, "pairs": pairs, "pairs_an_answer": PAIRS_AN_ANSWER, "seed": seed},
        counters={
            "clusters_train": len(np.unique(log.members["answer_id"].to_numpy())),
            "pairs_train": len(learned),
            "pairs_train_wrong": _wrong(source, learned),
        },
    )


def _train(dataset: Dataset) -> Source:
    """Return the train clusters."""
    table = dataset.table("clusters", columns=["cluster_id", "question_ids", "texts"], split="train").sort_by(
        "cluster_id"
    )
    sizes = pc.list_value_length(table["question_ids"]).to_numpy()
    ids = pc.list_flatten(table["question_ids"]).to_numpy()
    texts = pc.list_flatten(table["texts"]).combine_chunks()
    words = [frozenset(of_text) for of_text in tokens_all(key_all(texts)).to_pylist()]
    return Source(texts, words, ids, np.split(np.arange(len(ids)), np.cumsum(sizes)[:-1]), np.zeros(0, np.int64))


def _clustered(members: pa.Table) -> pa.Table:
    """Return members of train, each answer a cluster."""
    for name, values in (("cluster_id", members["answer_id"]), ("split", pa.repeat("train", len(members)))):
        members = members.set_column(members.column_names.index(name), name, values)
    return members


def _tables(dataset: Dataset, members: pa.Table, weights: TokenWeights, learned: pa.Table) -> dict[str, pa.Table]:
    """Return the tables of the dataset with other train clusters and pairs."""
    answers = members["cluster_id"]
    scores = coherence(members["token_ids"], starts_of_runs(answers.to_numpy()), weights)
    clusters, pairs, questions = (dataset.table(name) for name in ("clusters", "pairs", "questions"))
    held_out = clusters.filter(pc.not_equal(clusters["split"], "train"))
    kept = pairs.filter(pc.is_in(pairs["cluster_id"], value_set=held_out["cluster_id"].combine_chunks()))
    home = answers.take(pc.index_in(questions["question_id"], value_set=members["question_id"].combine_chunks()))
    column = questions.column_names.index("cluster_id")
    tables = {
        "clusters": pa.concat_tables([held_out, _plain(describe(members, scores).cast(CLUSTERS))]),
        "pairs": pa.concat_tables([kept, _plain(learned)]),
        "questions": questions.set_column(column, "cluster_id", pc.coalesce(home, questions["cluster_id"])),
    }
    return {
        name: conform(table, TABLES[name]).sort_by([(key, "ascending") for key in ORDER[name]])
        for name, table in tables.items()
    }


def _plain(table: pa.Table) -> pa.Table:
    return table.replace_schema_metadata(None)


def _wrong(source: Source, pairs: pa.Table) -> int:
    """Return the number of pairs whose questions are of two clusters."""
    cluster = np.repeat(np.arange(len(source.clusters)), [len(rows) for rows in source.clusters])
    rows = [
        pc.index_in(pairs[name], value_set=pa.array(source.ids)).to_numpy()
        for name in ("question_id_1", "question_id_2")
    ]
    return int(np.count_nonzero(cluster[rows[0]] != cluster[rows[1]]))
