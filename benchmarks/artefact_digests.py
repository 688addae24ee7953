"""Digests of what the commands make of real input, to compare two versions of the code.

Run: python -m benchmarks.artefact_digests --pairs QUORA.tsv.gz LOGS.jsonl.gz … [--against FILE] >FILE

Makes a dataset of each log (default and `--coherence paper`) and of the pairs, trains one epoch of the default and of
the paper's preset on the pairs, indexes, searches, and prints a JSON object: a digest by artefact and table. Times and
paths are no part of a digest. With `--against` it lists what differs and ends with exit code 1 if anything does.
Seed 0 throughout. Takes about six minutes and 4 GB on two cores.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import subprocess
import sys
import tempfile
from pathlib import Path

from schemas.artifacts.content_digest import content_digest
from schemas.artifacts.dataset import open_dataset
from schemas.artifacts.manifest import read_manifest

QUERIES = 500


def qpr(*arguments: str) -> str:
    """Run a command in a process of its own and return what it printed."""
    done = subprocess.run([sys.executable, "-m", "jobs", *arguments], capture_output=True, text=True)
    if done.returncode:
        raise SystemExit(f"qpr {' '.join(arguments)}: exit code {done.returncode}: {done.stderr.strip()[-5000:]}")
    return done.stdout


def of_dataset(url: Path) -> dict[str, str]:
    """Return the content digest of each table of a dataset."""
    return {f"{url.name}.{table}": digest for table, digest in content_digest(open_dataset(str(url))).items()}


def of_model(dataset: Path, url: Path, *options: str) -> dict[str, str]:
    """Train, index and search, and return the digests of all three."""
    qpr("train", "--dataset", str(dataset), "--output", str(url), "--epochs", "1", *options)
    index = url.with_name(f"{url.name}-index")
    qpr("index", "--questions", str(dataset), "--model", str(url), "--output", str(index))
    texts = open_dataset(str(dataset)).table("questions", columns=["text"], split="test")["text"].to_pylist()[:QUERIES]
    lines = qpr("search", "--index", str(index), "--k", "10", "--json", "--", *texts).splitlines()
    found = [[(int(hit["question_id"]), hit["score"]) for hit in json.loads(line)["hits"]] for line in lines]
    return {
        url.name: read_manifest(str(url)).digest,
        index.name: read_manifest(str(index)).digest,
        f"{url.name}-search": hashlib.sha256(json.dumps(found).encode()).hexdigest(),
    }


def main() -> None:
    """Make everything in a temporary folder, print the digests and compare them."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("logs", nargs="*")
    parser.add_argument("--pairs")
    parser.add_argument("--against", help="what an earlier run printed")
    given = parser.parse_args()
    digests: dict[str, str] = {}
    with tempfile.TemporaryDirectory() as folder:
        for log in given.logs:
            for coherence in ("idf", "paper"):
                dataset = Path(folder) / f"{Path(log).name.partition('.')[0]}-{coherence}"
                options = ["--coherence", "paper"] if coherence == "paper" else []
                try:
                    qpr("clusters", log, "--output", str(dataset), *options)
                except SystemExit as failed:
                    digests[dataset.name] = str(failed).partition("error: ")[2].partition(". ")[0]
                else:
                    digests |= of_dataset(dataset)
        if given.pairs:
            dataset = Path(folder) / "pairs"
            qpr("quora", given.pairs, "--output", str(dataset))
            digests |= of_dataset(dataset)
            digests |= of_model(dataset, Path(folder) / "default")
            digests |= of_model(dataset, Path(folder) / "paper", "--preset", "paper")
    print(json.dumps(digests, indent=1))
    if given.against:
        before = json.loads(Path(given.against).read_text())
        differing = [name for name in before if digests.get(name) != before[name]]
        print("equal" if not differing else f"differing: {', '.join(differing)}", file=sys.stderr)
        sys.exit(bool(differing))


if __name__ == "__main__":
    main()
