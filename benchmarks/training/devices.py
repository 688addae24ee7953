"""Training steps and encoding on a processor and on a graphics card, beside those of sentence-transformers.

Run: python -m benchmarks.training.devices --dataset quora --model minilm --device cpu --device cuda

Each program takes the same batches of train pairs and begins with the same weights; steps before `--steps` of them do
not count. The loss of the last step shows whether devices learn alike.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from typing import Annotated, Any

import numpy as np
import torch
import typer

from benchmarks.cli import AsJson, Pairs, Report, Seed, run
from benchmarks.training.step_pairs import drawn
from benchmarks.training.steps import PRECISIONS, peer_step
from model.choices import Precision
from model.encoders.cnn.settings import CnnSettings
from model.encoders.config import Shape
from model.encoders.subword.settings import SubwordSettings
from model.encoders.transformer.checkpoint_folder import PREFIX, checked_folder, described, load_sentences
from model.encoders.transformer.inference import TransformerEncoder
from model.encoders.transformer.settings import TransformerSettings
from model.training.batching import batches
from model.training.initialization import build_network
from model.training.pairs.pair_objective import PairObjective
from model.training.presets import PRESETS
from model.training.trainer import Trainer, ignore
from model.training.training_pairs import Pairs as TrainPairs
from model.training.training_pairs import read_pairs
from pipelines.engine.freed_memory import keep_freed_memory
from schemas.arrays import Int64s
from schemas.artifacts.dataset import open_dataset

Step = Callable[[Int64s], float]

_WARM = 5
"""Steps that do not count: a card compiles and measures its kernels in them."""


def steps_of(pairs: TrainPairs, shapes: dict[str, Shape], device: str) -> Iterator[tuple[str, Precision, Step]]:
    """Yield preset, precision and step of every training on a device."""
    for name, shape in shapes.items():
        for precision in PRECISIONS:
            settings = PRESETS[name].training.model_copy(update={"precision": precision})
            _, network = build_network(pairs, shape=shape, settings=settings, device=device, older=None, inform=ignore)
            trainer = Trainer(PairObjective(network, pairs, pairs, settings))
            network.train()
            yield name, precision, trainer.step


def peer_steps(pairs: TrainPairs, folder: str, device: str) -> Iterator[tuple[str, Precision, Step]]:
    """Yield name, precision and step of every training of sentence-transformers on a device."""
    for precision in PRECISIONS:
        step = peer_step(pairs, folder, precision, device=device)
        yield "transformer, by sentence-transformers", precision, step


def timed(step: Step, work: list[Int64s]) -> tuple[list[float], float]:
    """Return the seconds of each step and the loss of the last one."""
    seconds, loss = [], 0.0
    for batch in work:
        started = time.perf_counter()
        loss = step(batch)
        seconds.append(time.perf_counter() - started)
    return seconds, loss


def encoding_rates(folder: str, texts: list[str], device: str) -> Iterator[tuple[str, float]]:
    """Yield program and questions a second of encoding by the transformer, without its start."""
    encoder = TransformerEncoder("", f"{PREFIX}{folder}", device=device)
    peer = load_sentences(checked_folder(folder), name=folder, device=device)
    programs: dict[str, Callable[[list[str]], object]] = {
        "qpr": encoder.encode,
        **{f"sentence-transformers, batches of {size}": _batches_of(peer, size) for size in (32, 256)},
    }
    for name, encode in programs.items():
        encode(texts[: len(texts) // 8])
        started = time.perf_counter()
        encode(texts)
        yield name, len(texts) / (time.perf_counter() - started)


def _batches_of(peer: Any, size: int) -> Callable[[list[str]], object]:
    return lambda texts: peer.encode(texts, batch_size=size, normalize_embeddings=True, show_progress_bar=False)


def main(
    dataset: Pairs,
    model: Annotated[str | None, typer.Option(help="Folder of a sentence-transformers model.")] = None,
    device: Annotated[list[str], typer.Option(help="Device by PyTorch's name; repeatable.")] = ["cpu", "cuda"],
    pairs: Annotated[int, typer.Option(help="Pairs of a step.")] = 512,
    steps: Annotated[int, typer.Option(help="Steps of each program that count.")] = 10,
    questions: Annotated[int, typer.Option(help="Questions of train to encode, at most.")] = 2_048,
    seed: Seed = 0,
    as_json: AsJson = False,
) -> None:
    """Time all programs on each device."""
    keep_freed_memory()
    train = read_pairs(open_dataset(dataset))["train"]
    data = drawn(train, count=(steps + _WARM) * pairs)
    work = [*batches(len(data), size=pairs, seed=seed, epoch=1)]
    texts = train.texts.to_pylist()[:questions]
    shapes: dict[str, Shape] = {"paper": CnnSettings(), "default": SubwordSettings()}
    if model:
        shapes["transformer"] = TransformerSettings(**described(model))
    card = torch.cuda.get_device_name() if torch.cuda.is_available() else "none"
    settings = {"pairs_a_step": pairs, "steps": steps, "questions": len(texts), "seed": seed}
    report = Report(as_json=as_json, torch=torch.__version__, threads=torch.get_num_threads(), card=card, **settings)
    for place in device:
        peers = peer_steps(data, model, place) if model else ()
        for program, precision, step in (*steps_of(data, shapes, place), *peers):
            seconds, loss = timed(step, work)
            middle = float(np.median(seconds[_WARM:]))
            report.row(
                program=program, precision=precision, device=place, ms=middle * 1e3, pairs_a_s=pairs / middle, loss=loss
            )
    for place in device if model else ():
        for program, rate in encoding_rates(model or "", texts, place):
            report.row(encoding=program, device=place, questions_a_s=rate)


if __name__ == "__main__":
    run(main)
