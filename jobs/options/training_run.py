"""Options of a training run: device, checkpoints, resuming and time limit.

command line -> Annotated types -> jobs.commands.train; values -> terms_of -> Terms
"""

from __future__ import annotations

import dataclasses
from typing import Annotated

import typer

from jobs.options.learning import RUN
from schemas.errors import UsageError

CHECKPOINT_EVERY = 5.0
"""Minutes. A checkpoint of the default encoder, 0.8 GB, takes a few seconds: about a hundredth of the time."""

CheckpointEvery = Annotated[
    float,
    typer.Option(metavar="MINUTES", help="Time between checkpoints; 0: none.", rich_help_panel=RUN),
]
Resume = Annotated[
    bool,
    typer.Option(
        "--resume", help="Continue from the last checkpoint, to the same weights; else start over.", rich_help_panel=RUN
    ),
]
MaxMinutes = Annotated[
    float | None,
    typer.Option(metavar="MINUTES", help="Time limit; the rate falls to 0 by then.", rich_help_panel=RUN),
]
InitFrom = Annotated[
    str | None, typer.Option(metavar="MODEL", help="Start from this model's weights; it has the same shape.")
]
DryRun = Annotated[
    bool,
    typer.Option("--dry-run", help="Print parameters, memory and time after some steps; write nothing."),
]


@dataclasses.dataclass(frozen=True)
class Terms:
    """Settings of a training run that do not change its result.

    Attributes:
        device: where to compute, by PyTorch's name; None for the best there is.
        checkpoint_every: minutes between checkpoints, 0 for none.
        resume: continue from the last checkpoint.
        max_minutes: minutes after which the training stops; None for no limit.
        init_from: URL of a model whose weights to begin with; None for fresh ones.

    Raises:
        UsageError: a number makes no sense.
    """

    device: str | None = None
    checkpoint_every: float = CHECKPOINT_EVERY
    resume: bool = False
    max_minutes: float | None = None
    init_from: str | None = None

    def __post_init__(self) -> None:
        if not self.checkpoint_every >= 0:
            raise UsageError(f"--checkpoint-every {self.checkpoint_every:g}: give minutes, or 0 for no checkpoints")
        if self.max_minutes is not None and not self.max_minutes > 0:
            raise UsageError(f"--max-minutes {self.max_minutes:g}: give more than 0")
