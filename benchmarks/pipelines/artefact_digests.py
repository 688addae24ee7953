"""Digests of all artefacts that the commands write from real input, to compare two versions of the code.

Run: python -m benchmarks.pipelines.artefact_digests --pairs QUORA.tsv.gz LOGS.jsonl.gz >digests.json

Makes a dataset of each log (default and `--coherence paper`) and of the pairs, trains one epoch of the default and of
the paper's preset on the pairs, indexes, searches, and prints a JSON object: a digest by artefact and table. Digests
exclude times and paths. With `--against` it lists all differences and ends with exit code 1 if there are any.
Seed 0 throughout. Takes about six minutes and 4 GB on two cores.
"""

from __future__ import annotations

import hashlib
import json
import sys
import tempfile
from collections.abc import Iterable
from pathlib import Path
from typing import Annotated

import typer

from benchmarks.cli import run
from benchmarks.measure import measure_qpr
from jobs.web.messages.documents import HitsDocument
from schemas.artifacts.content_digest import content_digest
from schemas.artifacts.dataset import open_dataset
from schemas.artifacts.manifest import read_manifest

QUERIES = 500


def digests_of_dataset(url: Path) -> dict[str, str]:
    """Return the content digest of each table of a dataset."""
    return {f"{url.name}.{table}": digest for table, digest in content_digest(open_dataset(str(url))).items()}


def digests_of_model(dataset: Path, url: Path, *options: str) -> dict[str, str]:
    """Train, index and search, and return the digests of all three."""
    measure_qpr("train", "--dataset", dataset, "--output", url, "--epochs", 1, *options)
    index = url.with_name(f"{url.name}-index")
    measure_qpr("index", "--questions", dataset, "--model", url, "--output", index)
    texts = open_dataset(str(dataset)).table("questions", columns=["text"], split="test")["text"].to_pylist()[:QUERIES]
    lines = measure_qpr("search", "--index", index, "--k", 10, "--json", "--", *texts).output.splitlines()
    return {
        url.name: read_manifest(str(url)).digest,
        index.name: read_manifest(str(index)).digest,
        f"{url.name}-search": digest_of_hits(lines),
    }


def digest_of_hits(lines: Iterable[str]) -> str:
    """Return the digest of the hits, by question and probability, of lines of `qpr search --json`."""
    documents: Iterable[HitsDocument] = map(json.loads, lines)
    hits = [[(hit["question_id"], hit["probability"]) for hit in document["hits"]] for document in documents]
    return hashlib.sha256(json.dumps(hits).encode()).hexdigest()


def main(
    logs: Annotated[list[str], typer.Argument(help="Logs of JSON Lines, CSV or Parquet.")] = [],
    pairs: Annotated[str | None, typer.Option(help="Labelled pairs of Quora.")] = None,
    against: Annotated[Path | None, typer.Option(help="Output of an earlier run.")] = None,
) -> None:
    """Print the digests and compare them."""
    digests: dict[str, str] = {}
    with tempfile.TemporaryDirectory() as folder:
        for log in logs:
            for coherence in ("idf", "paper"):
                dataset = Path(folder) / f"{Path(log).name.partition('.')[0]}-{coherence}"
                options = ["--coherence", "paper"] if coherence == "paper" else []
                try:
                    measure_qpr("clusters", log, "--output", dataset, *options)
                except SystemExit as failed:
                    digests[dataset.name] = str(failed).partition("error: ")[2].partition(". ")[0]
                else:
                    digests |= digests_of_dataset(dataset)
        if pairs:
            dataset = Path(folder) / "pairs"
            measure_qpr("quora", pairs, "--output", dataset)
            digests |= digests_of_dataset(dataset)
            digests |= digests_of_model(dataset, Path(folder) / "default")
            digests |= digests_of_model(dataset, Path(folder) / "paper", "--preset", "paper")
    print(json.dumps(digests, indent=1))
    if against:
        before = json.loads(against.read_text())
        differing = [name for name in before if digests.get(name) != before[name]]
        print("equal" if not differing else f"differing: {', '.join(differing)}", file=sys.stderr)
        sys.exit(bool(differing))


if __name__ == "__main__":
    run(main)
