"""Counts and measurements of a training on pairs, as its output, model card and metrics show them.

pairs, TrainedEncoder, settings -> outcome -> counters, totals
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    from model.training.encoder_training import TrainedEncoder
    from model.training.settings import TrainingSettings
    from model.training.training_pairs import Pairs

ENDINGS: Final = {"epochs": "all epochs done", "patience": "no better ROC AUC", "time": "time over"}
"""Reasons for the end of a training, as results show them."""


def outcome(
    pairs: Mapping[str, Pairs], trained: TrainedEncoder, settings: TrainingSettings
) -> tuple[dict[str, int], dict[str, Any]]:
    """Return the counts and the measurements of a training.

    Args:
        pairs: of the splits ``train`` and ``validation``.
        trained: the result of the training; ``auc`` and ``loss`` are those of the epoch that was kept.
        settings: of the training.
    """
    counters = {
        "train_pairs": len(pairs["train"]),
        "train_questions": len(pairs["train"].texts),
        "train_clusters": pairs["train"].cluster_count,
        "validation_pairs": len(pairs["validation"]),
        "epochs": len(trained.epochs),
        "kept_epoch": trained.best.epoch,
    }
    seconds = math.fsum(epoch.seconds for epoch in trained.epochs)
    totals = {
        "ending": ENDINGS[trained.ending],
        "kept": _rule_of_choice(trained.best.auc, linear_decay=settings.linear_decay),
        "auc": None if trained.best.auc is None else round(trained.best.auc, 5),
        "loss": round(trained.best.loss, 5),
        "seconds": round(seconds, 2),
        "pairs_per_s": round(math.fsum(epoch.seconds * epoch.pairs_per_s for epoch in trained.epochs) / seconds),
    }
    return counters, totals


def _rule_of_choice(auc: float | None, *, linear_decay: bool) -> str:
    """Return the rule by which the epoch was chosen whose weights the model has."""
    if linear_decay:
        return "the last epoch, by --linear-decay"
    return "the last epoch, without validation pairs" if auc is None else "the epoch with the highest ROC AUC"
