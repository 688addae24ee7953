"""`qpr clusters --coherence paper` as one polars program, all in memory.

Run: python -m benchmarks.pipelines.peers.polars_frames LOGS.parquet OUTPUT_FOLDER
"""

from __future__ import annotations

import hashlib
import sys
from collections.abc import Callable, Iterable
from pathlib import Path

import numpy as np
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq

from benchmarks.pipelines.peers import rules
from benchmarks.pipelines.peers.rules import MAX_CLUSTER_SIZE, MAX_PAIRS, MIN_COHERENCE, MIN_QUESTIONS
from schemas import text
from schemas.tables import TABLES
from schemas.text import is_outer_punctuation
from schemas.words import SYMBOLS

SPACES = r"[\t-\r\x1c-\x1f ]+"
OUTER = " " + "".join(c for c in map(chr, range(128)) if is_outer_punctuation(c))
ASCII = pl.col("value").str.len_bytes() == pl.col("value").str.len_chars()


def hashes(texts: Iterable[str]) -> np.ndarray:
    """Return `schemas.text.hash64` of every text, int64."""
    digests = b"".join(hashlib.blake2b(text.encode(), digest_size=8).digest() for text in texts)
    return np.frombuffer(digests, "<i8")


def splits(cluster_ids: np.ndarray) -> np.ndarray:
    """Return `rules.split_of` of every cluster id."""
    bits = (cluster_ids ^ np.int64(rules.SALT)).view(np.uint64) + np.uint64(0x9E3779B97F4A7C15)
    bits = (bits ^ (bits >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    bits = (bits ^ (bits >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    place = ((bits ^ (bits >> np.uint64(31))) >> np.uint64(11)) * 2.0**-53
    return np.array(["train", "validation", "test"], object)[np.searchsorted([0.8, 0.9], place, side="right")]


def chosen_pairs(cluster_ids: Iterable[int], sizes: Iterable[int]) -> pa.Table:
    """Return the pairs kept of clusters that have too many: ``cluster_id``, ``rank_1``, ``rank_2``, from 0."""
    rows = [
        (cluster, *pair)
        for cluster, size in zip(cluster_ids, sizes, strict=True)
        for pair in rules.pairs_of(size, cluster, MAX_PAIRS)
    ]
    columns = np.array(rows, np.int64).reshape(-1, 3).T
    return pa.table([pa.array(c) for c in columns], names=["cluster_id", "rank_1", "rank_2"])


def payloads(rejected: pa.Table) -> pa.Array:
    """Return the payload of the rejected table for each row of ``text, answer, events, cluster_id, split``."""
    columns = [rejected[name].to_pylist() for name in ("text", "answer", "events", "cluster_id", "split")]
    return pa.array([rules.payload(*row) for row in zip(*columns, strict=True)], pa.string())


def save(output: str, tables: dict[str, pa.Table]) -> None:
    """Write every table as one Parquet file."""
    Path(output).mkdir(parents=True, exist_ok=True)
    for name, table in tables.items():
        schema = TABLES[name]
        columns = {
            f.name: table[f.name] if f.name in table.column_names else pa.nulls(len(table), f.type) for f in schema
        }
        pq.write_table(
            pa.table(columns).cast(schema), Path(output) / f"{name}.parquet", compression="zstd", compression_level=1
        )


def distinct(column: pl.Series) -> pl.DataFrame:
    """Return every text once as ``value``, with ``folded``."""
    plain = pl.col("value").str.to_lowercase().str.replace_all(SPACES, " ").str.strip_chars(" ")
    values = pl.DataFrame({"value": column.unique()}).with_columns(ascii=ASCII)
    others = values.filter(~pl.col("ascii"))["value"].to_list()
    folded = pl.DataFrame(
        {"value": others, "by_hand": [text.fold(v) for v in others]},
        schema_overrides={"value": pl.String, "by_hand": pl.String},
    )
    joined = values.join(folded, on="value", how="left")
    return joined.select("value", "ascii", folded=pl.coalesce("by_hand", plain))


def by_hand(frame: pl.DataFrame, column: str, to: str, function: Callable[[str], str]) -> pl.DataFrame:
    """Return a Python function of each distinct text that is not ASCII."""
    others = frame.filter(~pl.col("ascii")).select(column).unique()
    return others.with_columns(pl.Series(to, [function(v) for v in others[column]]))


def most_frequent(rows: pl.DataFrame, group: str, value: str) -> pl.DataFrame:
    """Return for each group the value with most events, of equal ones the smallest."""
    counted = rows.group_by(group, value).agg(pl.col("events").sum())
    return (
        counted.sort(group, -pl.col("events"), value)
        .unique(group, keep="first", maintain_order=True)
        .select(group, value)
    )


def coherence(members: pl.DataFrame, words: pl.DataFrame) -> pl.DataFrame:
    """Return the three scores of each cluster."""
    of_cluster = members.select("cluster_id", "question_id").join(words, on="question_id")
    total = of_cluster.group_by("cluster_id").agg(all=pl.len(), all_weights=pl.col("weight").sum())
    union = (
        of_cluster.unique(["cluster_id", "token"])
        .group_by("cluster_id")
        .agg(union=pl.len(), union_weights=pl.col("weight").sum())
    )
    sizes = members.group_by("cluster_id").agg(size=pl.len())
    ratio, weighted = pl.col("all") / pl.col("union"), pl.col("all_weights") / pl.col("union_weights")
    scores = {
        "coherence": ratio / pl.col("size"),
        "adjusted_coherence": (ratio - 1) / (pl.col("size") - 1),
        "idf_coherence": (weighted - 1) / (pl.col("size") - 1),
    }
    return total.join(union, on="cluster_id").join(sizes, on="cluster_id").select("cluster_id", "size", **scores)


def main(logs: str, output: str) -> None:
    """Read, cluster and write."""
    counted = (
        pl.scan_parquet(logs)
        .select("question", "answer", "timestamp")
        .group_by("question", "answer")
        .agg(events=pl.len().cast(pl.Int64), first_seen=pl.col("timestamp").min(), last_seen=pl.col("timestamp").max())
        .collect()
    )
    forms = distinct(counted["question"]).rename({"value": "question"})
    keys = by_hand(forms, "folded", "key_by_hand", text.key)
    forms = forms.join(keys, on="folded", how="left").select(
        "question", "ascii", key=pl.coalesce("key_by_hand", pl.col("folded").str.strip_chars(OUTER))
    )
    key_forms = forms.group_by("key").agg(pl.col("ascii").all())
    key_forms = key_forms.with_columns(question_id=pl.Series(hashes(key_forms["key"])))
    answers = distinct(counted["answer"]).rename({"value": "answer"})
    folded = answers.select("folded").unique()
    folded = folded.with_columns(cluster_id=pl.Series(hashes("text:" + f for f in folded["folded"])))
    answers = answers.join(folded, on="folded").select("answer", "cluster_id")
    asked = (
        counted.join(forms.select("question", "key"), on="question")
        .join(key_forms.select("key", "question_id"), on="key")
        .join(answers, on="answer")
        .rename({"question": "text"})
    )
    questions = (
        asked.group_by("question_id")
        .agg(pl.col("key").first(), pl.col("events").sum(), pl.col("first_seen").min(), pl.col("last_seen").max())
        .join(most_frequent(asked, "question_id", "text"), on="question_id")
        .join(most_frequent(asked, "question_id", "answer"), on="question_id")
    )
    in_polars = pl.col("ascii") & ~pl.col("key").str.contains(SYMBOLS)
    plain = key_forms.filter(in_polars).select(
        "question_id", token=pl.col("key").str.extract_all("[0-9A-Za-z_]+").list.unique()
    )
    others = key_forms.filter(~in_polars)
    listed = others.select(
        "question_id", token=pl.Series([text.tokens(k) for k in others["key"]], dtype=pl.List(pl.String))
    )
    words = pl.concat([plain, listed]).explode("token")
    frequency = words.group_by("token").agg(weight=(max(len(key_forms), MIN_QUESTIONS) / pl.len()).log1p())
    words = words.join(frequency, on="token")

    members = asked.group_by("cluster_id", "question_id").agg(pl.col("events").sum())
    members = members.join(questions.select("question_id", "text"), on="question_id")
    members = members.join(most_frequent(asked, "cluster_id", "answer"), on="cluster_id")
    members = members.sort("cluster_id", "question_id").with_columns(
        size=pl.len().over("cluster_id"), rank=pl.int_range(pl.len()).over("cluster_id"), split=pl.lit(None, pl.String)
    )
    rejected = []

    def reject(rows: pl.DataFrame, stage: str, reason: str) -> None:
        listed = rows.select("text", "answer", "events", "cluster_id", "split")
        score = rows["score"] if "score" in rows.columns else pl.Series([None] * len(rows), dtype=pl.Float64)
        payload = pl.Series(payloads(listed.to_arrow()))
        rejected.append(
            pl.DataFrame(
                {"stage": [stage] * len(rows), "reason": [reason] * len(rows), "score": score, "payload": payload},
                schema_overrides={"payload": pl.String},
            )
        )

    reject(members.filter(pl.col("size") == 1), "size", "single_question")
    reject(members.filter((pl.col("size") > 1) & (pl.col("rank") >= MAX_CLUSTER_SIZE)), "size", "over_max_cluster_size")
    members = members.filter((pl.col("size") > 1) & (pl.col("rank") < MAX_CLUSTER_SIZE)).drop("size")
    scores = coherence(members, words)
    members = members.join(scores.select("cluster_id", score="coherence"), on="cluster_id")
    reject(members.filter(pl.col("score") < MIN_COHERENCE), "coherence", "incoherent")
    members = members.filter(pl.col("score") >= MIN_COHERENCE).drop("score")
    ids = members["cluster_id"].unique()
    of_cluster = pl.DataFrame({"cluster_id": ids, "split": pl.Series(list(splits(ids.to_numpy())), dtype=pl.String)})
    members = members.drop("split").join(of_cluster, on="cluster_id")

    train, held_out = members.filter(pl.col("split") == "train"), members.filter(pl.col("split") != "train")
    reject(held_out.join(train, on="question_id", how="semi"), "leakage", "in_train")
    held_out = held_out.join(train, on="question_id", how="anti").with_columns(size=pl.len().over("cluster_id"))
    reject(held_out.filter(pl.col("size") == 1), "leakage", "left_alone")
    held_out = held_out.filter(pl.col("size") > 1).drop("size")
    scores = pl.concat([scores.join(train, on="cluster_id", how="semi"), coherence(held_out, words)])
    members = pl.concat([train, held_out]).sort("cluster_id", "question_id")
    members = members.with_columns(rank=pl.int_range(pl.len()).over("cluster_id"))

    clusters = members.group_by("cluster_id").agg(
        pl.col("answer", "split").first(),
        pl.col("events").sum(),
        question_ids=pl.col("question_id"),
        texts=pl.col("text"),
    )
    clusters = clusters.join(scores, on="cluster_id").with_columns(answer_hash=pl.col("cluster_id"))
    sizes = clusters.select("cluster_id", "size", pairs=pl.col("size").cast(pl.Int64) * (pl.col("size") - 1) // 2)
    small, large = sizes.filter(pl.col("pairs") <= MAX_PAIRS), sizes.filter(pl.col("pairs") > MAX_PAIRS)
    ends = members.select("cluster_id", "question_id", "text", "rank")
    paired = ends.join(small, on="cluster_id", how="semi")
    paired = paired.join(paired, on="cluster_id", suffix="_2").filter(pl.col("rank") < pl.col("rank_2"))
    chosen = pl.DataFrame(chosen_pairs(large["cluster_id"], large["size"]))
    chosen = chosen.join(ends, left_on=["cluster_id", "rank_1"], right_on=["cluster_id", "rank"])
    chosen = chosen.join(ends, left_on=["cluster_id", "rank_2"], right_on=["cluster_id", "rank"], suffix="_2")
    names = {"question_id": "question_id_1", "text": "text_1"}
    columns = ["question_id", "text", "question_id_2", "text_2", "cluster_id"]
    pairs = pl.concat([paired.select(columns), chosen.select(columns)]).rename(names)
    best = members.sort("question_id", -pl.col("events"), "cluster_id").unique("question_id", keep="first")
    questions = questions.join(best.select("question_id", "cluster_id", "split"), on="question_id", how="left")
    no_id = pl.lit(None, pl.String).alias("answer_id")  # this log has no ids of answers
    questions, clusters = questions.with_columns(no_id), clusters.with_columns(no_id)
    tables = {"questions": questions, "clusters": clusters, "pairs": pairs, "rejected": pl.concat(rejected)}
    save(output, {name: frame.to_arrow() for name, frame in tables.items()})


if __name__ == "__main__":
    if len(sys.argv) != 3:
        raise SystemExit(__doc__)
    main(sys.argv[1], sys.argv[2])
