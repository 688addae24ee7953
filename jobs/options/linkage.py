"""The options of ``qpr clusters`` that say how an answer is split into clusters of paraphrases.

--linkage, --min-probability, --refine-with, --calibration, --precision -> decide -> Decided
"""

from __future__ import annotations

from enum import StrEnum
from typing import TYPE_CHECKING, Annotated

import typer

if TYPE_CHECKING:
    pass

CALIBRATION = "Calibration"
"""Panel of the help."""


class Method(StrEnum):
    """What splits an answer."""

    BOOSTED = "boosted"
    LOGISTIC = "logistic"
    FELLEGI_SUNTER = "fellegi-sunter"
    NONE = "none"


Linkage = Annotated[
    Method | None,
    typer.Option(
        metavar="NAME",
        help="How to split an answer's questions: boosted, logistic (faster, less precise), fellegi-sunter (learns "
        "from these logs alone) or none (an answer is a cluster).",
        show_default="boosted; none with --coherence paper",
    ),
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


Calibrate = Annotated[
    bool,
    typer.Option(
        "--calibrate",
        help="Write a calibration, not a dataset: weights of --linkage and the precision of every threshold.",
        rich_help_panel=CALIBRATION,
    ),
]
GoldColumn = Annotated[
    str,
    typer.Option(
        metavar="COLUMN", help="With --calibrate: rows of equal value are paraphrases.", rich_help_panel=CALIBRATION
    ),
]
CalibrationFolder = Annotated[
    str | None,
    typer.Option("--calibration", metavar="FOLDER", help="Calibration to use.", rich_help_panel=CALIBRATION),
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
