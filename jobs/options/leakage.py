"""The option that both dataset commands have: which questions of two splits are too alike.

--near-duplicate -> NearDuplicate -> `pipelines.decontamination.transform.Leakage`
"""

from __future__ import annotations

from typing import Annotated

import typer


def possible(value: float | None) -> float | None:
    """Return the value of ``--near-duplicate``; one that is too small to search for is wrong usage."""
    from pipelines.decontamination.set_similarity import SMALLEST_JACCARD

    if value is not None and 0 < value < SMALLEST_JACCARD:
        raise typer.BadParameter(f"must be 0 or from {SMALLEST_JACCARD} to 1, got {value}")
    return value


NearDuplicate = Annotated[
    float | None,
    typer.Option(
        min=0,
        max=1,
        callback=possible,
        metavar="X",
        help="Remove from test what train has, from validation what train or test has: questions whose words overlap "
        "by this Jaccard index; 1: the same words; 0: only the same question, in train.",
        show_default="0.9; 0 with --coherence paper",
        rich_help_panel="Splits",
    ),
]
