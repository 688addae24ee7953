"""``qpr answer``: the answer to each question, or an abstention with its reason.

arguments or lines of stdin -> Searcher.answer_many -> a line or a JSON object a question
"""

from __future__ import annotations

from typing import Annotated

import typer

from jobs.display.console import warn
from jobs.display.hits import print_answer
from jobs.display.text_input import question_arguments, question_batches
from jobs.options.output import folder
from model.search.settings import Filtering, Opening


def answer(
    index: Annotated[str, folder("Index to search.")],
    settings: Opening,
    filtering: Filtering,
    questions: Annotated[
        list[str] | None,
        typer.Argument(metavar="QUESTION", help="Question to answer.", show_default="lines of stdin"),
    ] = None,
    certificate: Annotated[
        str | None, folder("Certificate of the index; without one only its own questions are answered.")
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON object a line for each question.")] = False,
) -> None:
    """Answer each question, or abstain with a reason.

    Reasons of an answer: exact (the index has the question itself), certified. Of an abstention: below_confidence,
    guard:NAME, no_certificate, expired, alarm, answer_ended, no_hit.

    A question that begins with a dash follows after --.

    Examples:
      qpr answer --index index --certificate certificate "how do I pay my bill"
      qpr answer --index index --filter locale=en "how do I pay my bill"
    """
    from model.search.searcher import open_searcher

    given = question_arguments(questions or [])
    searcher = open_searcher(index, **settings.model_dump(), certificate=certificate)
    is_over = False
    for batch in question_batches(given, hits=1):
        for result in searcher.answer_many(batch, filters=filtering.filters):
            if result.reason == "expired" and not is_over:
                warn(f"{certificate}: has expired; only questions of the index itself are answered. Run `qpr certify`")
                is_over = True
            if result.reason == "alarm" and not is_over:
                warn(f"{certificate}: audits raised the alarm; only questions of the index itself are answered")
                is_over = True
            print_answer(result, as_json=as_json)
