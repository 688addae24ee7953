"""Learning to order candidates from queries whose paraphrases are known.

features, which candidates are paraphrases -> learn -> weights; the same, folds -> cross_fitted -> scores
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator
from typing import Final

import numpy as np
import numpy.typing as npt
import torch
import torch.nn.functional as F  # noqa: N812
from torch import Tensor, nn

from model.encoders.finite_weights import first_not_finite
from model.reranking.reranker import LARGEST, Weights, logits
from model.reranking.term_statistics import Floats
from schemas.errors import QprError
from schemas.quantities import counted

HIDDEN: Final = 32
NETWORKS: Final = 3
"""Networks of other first weights that are learned and become one, whose score is their mean."""

EPOCHS, BATCH, LEARNING_RATE, DECAY = 40, 128, 3e-3, 0.3
"""Chosen by cross-validation on the validation split of Quora's questions (docs/log.md)."""

FEWEST: Final = 20
"""Queries below which nothing is learned."""

Flags = npt.NDArray[np.bool_]


def learn(
    table: Floats, relevant: Flags, there: Flags, *, seed: int, on_epoch: Callable[[], None] = lambda: None
) -> Weights:
    """Return the weights that give paraphrases the greatest share of a query's candidates.

    The loss is minus the logarithm of the share that a softmax over the candidates gives to all paraphrases together
    (the listwise loss of Cao et al. 2007, section 4, of the first place). A query none of whose candidates is a
    paraphrase teaches nothing. One thread computes: a step's products are too small for more.

    Args:
        table: (n, k, features).
        relevant: (n, k), which candidates are paraphrases.
        there: (n, k), where there is a candidate.
        seed: of first weights and order.
        on_epoch: called after each of `EPOCHS` epochs of each of `NETWORKS` networks.

    Raises:
        QprError: too few queries have a paraphrase among their candidates, or a feature or weight is not finite.
    """
    useful = relevant.any(axis=1) & (there & ~relevant).any(axis=1)
    if useful.sum() < FEWEST:
        found = f"{counted(int(useful.sum()), 'query')} with a paraphrase and another question among the nearest"
        raise QprError(f"{found}: fewer than {FEWEST} to learn an order from. Use a larger dataset")
    flat = table[useful][there[useful]]
    if not np.isfinite(flat).all():
        column = int(np.isfinite(flat).all(axis=0).argmin())
        lost = f"feature {column} of {np.count_nonzero(~np.isfinite(flat[:, column])):,} candidates is not finite"
        raise QprError(f"{lost}. Check the vectors of the index's model and of those given with --with")
    mean, deviation = flat.mean(axis=0), np.maximum(flat.std(axis=0), 1e-6)
    inputs = torch.from_numpy(np.clip((table[useful] - mean) / deviation, -LARGEST, LARGEST))
    wanted, absent = torch.from_numpy(relevant[useful]), torch.from_numpy(~there[useful])
    with _one_thread():
        networks = [
            _network(inputs, wanted, absent, seed=[seed, number], on_epoch=on_epoch) for number in range(NETWORKS)
        ]
    layers = [{name: weight.detach().numpy() for name, weight in network.named_parameters()} for network in networks]
    return {
        "mean": mean,
        "deviation": deviation,
        "hidden.weight": np.concatenate([layer["0.weight"] for layer in layers]),
        "hidden.bias": np.concatenate([layer["0.bias"] for layer in layers]),
        "out.weight": np.concatenate([layer["2.weight"][0] for layer in layers]) / np.float32(NETWORKS),
    }


def cross_fitted(
    table: Floats,
    relevant: Flags,
    there: Flags,
    groups: npt.NDArray[np.int64],
    *,
    folds: int,
    seed: int,
    on_epoch: Callable[[], None] = lambda: None,
) -> Floats:
    """Return the score of every candidate by weights learned without its query's group, (n, k).

    Args:
        table: as of `learn`.
        relevant: as of `learn`.
        there: as of `learn`.
        groups: (n,) number of the group of each query, such as its cluster.
        folds: into how many parts groups are dealt.
        seed: of the dealing and of what is learned.
        on_epoch: as of `learn`.

    Raises:
        QprError: too few queries.
    """
    dealt = np.random.default_rng(seed).permutation(int(groups.max()) + 1) % folds
    scores = np.empty(relevant.shape, np.float32)
    for fold in range(folds):
        out = dealt[groups] == fold
        if out.any():
            weights = learn(table[~out], relevant[~out], there[~out], seed=seed, on_epoch=on_epoch)
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


def _network(
    inputs: Tensor, wanted: Tensor, absent: Tensor, *, seed: list[int], on_epoch: Callable[[], None]
) -> nn.Sequential:
    order = np.random.default_rng(seed)
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(int(order.integers(2**31)))
        network = nn.Sequential(nn.Linear(inputs.shape[2], HIDDEN), nn.Tanh(), nn.Linear(HIDDEN, 1, bias=False))
    optimizer = torch.optim.AdamW(network.parameters(), lr=LEARNING_RATE, weight_decay=DECAY)
    batches = -(-len(inputs) // BATCH)
    decay = torch.optim.lr_scheduler.LinearLR(optimizer, 1.0, 0.0, EPOCHS * batches)
    for epoch in range(1, EPOCHS + 1):
        for rows in np.array_split(order.permutation(len(inputs)), batches):
            scores = network(inputs[rows])[..., 0].masked_fill(absent[rows], -torch.inf)
            share = F.log_softmax(scores, dim=1).masked_fill(~wanted[rows], -torch.inf)
            loss = -share.logsumexp(dim=1).mean()
            optimizer.zero_grad()
            loss.backward()  # type: ignore[no-untyped-call]
            optimizer.step()
            decay.step()
        if name := first_not_finite({n: w.detach().numpy() for n, w in network.named_parameters()}, np.float32):
            raise QprError(f"epoch {epoch}: {name} of the network is not finite. Lower --depth or take another --seed")
        on_epoch()
    return network
