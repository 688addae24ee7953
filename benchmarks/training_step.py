"""Time of a training step, compared with the same network with `nn.Conv1d` on padded batches in one run.

token ids of real lengths -> both networks, forward and backward -> milliseconds, ratio, largest differences

Run it: python -m benchmarks.training_step [--dataset D] [--pairs 512] [--repeats 10]
"""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Annotated

import numpy as np
import torch
import typer
from torch import Tensor, nn

from benchmarks.machine import describe_machine
from model.encoders.cnn.network import QuestionEncoder
from model.encoders.config import EncoderSettings
from model.losses.sdml import SDMLLoss
from model.text.vocabulary import TokenIds, Vocabulary, offsets_of

TOKENS = 55_000
SEED = 0


class PaddedEncoder(nn.Module):
    """The paper's network the usual way; shares the weights of a `QuestionEncoder` of one odd window."""

    def __init__(self, encoder: QuestionEncoder) -> None:
        super().__init__()
        width, inputs = encoder.windows[0], encoder.embedding.embedding_dim
        padding = encoder.embedding.num_embeddings
        self.embedding = nn.Embedding(padding + 1, inputs, padding_idx=padding)
        self.convolution = nn.Conv1d(inputs, len(encoder.bias), width, padding=width // 2)
        self.projection = nn.Linear(*encoder.projection.weight.shape[::-1])
        with torch.no_grad():
            self.embedding.weight[:-1] = encoder.embedding.weight
            self.convolution.weight.copy_(encoder.kernels[0].view(inputs, width, -1).permute(2, 0, 1))
            self.convolution.bias.copy_(encoder.bias)  # type: ignore[union-attr]
            self.projection.load_state_dict(encoder.projection.state_dict())

    def forward(self, padded: Tensor, lengths: Tensor) -> Tensor:
        """Return the vectors of questions padded to one length."""
        convolved = torch.tanh(self.convolution(self.embedding(padded).transpose(1, 2)))
        outside = torch.arange(padded.shape[1]) >= lengths.clamp_min(1)[:, None]
        vectors: Tensor = self.projection(convolved.masked_fill(outside[:, None], -torch.inf).amax(2))
        return vectors


def random_questions(count: int) -> TokenIds:
    """Return questions as long as Quora's, 11 tokens on average, whose tokens follow Zipf's law."""
    random = np.random.default_rng(SEED)
    lengths = random.lognormal(np.log(10), 0.45, count).round().clip(1, 60).astype(np.int64)
    chances = 1 / np.arange(1, TOKENS + 1) ** 1.25  # gives a batch Quora's number of distinct tokens
    ids = random.choice(TOKENS, lengths.sum(), p=chances / chances.sum()).astype(np.int32)
    return TokenIds(ids, offsets_of(lengths))


def dataset_questions(url: str, count: int) -> TokenIds:
    """Return the first and then the second questions of train pairs of a dataset."""
    from model.training.batching import batches
    from model.training.training_pairs import read_pairs
    from schemas.artifacts.dataset import open_dataset

    pairs = read_pairs(open_dataset(url))["train"]
    batch = next(iter(batches(len(pairs), size=count // 2, seed=SEED, epoch=1)))
    tokens = Vocabulary.learn(pairs.keys).ids(pairs.keys)
    return tokens.take(np.concatenate([pairs.first[batch], pairs.second[batch]]))


def pad(tokens: TokenIds) -> tuple[Tensor, Tensor]:
    """Return ids padded with `TOKENS`, and the lengths."""
    lengths = torch.from_numpy(tokens.lengths)
    inside = torch.arange(int(lengths.max())) < lengths[:, None]
    padded = torch.full(inside.shape, TOKENS)
    padded[inside] = torch.from_numpy(tokens.ids).long()
    return padded, lengths


def timed(step: Callable[[], Tensor], *, repeats: int) -> list[float]:
    """Return the milliseconds of each repeat, after one that does not count."""
    step()
    times = []
    for _ in range(repeats):
        started = time.perf_counter()
        step()
        times.append((time.perf_counter() - started) * 1000)
    return times


def difference(ours: QuestionEncoder, theirs: PaddedEncoder) -> float:
    """Return the largest absolute difference of two gradients, all weights considered."""
    kernel = theirs.convolution.weight.grad.permute(1, 2, 0).flatten(1)  # type: ignore[union-attr]
    counterparts = {
        "embedding.weight": theirs.embedding.weight.grad[:-1],  # type: ignore[index]
        "kernels.0": kernel,
        "bias": theirs.convolution.bias.grad,  # type: ignore[union-attr]
        "projection.weight": theirs.projection.weight.grad,
        "projection.bias": theirs.projection.bias.grad,
    }
    own = {name: weight.grad.to_dense() for name, weight in ours.named_parameters() if weight.grad is not None}
    return max(float((own[name] - other).abs().max()) for name, other in counterparts.items())  # type: ignore[operator]


def main(
    dataset: Annotated[str | None, typer.Option(help="Take questions from this dataset's train pairs.")] = None,
    pairs: Annotated[int, typer.Option(help="Pairs a step.")] = 512,
    repeats: Annotated[int, typer.Option(help="Steps that count.")] = 10,
) -> None:
    """Print the step times of both networks and how far apart their results are."""
    tokens = dataset_questions(dataset, 2 * pairs) if dataset else random_questions(2 * pairs)
    torch.manual_seed(SEED)
    encoder = QuestionEncoder(TOKENS, EncoderSettings())
    padded_encoder, loss = PaddedEncoder(encoder), SDMLLoss()
    ragged = torch.from_numpy(tokens.ids), torch.from_numpy(tokens.offsets)
    padded = pad(tokens)

    def step(network: nn.Module, batch: tuple[Tensor, Tensor]) -> Tensor:
        network.zero_grad()
        vectors: Tensor = network(*batch)
        loss(*vectors.chunk(2)).backward()  # type: ignore[no-untyped-call]
        return vectors.detach()

    apart = float((step(encoder, ragged) - step(padded_encoder, padded)).abs().max())
    apart_gradient = difference(encoder, padded_encoder)
    fast = timed(lambda: step(encoder, ragged), repeats=repeats)
    slow = timed(lambda: step(padded_encoder, padded), repeats=max(repeats // 3, 3))
    print(f"{describe_machine()}, {torch.get_num_threads()} threads, torch {torch.__version__}, seed {SEED}")
    counts = f"{len(tokens.ids):,} tokens, {len(np.unique(tokens.ids)):,} distinct"
    print(f"{pairs} pairs, {counts}, longest question {int(tokens.lengths.max())}")
    for name, times in (("QuestionEncoder", fast), ("nn.Conv1d, padded", slow)):
        print(f"{name:18} {np.median(times):8.1f} ms (fastest {min(times):.1f})")
    print(f"ratio {np.median(slow) / np.median(fast):.1f} (of the fastest {min(slow) / min(fast):.1f})")
    print(f"largest difference: outputs {apart:.1e}, gradients {apart_gradient:.1e}")


if __name__ == "__main__":
    typer.run(main)
