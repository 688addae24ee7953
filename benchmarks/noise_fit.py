"""Distances that the models of `benchmarks.noise_tables` give to the wrong train pairs and to the right ones.

Run: python -m benchmarks.noise_fit --dataset D --work FOLDER [--share 0 --share 0.5] [--write docs/results.md]

D and FOLDER are those of `benchmarks.noise_tables`, which has to have trained. Of 20,000 train pairs, a fixed sample,
those of one cluster of D are right. Each kind is compared with as many random pairs as there are in all.
"""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import NamedTuple

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc
from sklearn.metrics import roc_auc_score

from benchmarks.marks import write
from benchmarks.noise_tables import LOSSES, SHARES
from benchmarks.paper_tables import name_of
from model.encoders.interface import Encoder
from model.encoders.registry import load_encoder
from schemas.artifacts.dataset import Dataset, open_dataset

SAMPLE = 20_000


class Fit(NamedTuple):
    """Median squared distances, and how well a kind is told from random pairs (ROC AUC); nan without a pair of it."""

    right: float
    wrong: float
    random: float
    right_auc: float
    wrong_auc: float


def sampled_pairs(noisy: Dataset, clean: Dataset, *, sample: int = SAMPLE) -> tuple[pa.Table, npt.NDArray[np.bool_]]:
    """Return some train pairs of a noisy dataset, and which of them are of one cluster of the clean one."""
    clusters = noisy.table("clusters", columns=["cluster_id"], split="train")["cluster_id"].combine_chunks()
    pairs = noisy.table("pairs")
    pairs = pairs.filter(pc.is_in(pairs["cluster_id"], value_set=clusters))
    pairs = pairs.take(pa.array(np.sort(np.random.default_rng(0).permutation(len(pairs))[:sample])))
    questions = clean.table("questions", columns=["question_id", "cluster_id"])
    ids = questions["question_id"].combine_chunks()
    first, second = (
        questions["cluster_id"].take(pc.index_in(pairs[name], value_set=ids))
        for name in ("question_id_1", "question_id_2")
    )
    return pairs, pc.equal(first, second).to_numpy()


def fit(encoder: Encoder, pairs: pa.Table, right: npt.NDArray[np.bool_]) -> Fit:
    """Return how far right, wrong and random pairs are."""
    first, second = (encoder.encode(pairs[name]) for name in ("text_1", "text_2"))
    distances = np.square(first - second).sum(axis=1)
    random = np.square(first - second[np.random.default_rng(1).permutation(len(second))]).sum(axis=1)
    kinds = distances[right], distances[~right]
    medians = [float(np.median(kind)) if len(kind) else np.nan for kind in (*kinds, random)]
    return Fit(*medians, *(_auc(kind, random) for kind in kinds))


def _auc(near: npt.NDArray[np.float32], far: npt.NDArray[np.float32]) -> float:
    if not len(near):
        return np.nan
    labels = np.repeat([True, False], [len(near), len(far)])
    return float(roc_auc_score(labels, -np.concatenate([near, far])))


def table(dataset: str, work: Path, *, shares: list[float], options: list[str]) -> str:
    """Return a table with a row for each share and loss."""
    lines = ["| wrong clusters | | right pairs | wrong pairs | random pairs | ROC AUC right | ROC AUC wrong |"]
    lines += ["|---|---|---|---|---|---|---|"]
    for share in shares:
        folder = work / f"noise-{share:g}"
        pairs, right = sampled_pairs(open_dataset(str(folder / "dataset")), open_dataset(dataset))
        for loss, added in LOSSES.items():
            found = fit(load_encoder(str(folder / name_of([*added, *options]))), pairs, right)
            shown = [*(f"{value:.1f}" for value in found[:3]), *(f"{value:.3f}" for value in found[3:])]
            cells = [cell.removeprefix("0").replace("nan", "") for cell in shown]
            lines.append(f"| {share:.0%} | {loss} | {' | '.join(cells)} |")
    return "\n".join(lines)


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--dataset", required=True, help="what qpr quora wrote")
    parser.add_argument("--work", type=Path, required=True, help="folder of benchmarks.noise_tables")
    parser.add_argument("--epochs", type=int, default=2)
    parser.add_argument("--share", type=float, choices=SHARES, action="append", help="of noise; all by default")
    parser.add_argument("--write", type=Path, help="file with the marks <!-- noise_fit --> and <!-- end -->")
    given = parser.parse_args()
    options = ["--epochs", str(given.epochs)]
    text = table(given.dataset, given.work, shares=given.share or list(SHARES), options=options)
    print(text)
    if given.write:
        write(given.write, text, mark="noise_fit")


if __name__ == "__main__":
    main()
