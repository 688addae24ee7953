"""The gradients of a batch: encoded at once or in chunks that fit in memory, by one process or by several.

pairs of a batch -> vectors -> loss of the whole batch -> gradient of every vector -> gradients of the weights
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable

import numpy as np
import torch
from torch import Tensor

from model.choices import Precision
from model.distances import at_least_float32
from model.encoders.network import Inputs, Network
from model.training.distributed import ALONE, Processes
from model.training.training_pairs import Pairs
from schemas.arrays import Int64s


@dataclasses.dataclass(frozen=True)
class Gradients:
    """Gradients of a training step.

    A batch that is encoded in chunks is encoded twice (gradient caching, Gao et al. 2021, section 3.2): once without
    keeping anything but the vectors, for the loss and its gradient with respect to each vector, and once more a chunk
    at a time to carry these gradients to the weights. The second time draws the random numbers of the first. So memory
    is that of one chunk and of the loss, O(N² + ND), and the gradients are those of the whole batch.

    Attributes:
        network: learns.
        inputs: of all train questions.
        pairs: train pairs, which batches number.
        loss: of anchors, positives and cluster ids.
        chunk_size: pairs of a share encoded at a time; 0 for all of them, which are then encoded once.
        precision: bfloat16: encode at half precision where PyTorch thinks it safe; weights and loss stay at single.
        processes: those that share the work; each adds the same gradients up.
    """

    network: Network
    inputs: Inputs
    pairs: Pairs
    loss: Callable[[Tensor, Tensor, Tensor | None], Tensor]
    chunk_size: int = 0
    precision: Precision = "float32"
    processes: Processes = ALONE

    def add(self, batch: Int64s) -> float:
        """Add the gradients of the batch's loss to those of the weights; return the loss."""
        chunks = self._chunks(self.processes.share(batch))
        states, encoded = [], []
        for chunk in chunks:
            states.append(self._random_state())  # dropout is repeated when a chunk is encoded again
            with torch.set_grad_enabled(len(chunks) == 1):  # else only one chunk at a time keeps activations
                encoded.append(self._encode(chunk))
        vectors = [part.detach().requires_grad_() for part in encoded]
        loss = self._loss(vectors, batch)
        loss.backward()  # type: ignore[no-untyped-call]  # of PyTorch
        for chunk, state, part, vector in zip(chunks, states, encoded, vectors, strict=True):
            self._back(part if len(chunks) == 1 else self._encode(chunk, state), vector)
        self.processes.sum_gradients(self.network.parameters())
        return loss.item()

    def _chunks(self, share: Int64s) -> list[Int64s]:
        size = self.chunk_size or max(len(share), 1)
        return [share[start : start + size] for start in range(0, max(len(share), 1), size)]

    def _encode(self, chunk: Int64s, state: Tensor | None = None) -> Tensor:
        """Return the vectors of the first and then of the second questions; a state repeats what was drawn there."""
        if state is not None and self.network.generator is not None:
            self.network.generator.set_state(state)
        questions = np.concatenate([self.pairs.first[chunk], self.pairs.second[chunk]])
        device = next(self.network.parameters()).device.type
        with torch.autocast(device, dtype=torch.bfloat16, enabled=self.precision == "bfloat16"):
            vectors: Tensor = self.network(self.inputs.take(questions))
        return at_least_float32(vectors)

    def _loss(self, vectors: list[Tensor], batch: Int64s) -> Tensor:
        """Return the loss of the whole batch, of which every chunk's vectors are this process's share."""
        sides = zip(*(part.chunk(2) for part in vectors), strict=True)
        anchors, positives = (self.processes.gather(torch.cat(side), pairs=len(batch)) for side in sides)
        clusters = torch.from_numpy(self.pairs.clusters[batch]).to(anchors.device)
        return self.loss(anchors, positives, clusters)

    @staticmethod
    def _back(encoded: Tensor, vectors: Tensor) -> None:
        encoded.backward(vectors.grad)  # type: ignore[no-untyped-call]  # of PyTorch

    def _random_state(self) -> Tensor | None:
        return None if self.network.generator is None else self.network.generator.get_state()
