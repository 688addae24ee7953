"""Counts of `qpr clusters` and `qpr quora`, beside independent counts of a few lines.

Run: python -m benchmarks.pipelines.reconcile logs LOGS.jsonl.gz, or pairs quora_duplicate_questions.tsv.gz

`logs`: the first row is the simplest reading of the paper (NFKC, case folding, white space); each further row changes
one rule into ours. `pairs`: questions are equal when their ids, their texts or their keys are. The last two rows of
each table must be equal: they are the independent count by our rules and the counters of the pipeline.
"""

from __future__ import annotations

import collections
import csv
import json
import re
import tempfile
import unicodedata
from collections.abc import Callable, Iterable
from typing import Annotated, Any

import fsspec
import networkx as nx
import typer

from benchmarks.cli import AsJson, Report, run
from benchmarks.measure import Cost, measure_qpr
from schemas import text
from schemas.artifacts.dataset import open_dataset

Rule = Callable[[str], str]
File = Annotated[str, typer.Argument(help="File, plain or compressed as its name ends.")]
GROUPS = ("answers", "members", "answers_of_2_or_more", "their_members", "coherent_answers", "members_of_these")


def plain(value: str) -> str:
    """Return the text by NFKC, case folding and white space alone."""
    return " ".join(unicodedata.normalize("NFKC", value).casefold().split())


def count(rows: list[dict[str, Any]], question: Rule, answer: Rule, words: Callable[[str], list[str]]) -> list[int]:
    """Return the figures named by `GROUPS`; an answer is coherent from .1 on."""
    clusters: dict[str, set[str]] = collections.defaultdict(set)
    for row in rows:
        q, a = question(row["question"]), answer(row["answer"])
        if q and a:
            clusters[a].add(q)
    several = [questions for questions in clusters.values() if len(questions) > 1]
    token_sets = [[set(words(q)) for q in questions] for questions in several]
    coherent = [s for s in token_sets if sum(map(len, s)) / len(s) / max(len(set().union(*s)), 1) >= 0.1]
    groups = (clusters.values(), several, coherent)
    return [figure for group in groups for figure in (len(group), sum(map(len, group)))]


def logs(path: File, as_json: AsJson = False) -> None:
    """Count a log of JSON Lines."""
    with fsspec.open(path, "rt", encoding="utf-8", compression="infer") as lines:
        rows = [json.loads(line) for line in lines]
    report = Report(as_json=as_json, rows=len(rows))

    def unicode_words(key: str) -> list[str]:
        return re.findall(r"\w+", key)

    steps: list[tuple[str, Rule, Rule, Callable[[str], list[str]]]] = [
        ("NFKC, case folding, white space; words by \\w+", plain, plain, unicode_words),
        ("answers with plain quotes", plain, text.fold, unicode_words),
        ("questions without outer punctuation", text.key, text.fold, unicode_words),
        ("words with symbols, in all scripts (ours)", text.key, text.fold, text.words),
    ]
    for name, *rules in steps:
        report.row(rule=name, **dict(zip(GROUPS, count(rows, *rules), strict=True)))  # type: ignore[arg-type]
    c, _ = _run("clusters", path, "--coherence", "paper", "--max-cluster-size", 100_000)
    several = c["groups"] - c["groups_of_one"]
    kept = sum(c.get(f"members_{split}", 0) for split in ("train", "validation", "test"))
    leaked = c.get("rejected_leakage_in_train", 0) + c.get("rejected_leakage_left_alone", 0)
    of_several = c["members"] - c.get("rejected_size_single_question", 0)
    ours = [c["groups"], c["members"], several, of_several, several - c["groups_incoherent"], kept + leaked]
    report.row(rule="qpr clusters, before leakage removal", **dict(zip(GROUPS, ours, strict=True)))
    report.row(removed_by_leakage=leaked, remaining_members=kept)


def closure(edges: Iterable[tuple[Any, Any]]) -> dict[str, int]:
    """Return the number of components of two or more, of their questions and pairs, and the largest size."""
    graph: nx.Graph[Any] = nx.Graph()
    graph.add_edges_from((left, right) for left, right in edges if left != right)
    sizes = [len(component) for component in nx.connected_components(graph)]
    closed = sum(n * (n - 1) // 2 for n in sizes)
    return {"clusters": len(sizes), "questions": sum(sizes), "pairs": closed, "largest": max(sizes, default=0)}


def pairs(path: File, as_json: AsJson = False) -> None:
    """Count labelled pairs of tab-separated values."""
    with fsspec.open(path, "rt", encoding="utf-8", newline="", compression="infer") as lines:
        rows = list(csv.DictReader(lines, delimiter="\t"))
    positive = [row for row in rows if row["is_duplicate"] == "1"]
    usable = [row for row in rows if all(text.words(text.key(row[f"question{side}"])) for side in "12")]
    report = Report(as_json=as_json, rows=len(rows), positive=len(positive), usable=len(usable))
    rules: dict[str, Callable[[dict[str, str], str], str]] = {
        "ids": lambda row, side: row[f"qid{side}"],
        "texts": lambda row, side: row[f"question{side}"],
        "keys": lambda row, side: text.key(row[f"question{side}"]),
    }
    for name, same in rules.items():
        distinct = {same(row, side) for row in (rows if name == "ids" else usable) for side in "12"}
        edges = ((same(row, "1"), same(row, "2")) for row in positive)
        report.row(questions_are_equal_by=name, distinct_questions=len(distinct), **closure(edges))
    c, cost = _run("quora", path)
    figures = {"clusters": c["components"], "questions": c["component_questions"], "pairs": c["closure_pairs"]}
    report.row(questions_are_equal_by="qpr quora", distinct_questions=c["questions"], **figures, largest=None)
    report.row(**{name: c[name] for name in ("rows_read", "rows_kept", "rows_rejected")}, **cost.cells())


def _run(command: str, path: str, *options: object) -> tuple[dict[str, int], Cost]:
    """Return the counters and the cost of a command."""
    with tempfile.TemporaryDirectory() as folder:
        cost = measure_qpr(command, path, "--output", f"{folder}/d", *options)
        return open_dataset(f"{folder}/d").manifest.counters, cost


if __name__ == "__main__":
    run(logs, pairs)
