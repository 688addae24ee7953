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
"""Small tables: 6 MB at 256 numbers a row."""

_LARGE_BYTES: Final = 50_000_000
_HALF: Final = 2  # bytes of a number as it is stored


def size_warning(shape: Shape, settings: TrainingSettings, *, questions: int) -> str | None:
    """Return the reasons why a model of few questions is large, and the options that make it small.

    Args:
        shape: of the encoder.
        settings: of the training.
        questions: to learn from.
    """
    parts = kind_of(shape).shared_rows(shape)
    if not parts or questions >= FEW_QUESTIONS:
        return None
    shared = parts + settings.hash_bins
    size, small = (_HALF * rows * shape.dimension for rows in (shared, NGRAM_BINS + HASH_BINS))
    if size < _LARGE_BYTES:
        return None
    options = f"--ngram-bins {NGRAM_BINS} --hash-bins {HASH_BINS}"
    return (
        f"{size / 1e6:.0f} MB of the model are tables shared by rare words and n-grams, large for "
        f"{counted(questions, 'train question')}. {options} make them {small / 1e6:.0f} MB"
    )
