"""Options that `qpr clusters` and `qpr quora` share for the dataset they write.

command line -> Annotated types -> jobs.commands.clusters, jobs.commands.quora
"""

from __future__ import annotations

from typing import Annotated, Any

import typer

LIMITS: dict[str, Any] = {"rich_help_panel": "Limits"}
SPLITS: dict[str, Any] = {"rich_help_panel": "Splits"}

MaxPairsPerCluster = Annotated[int, typer.Option(min=1, metavar="N", help="Maximum pairs of a cluster.", **LIMITS)]
SplitSalt = Annotated[
    str, typer.Option(metavar="WORD", help="Salt of the hash that splits; another word, other splits.", **SPLITS)
]
Shards = Annotated[
    int | None,
    typer.Option(min=1, max=4096, metavar="N", help="Parts of the work.", show_default="by size", **LIMITS),
]
MaxRejectRatio = Annotated[
    float, typer.Option(min=0, max=1, metavar="X", help="Fail if a larger share of rows is rejected.", **LIMITS)
]
Overwrite = Annotated[bool, typer.Option("--overwrite", help="Replace an existing dataset.")]
DryRun = Annotated[bool, typer.Option("--dry-run", help="Check, print the plan, write nothing.")]
