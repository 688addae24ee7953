"""Every count of `qpr clusters --coherence paper` on a log, reconciled with an independent count of a few lines.

Run: python -m benchmarks.reconcile_logs LOGS.jsonl.gz

The first line is the plainest reading of the paper (NFKC, case folding, white space on both sides); each further line
changes one rule into ours, so that the last must equal what the pipeline's counters say.
"""

from __future__ import annotations

import argparse
import collections
import gzip
import json
import re
import subprocess
import sys
import tempfile
import unicodedata
from collections.abc import Callable
from typing import Any

from schemas import text
from schemas.artifacts.dataset import open_dataset

Rule = Callable[[str], str]


def plain(value: str) -> str:
    """Return the text by NFKC, case folding and white space alone."""
    return " ".join(unicodedata.normalize("NFKC", value).casefold().split())


def count(rows: list[dict[str, Any]], question: Rule, answer: Rule, words: Callable[[str], list[str]]) -> list[int]:
    """Return answers, members, answers of two or more questions, their questions, coherent ones, their questions."""
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


def main() -> None:
    """Print one line a rule and the pipeline's own counters."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("logs")
    logs = parser.parse_args().logs
    with gzip.open(logs, "rt", encoding="utf-8") as lines:
        rows = [json.loads(line) for line in lines]

    def unicode_words(key: str) -> list[str]:
        return re.findall(r"\w+", key)

    columns = ("answers", "members", "answers>1", "members", "coherent", "members")
    print(f"{len(rows):,} rows\n{'rule':42}" + "".join(f"{name:>11}" for name in columns))
    steps: list[tuple[str, Rule, Rule, Callable[[str], list[str]]]] = [
        ("plain on both sides, \\w+", plain, plain, unicode_words),
        ("answers also lose quote style", plain, text.fold, unicode_words),
        ("questions also lose outer punctuation", text.key, text.fold, unicode_words),
        ("words keep their combining marks (ours)", text.key, text.fold, text.words),
    ]
    for name, question, answer, words in steps:
        print(f"{name:42}" + "".join(f"{n:11,}" for n in count(rows, question, answer, words)))
    with tempfile.TemporaryDirectory() as folder:
        command = ["clusters", logs, "--output", f"{folder}/d", "--coherence", "paper"]
        unlimited = ["--max-cluster-size", "100000"]
        subprocess.run([sys.executable, "-m", "jobs", *command, *unlimited], check=True, stdout=subprocess.DEVNULL)
        c = open_dataset(f"{folder}/d").manifest.counters
    several = c["groups"] - c["groups_of_one"]
    left = sum(c[f"members_{split}"] for split in ("train", "validation", "test"))
    leaked = c.get("rejected_leakage_in_train", 0) + c.get("rejected_leakage_left_alone", 0)
    singles = c["rejected_size_single_question"]
    ours = [
        c["groups"],
        c["members"],
        several,
        c["members"] - singles,
        several - c["groups_incoherent"],
        left + leaked,
    ]
    print(f"{'qpr clusters, before leakage removal':42}" + "".join(f"{n:11,}" for n in ours))
    print(f"then {leaked} questions leave validation and test, {left:,} stay in clusters")


if __name__ == "__main__":
    main()
