"""Pairs a second while fine-tuning a transformer, against sentence-transformers' own way, in one run.

train pairs of a dataset, folder of a model -> steps of both, in turn -> pairs/s, ratio

Run it: python -m benchmarks.fine_tuning --dataset D --model FOLDER [--pairs 256] [--steps 3]

Both begin with the model in the folder, learn by multiple-negatives ranking from one side and move all weights, on one
thread. Ours has its tokens from before the first step, and no dropout; the peer's dropout is on, as its users have it.
"""

from __future__ import annotations

from typing import Annotated

import numpy as np
import pyarrow as pa
import torch
import typer

from benchmarks.machine import describe_machine
from benchmarks.rivals.sentence_transformers_step import PeerFineTuning
from benchmarks.training import RANKING, SEED, Step, report, run_of, timed
from model.choices import Precision
from model.encoders.config import TransformerSettings
from model.encoders.transformer.checkpoint_folder import described
from model.text.vocabulary import Vocabulary
from model.training.batching import Numbers, batches
from model.training.memory.freed_memory import keep_freed_memory
from model.training.presets import PRESETS
from model.training.training_pairs import Pairs, read_pairs
from schemas.artifacts.dataset import open_dataset

RATE = PRESETS["transformer"].training.learning_rate
PRECISIONS: tuple[Precision, ...] = ("float32", "bfloat16")


def drawn(pairs: Pairs, *, count: int) -> Pairs:
    """Return so many pairs and their questions alone, so that no others have to be cut into tokens."""
    rows = np.random.default_rng(SEED).permutation(len(pairs))[:count]
    asked, places = np.unique(np.concatenate([pairs.first[rows], pairs.second[rows]]), return_inverse=True)
    clusters = np.unique(pairs.clusters[rows], return_inverse=True)[1]
    return Pairs(pairs.texts.take(pa.array(asked)), places[: len(rows)], places[len(rows) :], clusters)


def ours(pairs: Pairs, folder: str) -> dict[str, Step]:
    """Return the steps of `qpr train` by name."""
    shape, words = TransformerSettings(**described(folder)), Vocabulary((), hash_bins=0)
    steps: dict[str, Step] = {}
    for precision in PRECISIONS:
        settings = RANKING.model_copy(update={"precision": precision, "learning_rate": RATE})
        steps[f"qpr, {precision}"] = run_of(pairs, words, shape, settings).step
    return steps


def peers(pairs: Pairs, folder: str) -> dict[str, Step]:
    """Return the steps of the peer by name."""
    texts = pairs.texts.to_pylist()

    def stepping(precision: Precision) -> Step:
        training = PeerFineTuning(folder, learning_rate=RATE, half=precision == "bfloat16")

        def step(batch: Numbers) -> float:
            return training.step(*([texts[row] for row in side[batch]] for side in (pairs.first, pairs.second)))

        return step

    return {f"its own, {precision}": stepping(precision) for precision in PRECISIONS}


def main(
    dataset: Annotated[str, typer.Option(help="Learn from this dataset's train pairs.")],
    model: Annotated[str, typer.Option(help="Folder of a sentence-transformers model.")],
    size: Annotated[int, typer.Option("--pairs", help="Pairs a step.")] = 256,
    steps: Annotated[int, typer.Option(help="Steps of each that count.")] = 3,
) -> None:
    """Print the table."""
    keep_freed_memory()
    torch.set_num_threads(1)
    pairs = drawn(read_pairs(open_dataset(dataset))["train"], count=(steps + 1) * size)
    work = [*batches(len(pairs), size=size, seed=SEED, epoch=1)]
    print(f"{describe_machine()}, torch {torch.__version__}, seed {SEED}, {size} pairs a step, {steps} steps of each")
    report(timed(ours(pairs, model) | peers(pairs, model), work), pairs=size)


if __name__ == "__main__":
    typer.run(main)
