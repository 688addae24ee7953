"""No JSON holds an integer beyond 2**53: JavaScript and jq 1.6 would round it."""

import io
import json
import sys

import pyarrow.parquet as pq
import pytest

from jobs.commands.registry import COMMANDS
from jobs.display.safe_text import with_text_ids

EXACT = 2**53
"""Integers up to here are the same in every reader of JSON."""


class TooLargeError(Exception):
    """An integer that a reader of JSON rounds."""


def whole(digits):
    if abs(int(digits)) > EXACT:
        raise TooLargeError(digits)
    return int(digits)


def parsed(text):
    """Return what each JSON document or line holds, however large its integers."""
    try:
        return [json.loads(text, parse_int=whole)]
    except json.JSONDecodeError:
        return [json.loads(line, parse_int=whole) for line in text.splitlines()]


def test_integers_of_64_bits_are_reported():
    with pytest.raises(TooLargeError):
        parsed('{"a": [1, {"b": 9007199254740993}]}')
    assert parsed('{"a": 9007199254740992}\n{"a": "9007199254740993"}') == [{"a": EXACT}, {"a": str(EXACT + 1)}]


def test_only_integers_called_id_become_text():
    row = {"question_id": -(2**63), "cluster_id": None, "answer_id": "A-1", "events": 5, "score": 0.5}
    assert with_text_ids(row) == {**row, "question_id": str(-(2**63))}


@pytest.mark.slow
def test_no_command_writes_an_integer_that_readers_of_json_round(qpr, tmp_path, monkeypatch, sentence_transformer):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "pairs.csv").write_text(
        "id,qid1,qid2,question1,question2,is_duplicate\n0,1,2,how far is it,how far,1\n1,3,3,who am i,what is it,0\n"
    )
    (tmp_path / "lines.txt").write_text("pay my bill\n")
    (tmp_path / "faq.csv").write_text(
        "question,answer,cluster_id\npay my bill,Online,9007199254740993\n"
        "pay my bill,Post,9007199254740995\n?!,a,9007199254740997\n"
    )
    verbs = ("open", "close", "repair", "clean", "sell", "paint", "move", "rent", "weigh", "fold") * 3
    for day in (1, 2):
        drop = tmp_path / "warehouse" / "events" / f"date=2025-11-0{day}" / "log.jsonl"
        drop.parent.mkdir(parents=True)
        rows = [
            {"question": f"{start} {verb} it", "answer": f"Page {n % 10} of the handbook of day {day}."}
            for start in ("how do i", "how can i", "please tell me how to")
            for n, verb in enumerate(verbs)
        ]
        drop.write_text("".join(json.dumps(row) + "\n" for row in rows))
    small = ["--epochs", 1, "--batch-size", 16, "--dimension", 8, "--vocabulary-size", 300, "--hash-bins", 50]
    commands = [
        ["simulate", "--output", "logs.jsonl", "--events", 6_000, "--json"],
        ["clusters", "logs.jsonl", "--output", "dataset", "--dry-run", "--json"],
        ["clusters", "logs.jsonl", "--output", "dataset", "--min-coherence", 0.3, "--json"],
        ["calibrate", "logs.jsonl", "--output", "calibration", "--json"],
        ["quora", "pairs.csv", "--output", "pairs", "--max-reject-ratio", 1, "--json"],
        ["sample", "--dataset", "dataset", "--clusters", 50, "--json"],
        ["train", "--dataset", "dataset", "--output", "model", "--dry-run", "--json", *small],
        ["train", "--dataset", "dataset", "--output", "model", "--json", *small],
        ["distil", "--dataset", "dataset", "--teacher", sentence_transformer, "--output", "taught", "--json", *small],
        ["encode", "--model", "model", "--input", "lines.txt", "--output", "v.npy", "--json"],
        ["index", "--questions", "faq.csv", "--model", "model", "--output", "faq", "--json"],
        ["index", "--questions", "dataset", "--model", "model", "--output", "index", "--json"],
        ["train-reranker", "--dataset", "dataset", "--index", "index", "--output", "reranker", "--json"],
        ["evaluate", "--dataset", "dataset", "--index", "index", "--output", "metrics.json", "--json"],
        ["search", "--index", "index", "--json", "how many people live in france", "where is it"],
        ["answer", "--index", "index", "--json", "how many people live in france", "where is it"],
        ["export", "--index", "index", "--output", "index.parquet", "--json"],
        ["certify", "--simulate", "--draws", 20, "--json"],
        ["review", "--dataset", "dataset", "--database", "review.db", "--json"],
        ["review", "--dataset", "dataset", "--database", "review.db", "--report", "review.html", "--json"],
        ["erase", "--dataset", "dataset", "--index", "index", "--question", "where is it", "--dry-run", "--json"],
        ["ingest", "--warehouse", "warehouse", "--date", "2025-11-01", "--json"],
        ["nightly", "--warehouse", "warehouse", "--date", "2025-11-01", "--json", *small],
        ["nightly", "--warehouse", "warehouse", "--date", "2025-11-02", "--json", *small],
        ["versions", "--warehouse", "warehouse", "--json"],
        ["rollback", "--warehouse", "warehouse", "--to", 1, "--json"],
        ["gc", "--warehouse", "warehouse", "--json"],
    ]
    listed = {command[0] for command in commands}
    assert listed == set(COMMANDS) - {"serve"}, "add a line with --json of each command; serve runs until it is stopped"
    monkeypatch.setattr("model.reranking.fitting.EPOCHS", 2)
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(b"rq")))
    for command in commands:
        outcome = qpr(*command)
        assert outcome.code == 0, outcome.err
        parsed(outcome.out)
    files = [file for pattern in ("*.json", "*.jsonl") for file in tmp_path.rglob(pattern)]
    for file in files:
        parsed(file.read_text())
    names = {file.name for file in files}
    assert {"manifest.json", "leakage.json", "calibration.json", "metrics.json", "weights.json"} <= names
    tables = [pq.read_table(file) for file in tmp_path.rglob("rejected/*.parquet")]
    rejected = [row for table in tables for row in table.to_pylist() if row["payload"].startswith("{")]
    assert any(
        "cluster_id" in json.loads(row["payload"]) for row in rejected
    )  # a dataset's are numbers, see rejects.py
    assert {"merge", "validate", "coherence"} <= {row["stage"] for row in rejected}
    for table in map(pq.read_table, (tmp_path / "faq").rglob("rejected/*.parquet")):
        for row in table.to_pylist():
            parsed(row["payload"])
