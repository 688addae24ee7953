"""Publication of a trained model with its card and learning curve.

Trained, settings, what was counted and measured -> publish_model -> model artefact
"""

from __future__ import annotations

import dataclasses
from typing import TYPE_CHECKING, Any

from jobs.options.encoder_training import DistillationTraining
from schemas.artifacts.manifest import Source
from schemas.artifacts.writer import Output

if TYPE_CHECKING:
    from model.encoders.config import Shape
    from model.training.encoder_training import TrainedEncoder
    from model.training.settings import TrainingSettings


def publish_model(
    sources: list[Source],
    output: Output,
    trained: TrainedEncoder,
    *,
    shape: Shape,
    settings: TrainingSettings,
    counters: dict[str, int],
    totals: dict[str, Any],
    taught_by: Source | None = None,
) -> None:
    """Write a trained model with its card and curve, and publish it.

    Args:
        sources: the dataset, and the model whose weights it began with, if any.
        output: the place.
        trained: what came of the training.
        shape: of the encoder.
        settings: of the training.
        counters: what the run counted.
        totals: what was measured.
        taught_by: the teacher it learned from in place of pairs.

    Raises:
        QprError: a file cannot be written.
    """
    from model.encoders.config import ModelConfig
    from model.encoders.model_card import card
    from model.encoders.registry import kind_of
    from model.encoders.saved_model import CARD, CURVE, save_model
    from model.training.learning_curve import curve
    from schemas.words import VERSION

    dataset, *models = sources
    kind = kind_of(shape)
    words = trained.vocabulary.words
    config = ModelConfig(
        encoder=kind.name,
        shape=shape,
        words=len(words),
        hash_bins=trained.vocabulary.hash_bins,
        tokenizer=VERSION,
        training=settings.stored(),
        dataset_digest=dataset.digest or "",
    )
    listed = settings.flat() | {"batch_size": trained.batch_size}
    if taught_by:
        used = {*DistillationTraining.texts, "linear_decay"}
        listed = {name: value for name, value in listed.items() if name in used}
    page = card(
        config,
        dataset_url=dataset.url,
        training=listed,
        loss=settings.loss.reference,
        data=counters,
        metrics=totals,
        begun_from=models[0] if models else None,
        taught_by=taught_by,
    )
    files, pages = kind.files(shape, trained.weights)
    save_model(
        output,
        parts=(config, trained.vocabulary, trained.weights),
        metrics=[*map(dataclasses.asdict, trained.epochs), {"total": counters | totals}],
        files=files,
        pages={CURVE: curve(trained.epochs), CARD: page.encode(), **pages},
        inputs=[*sources, *([taught_by] if taught_by else [])],
        counters=counters,
    )
