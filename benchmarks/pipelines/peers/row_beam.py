"""`qpr clusters --coherence paper` as a row-at-a-time Beam pipeline: one dict a row, GroupByKey, no Arrow.

Run: python -m benchmarks.pipelines.peers.row_beam LOGS.parquet OUTPUT_FOLDER
"""

from __future__ import annotations

import collections
import sys
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

import apache_beam as beam
import pyarrow as pa

from benchmarks.pipelines.peers import rules
from benchmarks.pipelines.peers.rules import MAX_CLUSTER_SIZE, MAX_PAIRS, MIN_COHERENCE
from schemas.tables import CLUSTERS, PAIRS, QUESTIONS, REJECTED
from schemas.text import fold, hash64, key, tokens

Row = dict[str, Any]


def parse(row: Row) -> tuple[int, Row]:
    """Return the question id and the columns of the row."""
    k = key(row["question"])
    cluster = hash64("text:" + fold(row["answer"]))
    asked = {"key": k, "text": row["question"], "answer": row["answer"], "cluster": cluster, "time": row["timestamp"]}
    return hash64(k), asked


def name_question(question: tuple[int, Iterable[Row]]) -> Row:
    """Return a question with its text, times and the events of each of its answers."""
    question_id, rows = question
    texts: collections.Counter[str] = collections.Counter()
    answers: collections.Counter[str] = collections.Counter()
    clusters: dict[int, collections.Counter[str]] = {}
    times = []
    for row in rows:
        texts[row["text"]] += 1
        answers[row["answer"]] += 1
        clusters.setdefault(row["cluster"], collections.Counter())[row["answer"]] += 1
        times.append(row["time"])
    return {
        "question_id": question_id,
        "key": row["key"],
        "text": rules.most_frequent(texts),
        "events": texts.total(),
        "first_seen": min(times),
        "last_seen": max(times),
        "answer": rules.most_frequent(answers),
        "clusters": clusters,
        "tokens": frozenset(tokens(row["key"])),
    }


def members(question: Row) -> Iterator[tuple[int, Row]]:
    """Yield the question once for each cluster."""
    for cluster, answers in question["clusters"].items():
        kept = {name: question[name] for name in ("question_id", "text", "tokens")}
        yield cluster, {**kept, "answers": answers, "events": answers.total()}


def _reject(
    stage: str, reason: str, score: float | None, member: Row, answer: str, cluster: int, split: str | None
) -> Any:
    payload = rules.payload(member["text"], answer, member["events"], cluster, split)
    return beam.pvalue.TaggedOutput("rejected", {"stage": stage, "reason": reason, "score": score, "payload": payload})


def judge(element: tuple[int, Iterable[Row]], frequency: Mapping[str, int], questions: int) -> Iterator[Any]:
    """Yield a coherent cluster, or its questions as rejected."""
    cluster, members = element
    rows = sorted(members, key=lambda row: row["question_id"])
    answers: collections.Counter[str] = collections.Counter()
    for row in rows:
        answers.update(row["answers"])
    answer = rules.most_frequent(answers)
    if len(rows) == 1:
        yield _reject("size", "single_question", None, rows[0], answer, cluster, None)
        return
    for row in rows[MAX_CLUSTER_SIZE:]:
        yield _reject("size", "over_max_cluster_size", None, row, answer, cluster, None)
    rows = rows[:MAX_CLUSTER_SIZE]
    vocabulary = set().union(*(row["tokens"] for row in rows))
    weight = rules.idf({token: frequency[token] for token in vocabulary}, questions)
    scores = rules.coherences([row["tokens"] for row in rows], weight)
    if scores[0] < MIN_COHERENCE:
        for row in rows:
            yield _reject("coherence", "incoherent", scores[0], row, answer, cluster, None)
        return
    yield {"cluster_id": cluster, "answer": answer, "split": rules.split_of(cluster), "rows": rows}


def drop_leaked(element: tuple[int, Iterable[tuple[int, str, str, Row]]]) -> Iterator[Any]:
    """Yield the places of a question that stay: all, or those in train if there is one."""
    places = list(element[1])
    in_train = any(split == "train" for _, split, _, _ in places)
    for cluster, split, answer, row in places:
        if in_train and split != "train":
            yield _reject("leakage", "in_train", None, row, answer, cluster, split)
        else:
            yield cluster, (split, answer, row)


def finish(
    element: tuple[int, Iterable[tuple[str, str, Row]]], frequency: Mapping[str, int], questions: int
) -> Iterator[Any]:
    """Yield the finished cluster, its pairs and the places of its questions."""
    cluster, members = element
    kept = sorted(members, key=lambda place: place[2]["question_id"])
    split, answer = kept[0][:2]
    rows = [row for _, _, row in kept]
    if len(rows) == 1:
        yield _reject("leakage", "left_alone", None, rows[0], answer, cluster, split)
        return
    vocabulary = set().union(*(row["tokens"] for row in rows))
    weight = rules.idf({token: frequency[token] for token in vocabulary}, questions)
    scores = rules.coherences([row["tokens"] for row in rows], weight)
    ids, texts = [row["question_id"] for row in rows], [row["text"] for row in rows]
    events = sum(row["events"] for row in rows)
    values = (cluster, cluster, answer, None, split, len(rows), events, *scores, None, ids, texts)
    yield dict(zip(CLUSTERS.names, values, strict=True))
    for i, j in rules.pairs_of(len(ids), cluster, MAX_PAIRS):
        pair = dict(zip(PAIRS.names, (ids[i], texts[i], ids[j], texts[j], cluster), strict=True))
        yield beam.pvalue.TaggedOutput("pairs", pair)
    for row in rows:
        yield beam.pvalue.TaggedOutput("places", (row["question_id"], (-row["events"], cluster, split)))


def assign(element: tuple[int, dict[str, list[Any]]]) -> Row:
    """Return the question with its best cluster."""
    (question,), places = element[1]["question"], element[1]["place"]
    _, cluster, split = min(places, default=(0, None, None))
    return {name: question.get(name) for name in QUESTIONS.names} | {"cluster_id": cluster, "split": split}


def main(logs: str, output: str) -> None:
    """Wire and run."""
    with beam.Pipeline(runner="FnApiRunner") as pipeline:
        questions = (
            pipeline
            | beam.io.ReadFromParquet(logs, columns=["question", "answer", "timestamp"])
            | beam.Map(parse)
            | beam.GroupByKey()
            | beam.Map(name_question)
        )
        frequency = questions | "Tokens" >> beam.FlatMap(lambda q: q["tokens"]) | beam.combiners.Count.PerElement()
        number = questions | beam.combiners.Count.Globally()
        weights = (beam.pvalue.AsDict(frequency), beam.pvalue.AsSingleton(number))
        judged = (
            questions
            | beam.FlatMap(members)
            | "ByAnswer" >> beam.GroupByKey()
            | "Judge" >> beam.FlatMap(judge, *weights).with_outputs("rejected", main="main")
        )
        clean = (
            judged.main
            | "Places"
            >> beam.FlatMap(
                lambda c: [(r["question_id"], (c["cluster_id"], c["split"], c["answer"], r)) for r in c["rows"]]
            )
            | "ByQuestion" >> beam.GroupByKey()
            | beam.FlatMap(drop_leaked).with_outputs("rejected", main="main")
        )
        done = (
            clean.main
            | "ByCluster" >> beam.GroupByKey()
            | beam.FlatMap(finish, *weights).with_outputs("rejected", "pairs", "places", main="clusters")
        )
        named = questions | "Keyed" >> beam.Map(lambda q: (q["question_id"], q))
        placed = {"question": named, "place": done.places} | beam.CoGroupByKey() | beam.Map(assign)
        rejected = (judged.rejected, clean.rejected, done.rejected) | beam.Flatten()
        tables = {"clusters": done.clusters, "pairs": done.pairs, "questions": placed, "rejected": rejected}
        for (name, rows), schema in zip(tables.items(), (CLUSTERS, PAIRS, QUESTIONS, REJECTED), strict=True):
            path = f"{output}/{name}"
            plain = pa.schema(list(schema))
            rows | f"Write {name}" >> beam.io.WriteToParquet(path, plain, file_name_suffix=".parquet", num_shards=1)


if __name__ == "__main__":
    if len(sys.argv) != 3:
        raise SystemExit(__doc__)
    main(sys.argv[1], sys.argv[2])
