"""Objective of a reranker: queries whose paraphrases are known, and their candidates.

features, which candidates are paraphrases -> learn -> weights; the same, folds -> cross_fitted -> scores
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager
from typing import Final, Unpack

import numpy as np
import torch
import torch.nn.functional as F  # noqa: N812  # its usual name
from torch import nn

from model.reranking.reranker import LARGEST, Weights, logits
from model.reranking.weight_limits import LEAST_DEVIATION
from model.training.failures import explain_memory
from model.training.objective import Objective
from model.training.settings import TrainingSettings
from model.training.trainer import Ending, Supervision, Trainer
from schemas.arrays import Bools, Float32s, Int64s
from schemas.errors import QprError
from schemas.quantities import counted

HIDDEN: Final = 32
"""Units of each of the `NETWORKS`, which become one of 96 (decision 26)."""

NETWORKS: Final = 3
"""Networks of other first weights that are learned and become one, whose score is their mean."""

EPOCHS, BATCH, LEARNING_RATE, DECAY = 40, 128, 3e-3, 0.3
"""Chosen by cross-validation on the validation split of Quora's questions (docs/log.md)."""

FEWEST: Final = 20
"""Queries below which nothing is learned."""


class RankingNetworks(nn.Module):
    """Networks that score a candidate by its features, (…, features) to (…, 1); they learn side by side.

    Args:
        features: of a candidate.
        generators: source of each network's first weights.
    """

    stored_as = np.float32
    generator = None

    def __init__(self, features: int, generators: list[np.random.Generator]) -> None:
        super().__init__()
        self.body = nn.ModuleList()
        for random in generators:
            with torch.random.fork_rng(devices=[]):  # layers draw from the global generator, which stays as it was
                torch.manual_seed(int(random.integers(2**31)))
                layers = nn.Linear(features, HIDDEN), nn.Tanh(), nn.Linear(HIDDEN, 1, bias=False)
            self.body.append(nn.Sequential(*layers))

    def optimizers(self, *, learning_rate: float) -> list[torch.optim.Optimizer]:
        """Return Adam with weight decay; it moves each network as it would move it alone."""
        return [torch.optim.AdamW(self.parameters(), lr=learning_rate, weight_decay=DECAY)]


class RankingObjective(Objective):
    """The greatest share of a query's candidates to its paraphrases.

    The loss is minus the logarithm of the share that a softmax over the candidates gives to all paraphrases together
    (the listwise loss of Cao et al. 2007, section 4, of the first place), the mean of `NETWORKS` networks. A query none
    of whose candidates is a paraphrase has no gradient and is left out.

    Args:
        table: (n, k, features).
        relevant: (n, k), which candidates are paraphrases.
        present: (n, k), where there is a candidate.
        seed: of first weights and order.

    Attributes:
        mean: (features,) of all candidates.
        deviation: (features,) of all candidates, at least `LEAST_DEVIATION`.

    Raises:
        QprError: too few queries have a paraphrase among their candidates, or a feature is not finite.
    """

    unit = "query"
    advice = "Lower --depth or take another --seed"

    def __init__(self, table: Float32s, relevant: Bools, present: Bools, *, seed: int) -> None:
        useful = relevant.any(axis=1) & (present & ~relevant).any(axis=1)
        if useful.sum() < FEWEST:
            queries = f"{counted(int(useful.sum()), 'query')} with a paraphrase and another question among the nearest"
            raise QprError(f"{queries}: fewer than {FEWEST} to learn an order from. Use a larger dataset")
        flat = table[useful][present[useful]]
        if not np.isfinite(flat).all():
            column = int(np.isfinite(flat).all(axis=0).argmin())
            bad = f"feature {column} of {np.count_nonzero(~np.isfinite(flat[:, column])):,} candidates is not finite"
            raise QprError(f"{bad}. Check the vectors of the index's model and of those given with --with")
        self.mean, self.deviation = flat.mean(axis=0), np.maximum(flat.std(axis=0), LEAST_DEVIATION)
        self._inputs = torch.from_numpy(np.clip((table[useful] - self.mean) / self.deviation, -LARGEST, LARGEST))
        self._relevant, self._absent = torch.from_numpy(relevant[useful]), torch.from_numpy(~present[useful])
        self._seed = seed
        self.network: RankingNetworks = RankingNetworks(table.shape[2], self._generators())
        self.settings = TrainingSettings(
            epochs=EPOCHS, batch_size=BATCH, learning_rate=LEARNING_RATE, linear_decay=True
        )

    def batches(self, epoch: int) -> Iterator[Int64s]:
        """Yield the queries of every step of an epoch, (queries, networks): each network has an order of its own."""
        orders, queries = [], len(self._inputs)
        for random in self._generators():
            random.integers(2**31)  # the seed of the first weights
            orders.append([random.permutation(queries) for _ in range(epoch)][-1])  # the same order after a resume
        yield from np.array_split(np.stack(orders, axis=1), -(-queries // BATCH))

    def add_gradients(self, batch: Int64s) -> float:
        """Add the gradients of each network's loss to those of its weights; return the mean loss."""
        losses = []
        for network, rows in zip(self.network.body, batch.T, strict=True):
            scores = network(self._inputs[rows])[..., 0].masked_fill(self._absent[rows], -torch.inf)
            share = F.log_softmax(scores, dim=1).masked_fill(~self._relevant[rows], -torch.inf)
            loss = -share.logsumexp(dim=1).mean()
            loss.backward()  # type: ignore[no-untyped-call]  # of PyTorch
            losses.append(loss.item())
        return sum(losses) / len(losses)

    def _generators(self) -> list[np.random.Generator]:
        return [np.random.default_rng([self._seed, number]) for number in range(NETWORKS)]


def learn(
    table: Float32s, relevant: Bools, present: Bools, *, seed: int, **supervision: Unpack[Supervision]
) -> tuple[Weights, Ending]:
    """Return the weights that minimise a `RankingObjective`, and the reason for the end of the training.

    One thread computes: a step's products are too small for more.

    Args:
        table: as of `RankingObjective`.
        relevant: as of `RankingObjective`.
        present: as of `RankingObjective`.
        seed: as of `RankingObjective`.
        supervision: conditions and reports of the training.

    Raises:
        QprError: too few queries have a paraphrase among their candidates, or a feature or weight is not finite.
    """
    with _one_thread(), explain_memory("Lower --depth"):
        objective = RankingObjective(table, relevant, present, seed=seed)
        trained = Trainer(objective, **supervision).run()
    hidden, bias, out = (
        [trained.weights[f"{number}.{name}"] for number in range(NETWORKS)]
        for name in ("0.weight", "0.bias", "2.weight")
    )
    weights = {
        "mean": objective.mean,
        "deviation": objective.deviation,
        "hidden.weight": np.concatenate(hidden),
        "hidden.bias": np.concatenate(bias),
        "out.weight": np.concatenate(out, axis=1)[0] / np.float32(NETWORKS),
    }
    return weights, trained.ending


Supervise = Callable[[str], AbstractContextManager[Supervision]]
"""From the name of a training, such as "fold 1 of 5", to its conditions and reports."""


def unsupervised(_: str) -> AbstractContextManager[Supervision]:
    """Return a supervision without conditions and reports."""
    return contextlib.nullcontext(Supervision())


def cross_fitted(
    table: Float32s,
    relevant: Bools,
    present: Bools,
    groups: Int64s,
    *,
    folds: int,
    seed: int,
    supervise: Supervise = unsupervised,
) -> Float32s:
    """Return the score of every candidate by weights learned without its query's group, (n, k).

    Args:
        table: as of `learn`.
        relevant: as of `learn`.
        present: as of `learn`.
        groups: (n,) number of the group of each query, such as its cluster.
        folds: number of parts into which groups are divided.
        seed: of the division and of what is learned.
        supervise: conditions and reports of each fold's training.

    Raises:
        QprError: too few queries.
    """
    dealt = np.random.default_rng(seed).permutation(int(groups.max()) + 1) % folds
    scores = np.empty(relevant.shape, np.float32)
    for fold in range(folds):
        out = dealt[groups] == fold
        with supervise(f"fold {fold + 1} of {folds}") as supervision:
            if out.any():
                weights, _ = learn(table[~out], relevant[~out], present[~out], seed=seed, **supervision)
                scores[out] = logits(weights, table[out])
    return scores


@contextlib.contextmanager
def _one_thread() -> Iterator[None]:
    """Let PyTorch compute in one thread inside the block."""
    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    try:
        yield
    finally:
        torch.set_num_threads(threads)
