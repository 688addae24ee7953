"""Every count of `qpr quora` on a file of pairs, reconciled with an independent count; and what the run costs.

Run: python -m benchmarks.reconcile_pairs quora_duplicate_questions.tsv.gz

Components are counted three times with plain Python and networkx: questions are equal when their qids are, when their
texts are, when their keys are. The last must equal what the pipeline's counters say.
"""

from __future__ import annotations

import argparse
import csv
import gzip
import sys
import tempfile
from collections.abc import Callable, Iterable
from typing import Any

import networkx as nx

from benchmarks.cost import measure
from benchmarks.machine import describe_machine
from schemas import text
from schemas.artifacts.dataset import open_dataset

Row = dict[str, str]


def closure(edges: Iterable[tuple[Any, Any]]) -> list[int]:
    """Return components of two or more, their questions, the pairs of their closure, the size of the largest."""
    graph: nx.Graph[Any] = nx.Graph()
    graph.add_edges_from((one, two) for one, two in edges if one != two)
    sizes = [len(component) for component in nx.connected_components(graph)]
    return [len(sizes), sum(sizes), sum(n * (n - 1) // 2 for n in sizes), max(sizes, default=0)]


def main() -> None:
    """Print one line a rule, the pipeline's own counters and its cost."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("pairs")
    path = parser.parse_args().pairs
    with gzip.open(path, "rt", encoding="utf-8", newline="") as lines:
        rows = list(csv.DictReader(lines, delimiter="\t"))
    positive = [row for row in rows if row["is_duplicate"] == "1"]
    usable = [row for row in rows if text.words(text.key(row["question1"])) and text.words(text.key(row["question2"]))]
    rules: dict[str, Callable[[Row, str], str]] = {
        "qids are equal": lambda row, side: row[f"qid{side}"],
        "texts are equal": lambda row, side: row[f"question{side}"],
        "keys are equal": lambda row, side: text.key(row[f"question{side}"]),
    }
    print(f"{describe_machine()}\n{len(rows):,} rows, {len(positive):,} positive, {len(usable):,} usable")
    for name, of in (("qids", "qid"), ("texts in usable rows", "question")):
        print(f"{len({row[f'{of}{s}'] for row in (rows if of == 'qid' else usable) for s in '12'}):,} distinct {name}")
    keys = {text.key(row[f"question{side}"]) for row in usable for side in "12"}
    print(f"{len(keys):,} distinct keys in usable rows")
    print(f"{'a question is the same when':30}{'clusters':>10}{'questions':>10}{'pairs':>10}{'largest':>9}")
    for name, same in rules.items():
        print(f"{name:30}" + "".join(f"{n:10,}" for n in closure((same(r, "1"), same(r, "2")) for r in positive)))
    with tempfile.TemporaryDirectory() as folder:
        command = [sys.executable, "-m", "jobs", "quora", path, "--output", f"{folder}/d"]
        cost = measure(command)
        c = open_dataset(f"{folder}/d").manifest.counters
    print(f"{'qpr quora':30}{c['components']:10,}{c['component_questions']:10,}{c['closure_pairs']:10,}")
    accounts = f"{c['rows_kept']:,} kept + {c['rows_rejected']:,} rejected"
    print(f"{c['rows_read']:,} rows = {accounts}; {c['questions']:,} questions")
    print(f"{cost.wall_s:.1f} s wall, {cost.cpu_s:.1f} s of CPU, {cost.memory_mb:.0f} MB")


if __name__ == "__main__":
    main()
