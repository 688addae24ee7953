"""Pairs a second while training the paper's network, against sentence-transformers' one of the same sizes, in one run.

train pairs of a dataset, or generated ones -> steps of both, in turn -> pairs/s, ratio, an epoch's seconds

Run it: python -m benchmarks.training [--dataset D] [--pairs 512] [--steps 12] [--epoch] [--without-peer]
With OMP_WAIT_POLICY=passive before it, as `qpr train` sets it, waiting threads take no processor from other work.

Both learn by multiple-negatives ranking from one side, 300 numbers a word, one window of 5, 300 channels. Rows named
dense are ours with dense gradients of the embedding and Adam on all of it; the paper's loss, chunks and the default
encoder are there to compare. The whole process keeps freed memory, as `qpr train` does, so the peer gains too. Last,
how fast batches are dealt. The peer wants `pip install --constraint constraints.txt sentence-transformers`.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator
from typing import Annotated

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import torch
import typer

from benchmarks.machine import describe_machine
from benchmarks.rivals.sentence_transformers_cnn import PeerTraining
from benchmarks.training_step import random_questions
from model.encoders.config import EncoderSettings, Shape, SubwordSettings
from model.encoders.network import network_of
from model.losses.multiple_negatives import MultipleNegativesRankingLoss
from model.text.vocabulary import Vocabulary
from model.training.batching import Numbers, batches, unique_batches
from model.training.memory.freed_memory import keep_freed_memory
from model.training.presets import PRESETS
from model.training.settings import TrainingSettings
from model.training.trainer import Run
from model.training.training_pairs import Pairs, read_pairs
from schemas.artifacts.dataset import open_dataset
from schemas.text_arrays import words_all

SEED = 0
GENERATED = 50_000
RANKING = TrainingSettings(loss=MultipleNegativesRankingLoss(symmetric=False, smoothing=0.0))
"""What the peer's loss is."""


def generated_pairs() -> Pairs:
    """Return pairs of questions as long as Quora's, whose words follow Zipf's law."""
    tokens = random_questions(2 * GENERATED)
    words = pa.array([f"word{number}" for number in range(int(tokens.ids.max()) + 1)])
    listed = pa.ListArray.from_arrays(pa.array(tokens.offsets, pa.int32()), words.take(pa.array(tokens.ids)))
    numbers = np.arange(GENERATED)
    return Pairs(pc.binary_join(listed, " "), numbers, numbers + GENERATED, numbers)


def run_of(pairs: Pairs, words: Vocabulary, shape: Shape, settings: TrainingSettings, *, dense: bool = False) -> Run:
    """Return a training of ours; ``dense``: the embedding has dense gradients, and dense Adam moves it."""
    run = Run(network_of(words, shape, dropout=settings.dropout, seed=settings.seed), pairs, settings)
    run.network.train()
    if dense:
        for table in run.network.body.modules():
            if isinstance(table, torch.nn.Embedding):
                table.sparse = False
        run.optimizers = [torch.optim.Adam(run.network.parameters(), lr=settings.learning_rate, fused=True)]
    return run


Step = Callable[[Numbers], object]


def ours(pairs: Pairs) -> dict[str, Step]:
    """Return the steps of all trainings of ours by name; the first is the one that is compared."""
    listed = Vocabulary.learn(pairs.keys)
    default = PRESETS["default"].training
    hashed = Vocabulary.learn(pairs.keys, words=default.vocabulary_size, hash_bins=default.hash_bins)
    chunked = RANKING.model_copy(update={"chunk_size": 128})
    convolution, bag = EncoderSettings(), SubwordSettings()
    return {
        "cnn": run_of(pairs, listed, convolution, RANKING).step,
        "cnn, dense gradients": run_of(pairs, listed, convolution, RANKING, dense=True).step,
        "cnn, the paper's loss": run_of(pairs, listed, convolution, TrainingSettings()).step,
        "cnn, chunks of 128": run_of(pairs, listed, convolution, chunked).step,
        "subword, preset default": run_of(pairs, hashed, bag, default).step,
        "subword, dense gradients": run_of(pairs, hashed, bag, default, dense=True).step,
    }


def peers(pairs: Pairs) -> dict[str, Step]:
    """Return the steps of the peer, with and without tokenizing, by name."""
    spaced = [" ".join(found) for found in words_all(pairs.keys).to_pylist()]
    training = PeerTraining(Vocabulary.learn(pairs.keys).words, dimension=300, width=5, learning_rate=1e-3)
    known: dict[int, list[dict[str, object]]] = {}

    def tokenized(batch: Numbers) -> list[dict[str, object]]:
        return training.tokenized(*([spaced[i] for i in side[batch]] for side in (pairs.first, pairs.second)))

    def again(batch: Numbers) -> float:
        return training.step(known[int(batch[0])])

    def step(batch: Numbers) -> float:
        known[int(batch[0])] = tokenized(batch)
        return training.step(known[int(batch[0])])

    return {"sentence-transformers": step, "the same, tokenized before": again}


def timed(steps: dict[str, Step], work: list[Numbers]) -> dict[str, tuple[list[float], list[float]]]:
    """Return wall and CPU seconds of every step by name, after one that does not count; they take turns."""
    times: dict[str, tuple[list[float], list[float]]] = {name: ([], []) for name in steps}
    for round_, batch in enumerate(work):
        for name, step in steps.items():
            wall, cpu = time.perf_counter(), time.process_time()
            step(batch)
            if round_:
                times[name][0].append(time.perf_counter() - wall)
                times[name][1].append(time.process_time() - cpu)
    return times


def report(times: dict[str, tuple[list[float], list[float]]], *, pairs: int) -> None:
    """Print a table of medians; the ratios are to the first row, by the wall clock and by CPU seconds."""
    print(f"  {'':28} {'ms':>7} {'lowest':>7} {'CPU ms':>7} {'pairs/s':>8} {'a CPU s':>8} {'ratio':>6} {'of CPU':>6}")
    first: list[float] = []
    for name, (wall, cpu) in times.items():
        medians = [float(np.median(wall)), float(np.median(cpu))]
        first = first or medians
        shown = f"{medians[0] * 1e3:7.0f} {min(wall) * 1e3:7.0f} {medians[1] * 1e3:7.0f}"
        rates = f"{pairs / medians[0]:8,.0f} {pairs / medians[1]:8,.0f}"
        ratios = f"{medians[0] / first[0]:6.2f} {medians[1] / first[1]:6.2f}"
        print(f"  {name:28} {shown} {rates} {ratios}", flush=True)


def whole_epoch(step: Step, work: Iterable[Numbers]) -> tuple[int, float, float]:
    """Return pairs, wall and CPU seconds of an epoch."""
    wall, cpu, seen = time.perf_counter(), time.process_time(), 0
    for batch in work:
        step(batch)
        seen += len(batch)
    return seen, time.perf_counter() - wall, time.process_time() - cpu


def dealing(pairs: Pairs, *, size: int) -> Iterator[tuple[str, float]]:
    """Yield how many pairs a second are dealt to batches of each kind, the best of three, on one core."""
    for name, per_cluster in (("all pairs", None), ("at most 10 of a cluster", 10)):
        rates = []
        for epoch in range(3):
            started = time.process_time()
            found = unique_batches(pairs.clusters, per_cluster=per_cluster, size=size, seed=SEED, epoch=epoch)
            rates.append(sum(map(len, found)) / (time.process_time() - started))
        yield name, max(rates)


def main(
    dataset: Annotated[str | None, typer.Option(help="Learn from this dataset's train pairs.")] = None,
    size: Annotated[int, typer.Option("--pairs", help="Pairs a step.")] = 512,
    steps: Annotated[int, typer.Option(help="Steps of each that count.")] = 12,
    epoch: Annotated[bool, typer.Option("--epoch", help="Also train a whole epoch at each number of threads.")] = False,
    without_peer: Annotated[bool, typer.Option("--without-peer", help="Ours alone.")] = False,
) -> None:
    """Print the tables, with one thread and with two."""
    kept = "kept" if keep_freed_memory() else "given back"
    pairs = read_pairs(open_dataset(dataset))["train"] if dataset else generated_pairs()
    work = [*batches(len(pairs), size=size, seed=SEED, epoch=1)]
    trainings = ours(pairs) | ({} if without_peer else peers(pairs))
    print(f"{describe_machine()}, torch {torch.__version__}, seed {SEED}, freed memory {kept}")
    print(f"{len(pairs):,} pairs of {len(pairs.keys):,} questions, {size} a step, {steps} steps of each in turn")
    for threads in (1, 2):
        torch.set_num_threads(threads)
        print(f"{threads} thread(s)")
        report(timed(trainings, work[: steps + 1]), pairs=size)
        if epoch:
            seen, wall, cpu = whole_epoch(trainings["cnn, the paper's loss"], work)
            print(f"  an epoch of {seen:,} pairs by the paper's loss: {wall:.1f} s, {cpu:.1f} CPU s")
    for name, rate in dealing(pairs, size=size):
        print(f"batches without a cluster twice, {name}: {rate / 1e6:.1f} M pairs/s")


if __name__ == "__main__":
    typer.run(main)
