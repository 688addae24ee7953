"""Training of an encoder, by pairs of paraphrases or by another objective.

train pairs, Objective of a network -> train_encoder -> TrainedEncoder: vocabulary, best weights
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from typing import Unpack

from model.encoders.config import Shape
from model.encoders.network import Network
from model.encoders.saved_model import ModelParts
from model.text.vocabulary import Vocabulary
from model.training.distributed import ALONE
from model.training.failures import lowering
from model.training.initialization import build_network
from model.training.objective import Objective
from model.training.pairs.pair_objective import PairObjective
from model.training.settings import TrainingSettings
from model.training.trainer import Supervision, Trained, Trainer, ignore
from model.training.training_pairs import Pairs


@dataclasses.dataclass(frozen=True)
class TrainedEncoder(Trained):
    """A trained encoder and the vocabulary of its weights."""

    vocabulary: Vocabulary


def train_encoder(
    objective: Callable[[Network], Objective],
    pairs: Pairs,
    *,
    shape: Shape,
    settings: TrainingSettings,
    device: str | None = None,
    older: ModelParts | None = None,
    **supervision: Unpack[Supervision],
) -> TrainedEncoder:
    """Learn a vocabulary and an encoder.

    Args:
        objective: builds the objective of a network.
        pairs: train pairs, whose words become the vocabulary.
        shape: of the encoder, which it names too.
        settings: of the training.
        device: where to compute, by PyTorch's name; a CUDA device if there is one, else the processor.
        older: a model of this shape whose weights to begin with, where it has them.
        supervision: conditions and reports of the training.

    Raises:
        QprError: the loss or a weight is not finite, the memory does not suffice, or the device does not work.
    """
    with lowering(shape, settings):
        inform = supervision.get("inform", ignore)
        vocabulary, network = build_network(
            pairs, shape=shape, settings=settings, device=device, older=older, inform=inform
        )
        supervision.get("processes", ALONE).draw_apart(network.generator, seed=settings.seed)
        trained = Trainer(objective(network), **supervision).run()
    return TrainedEncoder(**vars(trained), vocabulary=vocabulary)


def train(
    pairs: Pairs,
    validation: Pairs,
    *,
    shape: Shape,
    settings: TrainingSettings,
    device: str | None = None,
    older: ModelParts | None = None,
    **supervision: Unpack[Supervision],
) -> TrainedEncoder:
    """Learn vocabulary and encoder from pairs of paraphrases, of at least two clusters; see `train_encoder`.

    Args:
        pairs: train pairs.
        validation: pairs that decide on the best epoch and, without linear decay, on the end; may be empty.
        shape: of the encoder.
        settings: of the training.
        device: where to compute.
        older: a model to begin with.
        supervision: conditions and reports of the training.
    """

    def objective(network: Network) -> Objective:
        processes, inform = supervision.get("processes", ALONE), supervision.get("inform", ignore)
        return PairObjective(network, pairs, validation, settings, processes=processes, inform=inform)

    return train_encoder(objective, pairs, shape=shape, settings=settings, device=device, older=older, **supervision)
