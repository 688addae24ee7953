"""The options of ``qpr clusters`` and ``qpr calibrate`` for how an answer is split into clusters of paraphrases.

--linkage, --min-probability, --refine-with, --calibration, --precision -> decide -> Decided
"""

from __future__ import annotations

from enum import StrEnum
from typing import Annotated

import typer

CALIBRATION = "Calibration"
"""Panel of the help."""


class Method(StrEnum):
    """What splits an answer."""

    BOOSTED = "boosted"
    LOGISTIC = "logistic"
    FELLEGI_SUNTER = "fellegi-sunter"
    NONE = "none"


class LearnedMethod(StrEnum):
    """The methods whose weights are learned from labelled logs."""

    BOOSTED = "boosted"
    LOGISTIC = "logistic"


Linkage = Annotated[
    Method | None,
    typer.Option(
        metavar="NAME",
        help="How to split an answer's questions: boosted, logistic (faster, less precise), fellegi-sunter (learns "
        "from these logs alone) or none (an answer is a cluster).",
        show_default="boosted; none with --coherence paper",
    ),
]
LearnedLinkage = Annotated[
    LearnedMethod,
    typer.Option(metavar="NAME", help="Method whose weights to learn: boosted or logistic (faster, less precise)."),
]
MinProbability = Annotated[
    float | None,
    typer.Option(
        min=0.01,
        max=1,
        metavar="X",
        help="Minimum mean probability that the questions of a cluster are paraphrases.",
        show_default="of --linkage",
    ),
]
RefineWith = Annotated[
    str | None,
    typer.Option(
        metavar="MODEL",
        help="Compare questions by this model's vectors too; train it on a first dataset of these logs.",
        rich_help_panel=CALIBRATION,
    ),
]

CalibrationFolder = Annotated[
    str | None,
    typer.Option(
        "--calibration", metavar="FOLDER", help="Calibration by `qpr calibrate`.", rich_help_panel=CALIBRATION
    ),
]
Precision = Annotated[
    float | None,
    typer.Option(
        min=0,
        max=1,
        metavar="X",
        help="Precision to reach: sets --min-probability, or --min-coherence with --linkage none, by --calibration.",
        rich_help_panel=CALIBRATION,
    ),
]
