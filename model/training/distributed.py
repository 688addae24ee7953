"""Several processes that train one network, each on its share of every batch; `torchrun` starts them.

environment -> joined -> Processes: shares of a batch, vectors of all, gradients of all
"""

from __future__ import annotations

import contextlib
import dataclasses
import os
from collections.abc import Callable, Iterable, Iterator
from typing import TypeVar, cast

import numpy as np
import torch
import torch.distributed
from torch import Tensor, nn

from schemas.arrays import Int64s
from schemas.errors import QprError

T = TypeVar("T")


@dataclasses.dataclass(frozen=True)
class Processes:
    """Those that train together; every one of them does the same in the same order.

    Every process has all vectors of a batch and so its whole loss. The gradient of that with respect to its own share
    is complete, and what is left is to add up the gradients of the weights: no gradient of a vector travels.

    Attributes:
        rank: the number of this one, from 0.
        count: how many there are.
    """

    rank: int = 0
    count: int = 1

    def share(self, batch: Int64s) -> Int64s:
        """Return this process's part of a batch; all parts in order are the batch."""
        return np.array_split(batch, self.count)[self.rank]

    def gather(self, share: Tensor, *, pairs: int) -> Tensor:
        """Return the rows of a batch of ``pairs`` pairs from the shares of all; the own rows keep their gradient."""
        if self.count == 1:
            return share
        sizes = [len(part) for part in np.array_split(np.arange(pairs), self.count)]
        parts = _all_gather(share.detach(), sizes)
        parts[self.rank] = share
        return torch.cat(parts)

    def sum_gradients(self, weights: Iterable[nn.Parameter]) -> None:
        """Sum every weight's gradient over all processes; a sparse one stays sparse."""
        if self.count == 1:
            return
        for weight in weights:
            if weight.grad is None:
                continue
            if weight.grad.is_sparse:
                weight.grad = _sum_of_rows(weight.grad.coalesce(), count=self.count)
            else:
                torch.distributed.all_reduce(weight.grad)

    def of_the_first(self, measure: Callable[[], T]) -> T:
        """Return the first process's result to all, so that it is computed once and all decide alike.

        Raises:
            QprError: the first one raised it; all of them do.
        """
        if self.count == 1:
            return measure()
        values: list[T | QprError | None] = [None]
        if self.rank == 0:
            try:
                values = [measure()]
            except QprError as error:
                values = [error]
        torch.distributed.broadcast_object_list(values, src=0)
        if isinstance(values[0], QprError):
            raise values[0]
        return cast(T, values[0])

    def of_all(self, value: T) -> list[T]:
        """Return the values of all processes, in order of their numbers."""
        if self.count == 1:
            return [value]
        values: list[T | None] = [None] * self.count
        torch.distributed.all_gather_object(values, value)
        return cast(list[T], values)

    def draw_apart(self, generator: torch.Generator | None, *, seed: int) -> None:
        """Seed every process but the first with other random numbers; the first keeps its state."""
        if self.rank and generator is not None:
            generator.manual_seed(int(np.random.SeedSequence([seed, self.rank]).generate_state(1)[0]))


ALONE = Processes()


def local_device(device: str | None) -> str | None:
    """Return the device of this process; each process of a machine with several cards has its own."""
    if "LOCAL_RANK" in os.environ and device in (None, "cuda") and torch.cuda.is_available():
        return f"cuda:{os.environ['LOCAL_RANK']}"
    return device


@contextlib.contextmanager
def joined(device: torch.device) -> Iterator[Processes]:
    """Join the processes that `torchrun` started and leave them at the end; alone without it."""
    if int(os.environ.get("WORLD_SIZE", "1")) == 1:
        yield ALONE
        return
    torch.distributed.init_process_group("nccl" if device.type == "cuda" else "gloo")
    try:
        yield Processes(torch.distributed.get_rank(), torch.distributed.get_world_size())
    finally:
        torch.distributed.destroy_process_group()


def _sum_of_rows(own: Tensor, *, count: int) -> Tensor:
    """Return the sum of the sparse gradients of all processes; a row's numbers are added in order of rank."""
    rows = torch.tensor([own.values().shape[0]], device=own.device)
    sizes = [int(size) for size in _all_gather(rows, [1] * count)]
    indices = torch.cat(_all_gather(own.indices().T.contiguous(), sizes)).T
    values = torch.cat(_all_gather(own.values(), sizes))
    return torch.sparse_coo_tensor(indices, values, own.shape, check_invariants=False)  # without a choice PyTorch warns


def _all_gather(own: Tensor, sizes: list[int]) -> list[Tensor]:
    """Return the rows of each process, ``sizes`` of each; all are padded to the longest for the transfer."""
    padded = own.new_zeros((max(sizes), *own.shape[1:]))
    padded[: len(own)] = own
    parts = [torch.empty_like(padded) for _ in sizes]
    torch.distributed.all_gather(parts, padded)
    return [part[:size] for part, size in zip(parts, sizes, strict=True)]
