"""The option that both dataset commands have: which questions of two splits are too alike.

--near-duplicate -> NearDuplicate -> `pipelines.leakage.Leakage`
"""

from __future__ import annotations

from typing import Annotated

import typer


def possible(value: float | None) -> float | None:
    """Return the value of ``--near-duplicate``; one that is too small to search for is wrong usage."""
    from pipelines.jaccard import SMALLEST_JACCARD

    if value is not None and 0 < value < SMALLEST_JACCARD:
        raise typer.BadParameter(f"must be 0 or from {SMALLEST_JACCARD} to 1, got {value}")
    return value


NearDuplicate = Annotated[
    float | None,
    typer.Option(
        min=0,
        max=1,
        callback=possible,
        help="Questions leave validation and test if they share this much of their words (Jaccard index: common words "
        "over all words) with a question in train, or in validation for test; 1: if they have exactly the same words; "
        "0: only if the question itself is in train, as in the paper. Default: 0.9; with clusters --coherence paper 0.",
        show_default=False,
    ),
]
