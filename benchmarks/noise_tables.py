"""Losses under wrong labels: clusters of Quora with planted errors (Bonadiman et al. 2019, Tables 5 and 6).

Run: python -m benchmarks.noise_tables --dataset D --work FOLDER [--epochs 2] [--pairs 100000] [--write docs/results.md]
[--picture docs/noise.png]

For each share of noise `benchmarks.noisy_clusters` writes D with so many of its train clusters wrong; validation and
test stay clean. Each row is a training of `qpr train --preset paper`, with as many steps as all others, and exact
search, as in `benchmarks.paper_tables`. FOLDER keeps datasets, models and figures: a run that was stopped goes on.
"""

from __future__ import annotations

import argparse
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from benchmarks.machine import describe_machine
from benchmarks.marks import write
from benchmarks.noisy_clusters import PAIRS_AN_ANSWER, write_noisy
from benchmarks.paper_tables import SPLITS, TABLES, line, trained
from model.training.learning_curve import png_of
from schemas.artifacts import storage
from schemas.artifacts.dataset import open_dataset
from schemas.artifacts.manifest import MANIFEST, read_manifest

if TYPE_CHECKING:
    from matplotlib.axes import Axes

SHARES = (0.0, 0.1, 0.3, 0.5)

LOSSES: dict[str, list[str]] = {
    "SDML, epsilon 0.3": TABLES["smoothing"]["SDML, epsilon 0.3"],
    "SDML, epsilon 0": TABLES["smoothing"]["SDML, epsilon 0"],
    "triplet, hard negatives": TABLES["losses"]["triplet, euclidean, hard negatives"],
    "triplet, random negatives": TABLES["losses"]["triplet, euclidean, random negatives"],
}
"""What every row adds to the paper's preset; triplets by the distance that suits them better without noise."""

Figures = Mapping[float, Mapping[str, Mapping[str, Any]]]
"""By share of noise and by loss, what `benchmarks.paper_tables.trained` returns."""


def noisy(dataset: str, folder: Path, *, share: float, pairs: int) -> tuple[str, dict[str, int]]:
    """Return the noisy dataset of a share and its counters, writing it unless the folder has it from before."""
    url = str(folder / "dataset")
    if storage.exists(storage.join(url, MANIFEST)):
        return url, read_manifest(url, "dataset").counters
    return url, write_noisy(open_dataset(dataset), url, share=share, pairs=pairs).counters


def heading(share: float, counters: Mapping[str, int]) -> str:
    """Return what a share of noise is."""
    wrong = counters["pairs_train_wrong"] / counters["pairs_train"]
    return f"### {share:.0%} of the clusters wrong: {wrong:.0%} of {counters['pairs_train']:,} train pairs"


def report(dataset: str, work: Path, *, shares: Sequence[float], pairs: int, options: list[str]) -> tuple[str, Figures]:
    """Return the tables of some shares and their figures, training what is missing."""
    fixed = f"at most {PAIRS_AN_ANSWER} pairs an answer; added to every row: {' '.join(options)}"
    lines, figures = [f"{describe_machine()}; seed 0; {fixed}.", ""], {}
    for share in shares:
        folder = work / f"noise-{share:g}"
        folder.mkdir(parents=True, exist_ok=True)
        url, counters = noisy(dataset, folder, share=share, pairs=pairs)
        head = "H@1 / H@10 / MRR, validation | test | test, per pair | best epoch | CPU minutes"
        lines += [heading(share, counters), "", f"| | {head} |", "|---|---|---|---|---|---|"]
        figures[share] = {name: trained(url, folder, [*added, *options]) for name, added in LOSSES.items()}
        lines += [*(line(name, found) for name, found in figures[share].items()), ""]
        print("\n".join(lines[-5 - len(LOSSES) :]), flush=True)
    return "\n".join(lines), figures


def picture(figures: Figures) -> bytes:
    """Return a PNG of MRR per question against noise, a panel a split and a line a loss; equal figures, equal bytes."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(9, 3.8), dpi=120, layout="constrained")
    panels = figure.subplots(1, len(SPLITS), sharey=True)
    for axes, split in zip(panels, SPLITS, strict=True):
        _lines(axes, {share: {name: found[split] for name, found in rows.items()} for share, rows in figures.items()})
        axes.set(title=split, xlabel="share of train clusters that are wrong")
    panels[0].set_ylabel("MRR, exact search")
    panels[-1].legend(loc="lower left", fontsize="small")
    return png_of(figure)


def _lines(axes: Axes, of_split: Figures) -> None:
    shares: Sequence[float] = sorted(of_split)
    for (name, _), style in zip(LOSSES.items(), ("o-", "s--", "^-.", "v:"), strict=True):
        axes.plot(shares, [of_split[share][name]["per_question"]["mrr"] for share in shares], style, label=name)
    axes.set(xticks=shares, ylim=(0, None))
    axes.grid(alpha=0.3)


def main() -> None:
    """Write the datasets, train, measure and print the tables."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--dataset", required=True, help="what qpr quora wrote")
    parser.add_argument("--work", type=Path, required=True, help="folder of datasets, models and figures")
    parser.add_argument("--epochs", type=int, default=2)
    parser.add_argument("--pairs", type=int, default=100_000, help="train pairs of every dataset")
    parser.add_argument("--share", type=float, choices=SHARES, action="append", help="of noise; all by default")
    parser.add_argument("--write", type=Path, help="file with the marks <!-- noise --> and <!-- end -->")
    parser.add_argument("--picture", type=Path, help="PNG to draw")
    given = parser.parse_args()
    options = ["--epochs", str(given.epochs)]
    shares = given.share or SHARES
    text, figures = report(given.dataset, given.work, shares=shares, pairs=given.pairs, options=options)
    if given.write:
        write(given.write, text, mark="noise")
    if given.picture:
        given.picture.write_bytes(picture(figures))


if __name__ == "__main__":
    main()
