"""State of a training as arrays, and back.

network, optimisers -> arrays_of -> Arrays -> restore -> network, optimisers
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
import torch
from torch import Tensor

from model.encoders.saved_model import Weights
from model.training.checkpoints.checkpoints import Arrays
from model.training.distributed import ALONE, Processes
from model.training.objective import Learner

WEIGHTS, BEST, RANDOM = "weights", "best", "random"
_OPTIMIZER = "optimizer_"


def arrays_of(
    network: Learner,
    optimizers: Sequence[torch.optim.Optimizer],
    *,
    best: Weights | None,
    processes: Processes = ALONE,
) -> Arrays:
    """Return the weights, each number that an optimiser keeps for each of them, and the random states of dropout.

    On a processor they are views, which the next step changes.

    Args:
        network: learns.
        optimizers: its optimisers.
        best: weights of the best epoch; None if they are the present ones or no epoch has ended.
        processes: those that share the work; all of them call this.
    """
    arrays: Arrays = {WEIGHTS: {name: _array(weight) for name, weight in network.body.named_parameters()}}
    if best is not None:
        arrays[BEST] = best
    for number, optimizer in enumerate(optimizers):
        for weight, state in optimizer.state_dict()["state"].items():
            for name, value in state.items():
                part = arrays.setdefault(f"{_OPTIMIZER}{name}", {})
                part[f"{number}.{weight}"] = _array(torch.as_tensor(value))
    if network.generator is not None:
        states = processes.of_all(network.generator.get_state().numpy())
        arrays[RANDOM] = {_generator(rank): state for rank, state in enumerate(states)}
    return arrays


@torch.no_grad()
def restore(
    arrays: Arrays, network: Learner, optimizers: Sequence[torch.optim.Optimizer], *, rank: int = 0
) -> Weights | None:
    """Set a network and its optimisers to the state that `arrays_of` returned; return the best weights."""
    for name, weight in network.body.named_parameters():
        weight.copy_(_tensor(arrays[WEIGHTS][name]))
    for number, optimizer in enumerate(optimizers):
        fresh = optimizer.state_dict()
        optimizer.load_state_dict({**fresh, "state": _state_of(arrays, number)})
    if network.generator is not None:
        network.generator.set_state(_tensor(arrays[RANDOM][_generator(rank)]))
    return arrays.get(BEST)


def _generator(rank: int) -> str:
    return f"generator.{rank}" if rank else "generator"


def _state_of(arrays: Arrays, number: int) -> dict[int, dict[str, Any]]:
    """Return the state of one optimiser by the number of its weight."""
    state: dict[int, dict[str, Any]] = {}
    for part, values in arrays.items():
        for name, value in values.items() if part.startswith(_OPTIMIZER) else ():
            owner, _, weight = name.partition(".")
            if int(owner) == number:
                state.setdefault(int(weight), {})[part.removeprefix(_OPTIMIZER)] = _value(value)
    return state


def _value(array: npt.NDArray[Any]) -> Tensor | int:
    """Return a count as a number and all else as a tensor, as optimisers keep them."""
    return int(array) if array.ndim == 0 and array.dtype == np.int64 else _tensor(array)


def _array(tensor: Tensor) -> npt.NDArray[Any]:
    return tensor.detach().cpu().numpy()


def _tensor(array: npt.NDArray[Any]) -> Tensor:
    return torch.from_numpy(np.array(array))  # a copy, because arrays read from bytes are read-only
