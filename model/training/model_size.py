"""Size of a model compared with its training data.

shape, settings, questions -> size_warning -> a sentence, or None
"""

from __future__ import annotations

from typing import Final

from model.encoders.kind import Shape
from model.encoders.registry import kind_of
from model.training.settings import TrainingSettings
from schemas.quantities import counted

FEW_QUESTIONS: Final = 2_000
"""Up to 1,679 train questions small tables found as much as the default's (docs/log.md)."""

NGRAM_BINS, HASH_BINS = 8_192, 4_096
"""Small tables: 6 MB at 256 numbers a row, without rows for pairs of words."""

_LARGE_BYTES: Final = 50_000_000
"""Bytes that the small tables have to save."""

_HALF: Final = 2  # bytes of a number as it is stored


def size_warning(shape: Shape, settings: TrainingSettings, *, questions: int) -> str | None:
    """Return the reasons why a model of few questions is large, and the options that make it small.

    Args:
        shape: of the encoder.
        settings: of the training.
        questions: to learn from.
    """
    shared_rows = kind_of(shape).shared_rows
    if not shared_rows(shape) or questions >= FEW_QUESTIONS:
        return None
    rows = shared_rows(shape) + settings.hash_bins
    fewer = shared_rows(shape.model_copy(update={"ngram_bins": NGRAM_BINS})) + HASH_BINS
    size, small = (_HALF * count * shape.dimension for count in (rows, fewer))
    if size - small < _LARGE_BYTES:
        return None
    options = f"--ngram-bins {NGRAM_BINS} --hash-bins {HASH_BINS}"
    return (
        f"{size / 1e6:.0f} MB of the model are tables shared by rare words and n-grams, large for "
        f"{counted(questions, 'train question')}. {options} make them {small / 1e6:.0f} MB"
    )
