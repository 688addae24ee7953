"""Losses under wrong labels: clusters of Quora with planted errors (Bonadiman et al. 2019, Tables 5 and 6).

Run: python -m benchmarks.training.wrong_labels train --dataset quora --work FOLDER --share 0.3

`train`: for each share of noise `benchmarks.logs.noisy_clusters` writes the dataset with that share of its train
clusters wrong; validation and test stay clean. Each row is a training of `qpr train --preset paper`, with equal numbers
of steps, and exact search, as in `benchmarks.training.paper_tables`. FOLDER keeps datasets, models and figures, so that
a stopped run continues.
`distances`, after `train`: the distances that these models give to wrong and right train pairs. Of a fixed sample of
20,000 train pairs, those of one cluster of the clean dataset are right. Each kind is compared with random pairs.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import typer
from sklearn.metrics import roc_auc_score

from benchmarks.cli import AsJson, Page, Pairs, Report, run
from benchmarks.logs.noisy_clusters import PAIRS_AN_ANSWER, write_noisy
from benchmarks.training.paper_tables import SPLITS, TABLES, Work, cells, name_of, trained
from model.encoders.interface import Encoder
from model.encoders.loading import load_encoder
from model.training.learning_curve import png_of
from schemas.arrays import Bools, Float32s
from schemas.artifacts import storage
from schemas.artifacts.dataset import Dataset, open_dataset
from schemas.artifacts.manifest import MANIFEST, read_manifest
from schemas.errors import QprError

if TYPE_CHECKING:
    from matplotlib.axes import Axes

SAMPLE = 20_000
SHARES = (0.0, 0.1, 0.3, 0.5)

LOSSES: dict[str, list[str]] = {
    "SDML, epsilon 0.3": TABLES["smoothing"]["SDML, epsilon 0.3"],
    "SDML, epsilon 0": TABLES["smoothing"]["SDML, epsilon 0"],
    "triplet, hard negatives": TABLES["losses"]["triplet, euclidean, hard negatives"],
    "triplet, random negatives": TABLES["losses"]["triplet, euclidean, random negatives"],
}
"""Options that a row adds to the paper's preset; triplets by the distance that suits them better without noise."""

Figures = Mapping[float, Mapping[str, Mapping[str, Any]]]
"""Results of `benchmarks.training.paper_tables.trained` by share of noise and by loss."""


def noisy(dataset: str, folder: Path, *, share: float, pairs: int) -> tuple[str, dict[str, int]]:
    """Return the noisy dataset of a share and its counters, writing it unless the folder has it from before.

    Raises:
        QprError: the folder has that of another dataset, share or number of pairs.
    """
    url, clean = str(folder / "dataset"), open_dataset(dataset)
    if not storage.exists(storage.join(url, MANIFEST)):
        return url, write_noisy(clean, url, share=share, pairs=pairs).counters
    before = read_manifest(url, "dataset")
    made = before.inputs[0].digest, before.configuration["share"], before.configuration["pairs"]
    if made != (clean.manifest.digest, share, pairs):
        raise QprError(f"{url}: was made of another dataset than {dataset}, or with other options. Give another --work")
    return url, before.counters


def heading(share: float, counters: Mapping[str, int]) -> str:
    """Return the title of a share of noise."""
    wrong = counters["pairs_train_wrong"] / counters["pairs_train"]
    return f"{share:.0%} of the clusters wrong: {wrong:.0%} of {counters['pairs_train']:,} train pairs"


def picture(figures: Figures) -> bytes:
    """Return a PNG of MRR per question against noise, a panel a split and a line a loss; equal figures, equal bytes."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(9, 3.8), dpi=120, layout="constrained")
    panels = figure.subplots(1, len(SPLITS), sharey=True)
    for axes, split in zip(panels, SPLITS, strict=True):
        _lines(
            axes, {share: {name: of_split[split] for name, of_split in rows.items()} for share, rows in figures.items()}
        )
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


class Fit(NamedTuple):
    """Median squared distances, and the ROC AUC of a kind against random pairs; nan without a pair of the kind."""

    right: float
    wrong: float
    random: float
    right_auc: float
    wrong_auc: float


def sampled_pairs(noisy: Dataset, clean: Dataset, *, sample: int = SAMPLE) -> tuple[pa.Table, Bools]:
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


def fit(encoder: Encoder, pairs: pa.Table, right: Bools) -> Fit:
    """Return the distances of right, wrong and random pairs."""
    first, second = (encoder.encode(pairs[name]) for name in ("text_1", "text_2"))
    distances = np.square(first - second).sum(axis=1)
    random = np.square(first - second[np.random.default_rng(1).permutation(len(second))]).sum(axis=1)
    kinds = distances[right], distances[~right]
    medians = [float(np.median(kind)) if len(kind) else np.nan for kind in (*kinds, random)]
    return Fit(*medians, *(_auc(kind, random) for kind in kinds))


def _auc(near: Float32s, far: Float32s) -> float:
    if not len(near):
        return np.nan
    labels = np.repeat([True, False], [len(near), len(far)])
    return float(roc_auc_score(labels, -np.concatenate([near, far])))


Epochs = Annotated[int, typer.Option(help="Epochs of each training.")]
Shares = Annotated[list[float], typer.Option("--share", help="Share of wrong clusters, from 0 to 1; repeatable.")]


def train(
    dataset: Pairs,
    work: Work,
    epochs: Epochs = 2,
    pairs: Annotated[int, typer.Option(help="Train pairs of every dataset.")] = 100_000,
    shares: Shares = [*SHARES],
    write: Page = None,
    picture_file: Annotated[Path | None, typer.Option("--picture", help="PNG to draw.")] = None,
    as_json: AsJson = False,
) -> None:
    """Write the datasets, train and measure."""
    options = ["--epochs", str(epochs)]
    report = Report(as_json=as_json, seed=0, pairs_an_answer=PAIRS_AN_ANSWER, options_of_every_row=" ".join(options))
    figures: dict[float, dict[str, dict[str, Any]]] = {}
    for share in shares:
        folder = work / f"noise-{share:g}"
        folder.mkdir(parents=True, exist_ok=True)
        url, counters = noisy(dataset, folder, share=share, pairs=pairs)
        report.heading(heading(share, counters))
        figures[share] = {}
        for name, added in LOSSES.items():
            figures[share][name] = trained(url, folder, [*added, *options])
            report.row(**cells(name, figures[share][name]))
    report.write(write, mark="noise")
    if picture_file:
        picture_file.write_bytes(picture(figures))


def distances(
    dataset: Pairs,
    work: Work,
    epochs: Epochs = 2,
    shares: Shares = [*SHARES],
    write: Page = None,
    as_json: AsJson = False,
) -> None:
    """Measure the distances of the trained models."""
    report = Report(as_json=as_json, seed=0)
    for share in shares:
        folder = work / f"noise-{share:g}"
        pairs, right = sampled_pairs(open_dataset(str(folder / "dataset")), open_dataset(dataset))
        for loss, added in LOSSES.items():
            name = name_of([*added, "--epochs", str(epochs)])
            result = fit(load_encoder(str(folder / name)), pairs, right)
            report.row(wrong_clusters=f"{share:.0%}", loss=loss, **result._asdict())
    report.write(write, mark="noise_fit")


if __name__ == "__main__":
    run(train, distances)
