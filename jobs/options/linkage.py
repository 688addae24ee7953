"""Options of `qpr clusters` and `qpr calibrate` for the linkage of a calibration or of vectors, and for verdicts.

--refine-with, --calibration, --precision -> jobs.workflows.linkage; --verdicts -> jobs.workflows.verdicts
"""

from __future__ import annotations

from typing import Annotated

import typer

RefineWith = Annotated[
    str | None,
    typer.Option(
        metavar="ENCODER",
        help="Compare questions by vectors too: static (published embeddings of words, extra static), st:FOLDER "
        "(a model of sentence-transformers) or the folder of a model by `qpr train` on a first dataset of these logs.",
        rich_help_panel="Calibration",
    ),
]
CalibrationFolder = Annotated[
    str | None,
    typer.Option(
        "--calibration", metavar="FOLDER", help="Calibration by `qpr calibrate`.", rich_help_panel="Calibration"
    ),
]
Precision = Annotated[
    float | None,
    typer.Option(
        min=0,
        max=1,
        metavar="X",
        help="Precision to reach, given --calibration, which finds the lowest threshold for it. By verdicts it is "
        "shown with 95 % confidence and has to be below 1. By gold clusters the threshold is --min-probability with "
        "--answers fact, or --min-coherence with --linkage none.",
        rich_help_panel="Calibration",
    ),
]
ReviewedClusters = Annotated[
    str | None,
    typer.Option(
        "--verdicts",
        metavar="FILE",
        help="Reject the wrong clusters and strays of a file by `qpr review --export`.",
        rich_help_panel="Calibration",
    ),
]
