"""`qpr clusters --coherence paper` as one plain Python program: dictionaries, loops, all in memory.

Run: python -m benchmarks.pipelines.peers.dict_loop LOGS.parquet OUTPUT_FOLDER
"""

from __future__ import annotations

import collections
import sys
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from benchmarks.pipelines.peers import rules
from benchmarks.pipelines.peers.rules import MAX_CLUSTER_SIZE, MAX_PAIRS, MIN_COHERENCE
from schemas.tables import TABLES
from schemas.text import fold, hash64, key, tokens


def main(logs: str, output: str) -> None:
    """Read, cluster and write."""
    counts: collections.Counter[tuple[str, str]] = collections.Counter()
    times: dict[tuple[str, str], tuple[Any, Any]] = {}
    file = pq.ParquetFile(logs)
    for batch in file.iter_batches(65_536, columns=["question", "answer", "timestamp"]):
        seconds = batch.column("timestamp").cast(pa.int64()).to_pylist()  # datetime objects would take twice as long
        columns = (batch.column("question").to_pylist(), batch.column("answer").to_pylist(), seconds)
        for question, answer, timestamp in zip(*columns, strict=True):
            counts[question, answer] += 1
            seen = times.get((question, answer))
            if seen is None:
                times[question, answer] = (timestamp, timestamp)
            elif timestamp < seen[0]:
                times[question, answer] = (timestamp, seen[1])
            elif timestamp > seen[1]:
                times[question, answer] = (seen[0], timestamp)

    keys: dict[str, str] = {}
    cluster_keys: dict[str, int] = {}
    questions: dict[str, dict[str, Any]] = {}
    clusters: dict[int, dict[str, int]] = {}
    answers: dict[int, collections.Counter[str]] = {}
    for (question, answer), events in counts.items():
        if question not in keys:
            keys[question] = key(question)
        if answer not in cluster_keys:
            cluster_keys[answer] = hash64("text:" + fold(answer))
        k, cluster = keys[question], cluster_keys[answer]
        first, last = times[question, answer]
        entry = questions.get(k)
        if entry is None:
            entry = questions[k] = {"texts": {}, "answers": {}, "events": 0, "first": first, "last": last}
        entry["texts"][question] = entry["texts"].get(question, 0) + events
        entry["answers"][answer] = entry["answers"].get(answer, 0) + events
        entry["events"] += events
        entry["first"], entry["last"] = min(entry["first"], first), max(entry["last"], last)
        members = clusters.setdefault(cluster, {})
        members[k] = members.get(k, 0) + events
        answers.setdefault(cluster, collections.Counter())[answer] += events

    frequency: collections.Counter[str] = collections.Counter()
    for k, entry in questions.items():
        entry["id"], entry["text"] = hash64(k), rules.most_frequent(entry["texts"])
        entry["tokens"] = frozenset(tokens(k))
        frequency.update(entry["tokens"])
    weight = rules.idf(frequency, len(questions))

    rejected: list[tuple[str, str, float | None, str]] = []
    kept: dict[int, list[str]] = {}
    named = {cluster: rules.most_frequent(forms) for cluster, forms in answers.items()}

    def reject(cluster: int, k: str, stage: str, reason: str, score: float | None, split: str | None = None) -> None:
        payload = rules.payload(questions[k]["text"], named[cluster], clusters[cluster][k], cluster, split)
        rejected.append((stage, reason, score, payload))

    scores: dict[int, tuple[float, float, float]] = {}
    for cluster, members in clusters.items():
        ordered = sorted(members, key=lambda k: questions[k]["id"])
        if len(ordered) == 1:
            reject(cluster, ordered[0], "size", "single_question", None)
            continue
        for k in ordered[MAX_CLUSTER_SIZE:]:
            reject(cluster, k, "size", "over_max_cluster_size", None)
        ordered = ordered[:MAX_CLUSTER_SIZE]
        scored = rules.coherences([questions[k]["tokens"] for k in ordered], weight)
        if scored[0] < MIN_COHERENCE:
            for k in ordered:
                reject(cluster, k, "coherence", "incoherent", scored[0])
            continue
        kept[cluster], scores[cluster] = ordered, scored

    splits = {cluster: rules.split_of(cluster) for cluster in kept}
    in_train = {k for cluster, ordered in kept.items() if splits[cluster] == "train" for k in ordered}
    for cluster in [c for c in kept if splits[c] != "train"]:
        clean = [k for k in kept[cluster] if k not in in_train]
        for k in kept[cluster]:
            if k in in_train:
                reject(cluster, k, "leakage", "in_train", None, splits[cluster])
        if len(clean) == 1:
            reject(cluster, clean[0], "leakage", "left_alone", None, splits[cluster])
        if len(clean) < 2:
            del kept[cluster]
            continue
        kept[cluster] = clean
        scores[cluster] = rules.coherences([questions[k]["tokens"] for k in clean], weight)

    places: dict[str, tuple[int, int, str]] = {}
    tables: dict[str, list[tuple[Any, ...]]] = {"clusters": [], "pairs": [], "questions": [], "rejected": rejected}
    for cluster, ordered in kept.items():
        ids, texts = [questions[k]["id"] for k in ordered], [questions[k]["text"] for k in ordered]
        events = sum(clusters[cluster][k] for k in ordered)
        named_cluster = (cluster, cluster, named[cluster], None, splits[cluster])  # this log has no ids of answers
        tables["clusters"].append((*named_cluster, len(ids), events, *scores[cluster], None, ids, texts))
        for i, j in rules.pairs_of(len(ids), cluster, MAX_PAIRS):
            tables["pairs"].append((ids[i], texts[i], ids[j], texts[j], cluster))
        for k in ordered:
            place = (-clusters[cluster][k], cluster, splits[cluster])
            if k not in places or place < places[k]:
                places[k] = place
    for k, e in questions.items():
        _, cluster_id, split = places.get(k, (0, None, None))
        answer = rules.most_frequent(e["answers"])
        tables["questions"].append(
            (e["id"], k, e["text"], e["events"], e["first"], e["last"], answer, None, cluster_id, split)
        )
    for name, rows in tables.items():
        by_column: list[tuple[Any, ...]] = list(zip(*rows, strict=True)) or [()] * len(TABLES[name])
        arrays = [pa.array(column, field.type) for column, field in zip(by_column, TABLES[name], strict=True)]
        Path(output).mkdir(parents=True, exist_ok=True)
        pq.write_table(pa.Table.from_arrays(arrays, schema=TABLES[name]), Path(output) / f"{name}.parquet")


if __name__ == "__main__":
    if len(sys.argv) != 3:
        raise SystemExit(__doc__)
    main(sys.argv[1], sys.argv[2])
