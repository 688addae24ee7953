"""A trained model becomes an artefact, with what a person wants to know of it.

Trained, settings, what was counted and measured -> publish_model -> model artefact
"""

from __future__ import annotations

import dataclasses
from typing import TYPE_CHECKING, Any

from schemas.artifacts.manifest import Source
from schemas.artifacts.writer import Output

if TYPE_CHECKING:
    from model.encoders.config import Shape
    from model.training.settings import TrainingSettings
    from model.training.trainer import Trained


def publish_model(
    sources: list[Source],
    output: Output,
    trained: Trained,
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
    from model.encoders.config import ModelConfig, encoder_name
    from model.encoders.model_card import card
    from model.encoders.saved_model import CARD, CURVE, save_model
    from model.training.learning_curve import curve

    dataset, *models = sources
    words = trained.vocabulary.words
    config = ModelConfig(
        encoder=encoder_name(shape),
        shape=shape,
        words=len(words),
        hash_bins=trained.vocabulary.hash_bins,
        training=settings.stored(),
        dataset_digest=dataset.digest or "",
    )
    page = card(
        config,
        dataset_url=dataset.url,
        training=settings.flat(),
        loss=settings.loss.reference,
        data=counters,
        metrics=totals,
        begun_from=models[0] if models else None,
        taught_by=taught_by,
    )
    save_model(
        output,
        parts=(config, trained.vocabulary, trained.weights),
        metrics=[*map(dataclasses.asdict, trained.epochs), {"total": counters | totals}],
        pages={CURVE: curve(trained.epochs), CARD: page.encode(), **_of_others(shape, trained)},
        inputs=[*sources, *([taught_by] if taught_by else [])],
        counters=counters,
    )


def _of_others(shape: Shape, trained: Trained) -> dict[str, bytes]:
    """Return a transformer's files; the tokenizer of a static encoder and the licence of its tokens; else nothing."""
    from model.encoders.config import StaticSettings, TransformerSettings
    from model.encoders.saved_model import TOKENIZER, TOKENS_LICENCE, TRANSFORMER
    from model.encoders.subword.pretrained_tokens import read_static
    from model.training.initialization import transformer_files

    if isinstance(shape, TransformerSettings):
        return {TRANSFORMER + name: content for name, content in transformer_files(shape, trained.weights).items()}
    if not isinstance(shape, StaticSettings):
        return {}
    tokens = read_static(shape.static_from, digest=shape.static_digest)
    return {TOKENIZER: tokens.pieces.content, TOKENS_LICENCE: tokens.licence_text.encode()}
