"""``qpr erase``: remove questions, or what only a user asked, from artefacts.

question or user, artefacts -> erase -> artefacts without it, and a report
"""

from __future__ import annotations

from typing import Annotated, Any

import typer

from jobs.options.output import AsJson, lasting
from jobs.options.secret_files import UserKeyFile, read_user_key
from jobs.options.text_lists import read_texts


def _repeatable(metavar: str, text: str) -> Any:
    """Return the declaration of an option that can be given several times."""
    return typer.Option(metavar=metavar, help=f"{text} Repeatable.", show_default=False)


def erase(
    warehouse: Annotated[
        str | None,
        typer.Option(
            callback=lasting,
            metavar="FOLDER",
            help="Warehouse: daily tables, and the artefacts of all versions. Needs a user key.",
            show_default=False,
        ),
    ] = None,
    dataset: Annotated[list[str] | None, _repeatable("FOLDER", "Dataset to erase from.")] = None,
    index: Annotated[list[str] | None, _repeatable("FOLDER", "Index to erase from.")] = None,
    review: Annotated[list[str] | None, _repeatable("FILE", "Review database that nobody uses now.")] = None,
    file: Annotated[
        list[str] | None,
        _repeatable(
            "FILE",
            "Audit sample of a stopped server, requests, or an export of verdicts: .jsonl, .json, .csv, .tsv, .txt.",
        ),
    ] = None,
    question: Annotated[list[str] | None, _repeatable("TEXT", "Question to erase; @FILE: one a line.")] = None,
    user: Annotated[
        list[str] | None,
        _repeatable(
            "ID",
            "User whose questions are erased, except those that others asked too; @FILE: one a line. Reads the logs of "
            "warehouse and datasets.",
        ),
    ] = None,
    user_key_file: UserKeyFile = None,
    *,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Count what would be erased, write nothing.")] = False,
    as_json: AsJson = False,
) -> None:
    """Erase a question, or everything that only one user asked, from a warehouse, artefacts and files.

    Wordings that are equal but for case, white space and outer punctuation are erased together. An artefact is written
    again without them, and its old files are removed.
    Later nights of a warehouse do not bring them back. Run it again if it was killed.

    Examples:
      qpr erase --warehouse warehouse --user @user.txt --user-key-file user.key
      qpr erase --dataset dataset --index index --question "who is my neighbour"
      qpr erase --dataset dataset --user @user.txt --dry-run
    """
    from jobs.nightly.erasure.erasing import Places, erase_everywhere

    erase_everywhere(
        questions=read_texts(question or (), option="--question"),
        users=read_texts(user or (), option="--user"),
        places=Places(warehouse, dataset or (), index or (), review or (), file or ()),
        user_key=read_user_key(user_key_file),
        dry_run=dry_run,
        as_json=as_json,
    )
