"""``qpr calibrate``: from logs with a gold column to weights and thresholds for `qpr clusters`.

log files with a gold column -> calibrate -> calibration
"""

from __future__ import annotations

from typing import Annotated

import typer

from jobs.options.columns import COLUMN, column_names
from jobs.options.inputs import Delimiter, Encoding, LogFiles, input_files
from jobs.options.linkage import LearnedLinkage, LearnedMethod, RefineWith
from jobs.options.output import lasting
from jobs.workflows.calibration import write_calibration

EXAMPLE = "qpr calibrate 'labelled/*.jsonl' --output calibration"


def calibrate(
    output: Annotated[
        str, typer.Option(callback=lasting, metavar="FOLDER", help="Folder of the calibration, any fsspec URL.")
    ],
    files: LogFiles = None,
    gold_column: Annotated[
        str, typer.Option(metavar="COLUMN", help="Column whose equal values mark paraphrases.")
    ] = "gold_cluster",
    linkage: LearnedLinkage = LearnedMethod.BOOSTED,
    refine_with: RefineWith = None,
    column: Annotated[
        list[str] | None,
        typer.Option(
            help="Column for one of question, answer, answer_id, such as question=query. Repeatable.", **COLUMN
        ),
    ] = None,
    delimiter: Delimiter = None,
    encoding: Encoding = None,
    overwrite: Annotated[bool, typer.Option("--overwrite", help="Replace an existing calibration.")] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print the result as JSON.")] = False,
) -> None:
    """Learn linkage weights and measure thresholds on logs with gold clusters.

    Weights are learned on one half of the answers; precision and recall of each threshold are measured on the other.

    Examples:
      qpr calibrate 'labelled/*.jsonl' --gold-column topic --output calibration
      qpr clusters logs.jsonl --output dataset --calibration calibration
    """
    sources = input_files(files or [], delimiter=delimiter, encoding=encoding, example=EXAMPLE)
    names = column_names(column, known=("question", "answer", "answer_id"))
    write_calibration(
        sources,
        names=names | {"gold": gold_column},
        kind="logistic" if linkage is LearnedMethod.LOGISTIC else "boosted",
        refine_with=refine_with,
        output=output,
        overwrite=overwrite,
        as_json=as_json,
    )
