"""Cost of training steps, beside other programs for the same step; they take turns on the same batches.

Run: python -m benchmarks.training.steps convolution --steps 3

`convolution`: the paper's network and sentence-transformers' convolution of the same sizes, by multiple negatives from
one side; then the paper's loss, chunks, the default encoder, and dense gradients and Adam for the whole embedding.
Without `--dataset` questions are generated.
`transformer`: a fine-tuning from a folder of sentence-transformers, without dropout and with tokens computed before the
first step, and that of the library, with its dropout.
`padded`: forward and backward of the paper's network and of `nn.Conv1d` on padded batches, with equal weights.

The process keeps freed memory, as `qpr train` does, for all programs. Peers need
`pip install --constraint constraints.txt sentence-transformers`.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Annotated

import numpy as np
import pyarrow as pa
import torch
import typer
from torch import Tensor, nn

from benchmarks.cli import AsJson, Report, run
from benchmarks.cli import Pairs as PairsUrl
from benchmarks.training.peers.convolution import PeerTraining
from benchmarks.training.peers.padded import PaddedEncoder, difference, pad
from benchmarks.training.peers.transformer import PeerFineTuning
from benchmarks.training.step_pairs import SEED, drawn, train_pairs
from model.choices import Precision
from model.encoders.cnn.network import QuestionEncoder
from model.encoders.cnn.settings import CnnSettings
from model.encoders.config import Shape
from model.encoders.new_network import network_of
from model.encoders.subword.settings import SubwordSettings
from model.encoders.transformer.checkpoint_folder import described
from model.encoders.transformer.settings import TransformerSettings
from model.losses.multiple_negatives import MultipleNegativesRankingLoss
from model.losses.sdml import SDMLLoss
from model.text.vocabulary import Vocabulary
from model.training.batching import batches, unique_batches
from model.training.pairs.pair_objective import PairObjective
from model.training.presets import PRESETS
from model.training.settings import TrainingSettings
from model.training.trainer import Trainer
from model.training.training_pairs import Pairs, read_pairs
from pipelines.engine.freed_memory import keep_freed_memory
from schemas.arrays import Int64s
from schemas.artifacts.dataset import open_dataset
from schemas.text_arrays import words_all

RANKING = TrainingSettings(loss=MultipleNegativesRankingLoss(symmetric=False, smoothing=0.0))
"""The loss of the peers."""
RATE = PRESETS["transformer"].training.learning_rate
PRECISIONS: tuple[Precision, ...] = ("float32", "bfloat16")

Step = Callable[[Int64s], object]
PairsAStep = Annotated[int, typer.Option("--pairs", help="Pairs of a step.")]
Steps = Annotated[int, typer.Option(help="Steps of each program that count.")]


def run_of(
    pairs: Pairs, words: Vocabulary, shape: Shape, settings: TrainingSettings, *, dense: bool = False
) -> Trainer:
    """Return a training; ``dense``: with dense gradients of the embedding, and dense Adam for it."""
    network = network_of(words, shape, dropout=settings.dropout, seed=settings.seed)
    run = Trainer(PairObjective(network, pairs, pairs, settings))
    network.train()
    if dense:
        for table in network.body.modules():
            if isinstance(table, torch.nn.Embedding):
                table.sparse = False
        run.optimizers = [torch.optim.Adam(network.parameters(), lr=settings.learning_rate, fused=True)]
    return run


def convolutions(pairs: Pairs) -> dict[str, Step]:
    """Return the steps of `qpr train` by name; the first is compared with the peer."""
    listed = Vocabulary.learn(pairs.keys)
    default = PRESETS["default"].training
    hashed = Vocabulary.learn(pairs.keys, words=default.vocabulary_size, hash_bins=default.hash_bins)
    chunked = RANKING.model_copy(update={"chunk_size": 128})
    convolution, bag = CnnSettings(), SubwordSettings()
    return {
        "cnn": run_of(pairs, listed, convolution, RANKING).step,
        "cnn, dense gradients": run_of(pairs, listed, convolution, RANKING, dense=True).step,
        "cnn, the paper's loss": run_of(pairs, listed, convolution, TrainingSettings()).step,
        "cnn, chunks of 128": run_of(pairs, listed, convolution, chunked).step,
        "subword, preset default": run_of(pairs, hashed, bag, default).step,
        "subword, dense gradients": run_of(pairs, hashed, bag, default, dense=True).step,
    }


def peer_convolutions(pairs: Pairs) -> dict[str, Step]:
    """Return the step of the peer by name."""
    spaced = [" ".join(words) for words in words_all(pairs.keys).to_pylist()]
    training = PeerTraining(Vocabulary.learn(pairs.keys).words, dimension=300, width=5, learning_rate=1e-3)

    def step(batch: Int64s) -> float:
        return training.step(*([spaced[row] for row in side[batch]] for side in (pairs.first, pairs.second)))

    return {"sentence-transformers": step}


def timed(steps: dict[str, Step], work: list[Int64s]) -> dict[str, tuple[list[float], list[float]]]:
    """Return wall and CPU seconds of every step by name, after a first one that does not count."""
    times: dict[str, tuple[list[float], list[float]]] = {name: ([], []) for name in steps}
    for round_, batch in enumerate(work):
        for name, step in steps.items():
            wall, cpu = time.perf_counter(), time.process_time()
            step(batch)
            if round_:
                times[name][0].append(time.perf_counter() - wall)
                times[name][1].append(time.process_time() - cpu)
    return times


def transformers(pairs: Pairs, folder: str) -> dict[str, Step]:
    """Return the steps of `qpr train` by name."""
    shape, words = TransformerSettings(**described(folder)), Vocabulary((), hash_bins=0)
    steps: dict[str, Step] = {}
    for precision in PRECISIONS:
        settings = RANKING.model_copy(update={"precision": precision, "learning_rate": RATE})
        steps[f"qpr, {precision}"] = run_of(pairs, words, shape, settings).step
    return steps


def peer_step(pairs: Pairs, folder: str, precision: Precision, *, device: str = "cpu") -> Callable[[Int64s], float]:
    """Return a step of the peer's fine-tuning, which returns its loss."""
    texts = pairs.texts.to_pylist()
    training = PeerFineTuning(folder, learning_rate=RATE, half=precision == "bfloat16", device=device)

    def step(batch: Int64s) -> float:
        return training.step(*([texts[row] for row in side[batch]] for side in (pairs.first, pairs.second)))

    return step


def peer_transformers(pairs: Pairs, folder: str) -> dict[str, Step]:
    """Return the steps of the peer by name."""
    return {f"its own, {precision}": peer_step(pairs, folder, precision) for precision in PRECISIONS}


def report_steps(
    report: Report, times: dict[str, tuple[list[float], list[float]]], *, pairs: int, **cells: object
) -> None:
    """Print medians; the ratios are to the first row, by the wall clock and by CPU seconds."""
    first: list[float] = []
    for name, (wall, cpu) in times.items():
        medians = [float(np.median(wall)), float(np.median(cpu))]
        first = first or medians
        figures = {"ms": medians[0] * 1e3, "lowest_ms": min(wall) * 1e3, "cpu_ms": medians[1] * 1e3}
        rates = {"pairs_a_cpu_s": pairs / medians[1]}
        ratios = {"ratio": medians[0] / first[0], "cpu_ratio": medians[1] / first[1]}
        report.row(program=name, **cells, **figures, **rates, **ratios)


def convolution(
    dataset: Annotated[str | None, typer.Option(help="Dataset with train pairs.")] = None,
    pairs: PairsAStep = 512,
    steps: Steps = 12,
    as_json: AsJson = False,
) -> None:
    """Time steps of the convolution and of the default encoder, with one thread and with two."""
    keep_freed_memory()
    data = train_pairs(dataset)
    report = Report(
        as_json=as_json, torch=torch.__version__, seed=SEED, pairs=len(data), pairs_a_step=pairs, steps=steps
    )
    work = [*batches(len(data), size=pairs, seed=SEED, epoch=1)][: steps + 1]
    trainings = convolutions(data)
    if report.has_peer("sentence_transformers"):
        trainings |= peer_convolutions(data)
    for threads in (1, 2):
        torch.set_num_threads(threads)
        report_steps(report, timed(trainings, work), pairs=pairs, threads=threads)
    for name, per_cluster in (("all pairs", None), ("at most 10 of a cluster", 10)):
        started = time.process_time()
        dealt = unique_batches(data.clusters, per_cluster=per_cluster, size=pairs, seed=SEED, epoch=0)
        rate = sum(map(len, dealt)) / (time.process_time() - started)
        report.row(batches_without_a_cluster_twice=name, pairs_a_cpu_s=rate)


def transformer(
    dataset: PairsUrl,
    model: Annotated[str, typer.Option(help="Folder of a sentence-transformers model.")],
    pairs: PairsAStep = 256,
    steps: Steps = 3,
    as_json: AsJson = False,
) -> None:
    """Time steps of a fine-tuning, on one thread."""
    keep_freed_memory()
    torch.set_num_threads(1)
    data = drawn(read_pairs(open_dataset(dataset))["train"], count=(steps + 1) * pairs)
    work = [*batches(len(data), size=pairs, seed=SEED, epoch=1)]
    report = Report(as_json=as_json, torch=torch.__version__, seed=SEED, pairs_a_step=pairs, steps=steps)
    report_steps(report, timed(transformers(data, model) | peer_transformers(data, model), work), pairs=pairs)


def padded(
    dataset: Annotated[str | None, typer.Option(help="Dataset with train pairs.")] = None,
    pairs: PairsAStep = 512,
    steps: Steps = 10,
    as_json: AsJson = False,
) -> None:
    """Time forward and backward of the paper's network and of padded `nn.Conv1d`."""
    data = train_pairs(dataset)
    batch = next(iter(batches(len(data), size=pairs, seed=SEED, epoch=1)))
    vocabulary = Vocabulary.learn(data.keys)
    tokens = vocabulary.ids(data.keys.take(pa.array(np.concatenate([data.first[batch], data.second[batch]]))))
    torch.manual_seed(SEED)
    encoder, loss = QuestionEncoder(len(vocabulary), CnnSettings()), SDMLLoss()
    peer = PaddedEncoder(encoder)
    ragged = torch.from_numpy(tokens.ids), torch.from_numpy(tokens.offsets)
    inputs = pad(tokens, padding=len(vocabulary))

    def step(network: nn.Module, batch: tuple[Tensor, Tensor]) -> Tensor:
        network.zero_grad()
        vectors: Tensor = network(*batch)
        loss(*vectors.chunk(2)).backward()  # type: ignore[no-untyped-call]
        return vectors.detach()

    report = Report(
        as_json=as_json, torch=torch.__version__, seed=SEED, threads=torch.get_num_threads(), tokens=len(tokens.ids)
    )
    outputs = float((step(encoder, ragged) - step(peer, inputs)).abs().max())
    programs: dict[str, Step] = {
        "QuestionEncoder": lambda _: step(encoder, ragged),
        "nn.Conv1d, padded": lambda _: step(peer, inputs),
    }
    gradients = difference(encoder, peer)
    report_steps(report, timed(programs, [batch] * (steps + 1)), pairs=pairs)
    report.row(largest_difference_of="outputs", value=f"{outputs:.1e}")
    report.row(largest_difference_of="gradients", value=f"{gradients:.1e}")


if __name__ == "__main__":
    run(convolution, transformer, padded)
