"""Objective of training by pairs; defaults as in the paper (Bonadiman et al. 2019, section 4.2).

train and validation pairs, loss of the settings -> PairObjective
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

from torch import Tensor

from model.encoders.network import Network
from model.training.batching import epoch_batches, fitted
from model.training.distributed import ALONE, Processes
from model.training.failures import quoted, worst_row
from model.training.memory.gradients import Gradients
from model.training.objective import Objective
from model.training.pairs.validation_auc import sample_non_pairs, validation_auc
from model.training.settings import TrainingSettings
from model.training.trainer import ignore
from model.training.training_pairs import Pairs
from schemas.arrays import Int64s


class PairObjective(Objective):
    """Paraphrases nearer to each other than to the rest of their batch, by the loss of the settings.

    Args:
        network: learns.
        pairs: train pairs.
        validation: pairs whose ROC AUC decides on the best epoch; may be empty.
        settings: of the training; a batch larger than the data is reduced.
        processes: those that share the work.
        inform: called with notes for the user.
    """

    advice = "Lower --learning-rate or look for odd rows in the pairs"

    def __init__(
        self,
        network: Network,
        pairs: Pairs,
        validation: Pairs,
        settings: TrainingSettings,
        *,
        processes: Processes = ALONE,
        inform: Callable[[str], None] = ignore,
    ) -> None:
        self.network: Network = network
        self.pairs, self.settings = pairs, fitted(settings, pairs, inform=inform)
        self._sides: tuple[Tensor, Tensor] | None = None
        self._gradients = Gradients(
            network,
            network.read(pairs.texts),
            pairs,
            self._loss,
            chunk_size=settings.chunk_size,
            precision=settings.precision,
            processes=processes,
        )
        self._validation, self._non_pairs = validation, sample_non_pairs(validation, seed=settings.seed)
        self._judged = network.read(validation.texts) if len(self._non_pairs[0]) else None
        if self._judged is None:
            inform("no validation pairs of two clusters: training all epochs and keeping the last one")

    def batches(self, epoch: int) -> Iterator[Int64s]:
        """Yield the numbers of the pairs of every step of an epoch."""
        return epoch_batches(self.pairs, self.settings, epoch=epoch)

    def add_gradients(self, batch: Int64s) -> float:
        """Add the gradients of a batch's loss to those of the weights; return the loss."""
        return self._gradients.add(batch)

    def validation_auc(self) -> float | None:
        """Return the ROC AUC of distances of validation pairs; None without such pairs."""
        if self._judged is None:
            return None
        return validation_auc(self.network.encode_all(self._judged), self._validation, self._non_pairs)

    def describe(self, batch: Int64s) -> str:
        """Return the number of pairs of a batch and the pair whose vectors are not finite, or else farthest apart."""
        row, what = worst_row(self._sides, len(batch))
        texts = (quoted(self.pairs.texts[side[batch[row]]].as_py()) for side in (self.pairs.first, self.pairs.second))
        return f"{super().describe(batch)} {what} {' and '.join(texts)}"

    def _loss(self, anchors: Tensor, positives: Tensor, clusters: Tensor | None) -> Tensor:
        """Return the loss of a batch and remember its vectors."""
        self._sides = anchors.detach(), positives.detach()
        return self.settings.loss(anchors, positives, clusters)
