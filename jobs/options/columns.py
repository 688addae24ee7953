"""The options that name the columns of input files.

--question-column, --answer-column, … -> given_names -> our name of a column to the files'
"""

from __future__ import annotations

from typing import Annotated, Any

import typer

COLUMN: dict[str, Any] = {"metavar": "COLUMN", "rich_help_panel": "Columns"}

QuestionColumn = Annotated[
    str | None, typer.Option(help="Column with the question.", show_default="question", **COLUMN)
]
AnswerColumn = Annotated[str | None, typer.Option(help="Column with the answer.", show_default="answer", **COLUMN)]
AnswerIdColumn = Annotated[
    str | None, typer.Option(help="Column with the answer's id.", show_default="answer_id", **COLUMN)
]


def given_names(**columns: str | None) -> dict[str, str]:
    """Return our name of each column that the command line names to its name in the files."""
    return {ours: theirs for ours, theirs in columns.items() if theirs is not None}
