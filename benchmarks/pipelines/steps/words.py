"""Cost of cutting question keys into words, by the kind of key and the version of the words.

Run: python -m benchmarks.pipelines.steps.words LOGS.jsonl.gz FAQ.jsonl.gz

Plain keys hold letters, digits and single spaces. Keys with a symbol are in ASCII too, and go through Python.
"""

from __future__ import annotations

import gzip
import json
import time
from typing import Annotated

import pyarrow as pa
import pyarrow.compute as pc
import typer

from benchmarks.cli import AsJson, Report, run
from schemas.text_arrays import key_all, words_all
from schemas.words import SYMBOLS

ROUNDS = 5
"""The fastest of these counts, on a machine with other work."""


def kinds(keys: pa.Array) -> dict[str, pa.Array]:
    """Return the keys of each kind."""
    ascii_keys = keys.filter(pc.string_is_ascii(keys))
    return {
        "plain": ascii_keys.filter(pc.invert(pc.match_substring_regex(ascii_keys, "[^0-9A-Za-z_ ]"))),
        "with a symbol": ascii_keys.filter(pc.match_substring_regex(ascii_keys, SYMBOLS)),
        "not in ASCII": keys.filter(pc.invert(pc.string_is_ascii(keys))),
        "all": keys,
    }


def microseconds(keys: pa.Array, *, version: int) -> float:
    """Return the CPU time of a key, the least of `ROUNDS`."""
    times = []
    for _ in range(ROUNDS):
        started = time.process_time()
        words_all(keys, version=version)
        times.append(time.process_time() - started)
    return 1e6 * min(times) / max(len(keys), 1)


def words(
    files: Annotated[list[str], typer.Argument(help="Files of JSON Lines, compressed by gzip.")],
    as_json: AsJson = False,
) -> None:
    """Time both versions."""
    texts: list[str] = []
    for path in files:
        with gzip.open(path, "rt", encoding="utf-8") as lines:
            texts += [json.loads(line)["question"] for line in lines]
    report = Report(as_json=as_json, questions=len(texts))
    for kind, keys in kinds(key_all(pa.array(texts, pa.string()))).items():
        costs = {f"version_{version}_us": microseconds(keys, version=version) for version in (1, 2)}
        report.row(keys=kind, number=len(keys), **costs)


if __name__ == "__main__":
    run(words)
