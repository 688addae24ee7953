"""``qpr answer``: the answer to each question, or an abstention with its reason.

arguments or lines of stdin -> Searcher.answer_many -> a line or a JSON object a question
"""

from __future__ import annotations

from typing import Annotated, Final

import typer

from jobs.display.console import say, warn
from jobs.display.hits import print_answer
from jobs.display.text_input import question_arguments, question_batches
from jobs.options.output import folder
from jobs.options.text_lists import naming_filters
from jobs.options.warehouse import IndexCertificate, VersionAt, VersionWarehouse
from model.search.settings import Filtering, Opening

_OVER: Final = {
    "expired": "has expired; only questions of the index itself are answered. Run `qpr certify`",
    "alarm": "audits raised the alarm; only questions of the index itself are answered",
}
"""Warnings about a certificate that permits nothing any more, by the reason of an abstention."""


def answer(
    index: Annotated[str | None, folder("Index to search.")] = None,
    warehouse: VersionWarehouse = None,
    at: VersionAt = None,
    certificate: IndexCertificate = None,
    *,
    settings: Opening,
    filtering: Filtering,
    questions: Annotated[
        list[str] | None,
        typer.Argument(metavar="QUESTION", help="Question to answer.", show_default="lines of stdin"),
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON object a line for each question.")] = False,
) -> None:
    """Answer each question, or abstain with a reason.

    Reasons of an answer: exact (the index has the question itself), certified. Of an abstention: below_confidence,
    guard:NAME (the best hit is another question), no_certificate, expired, alarm, answer_ended, no_answer (the best hit
    has none), no_hit.

    A question that begins with a dash follows after --.

    Examples:
      qpr answer --index index --certificate certificate "how do I pay my bill"
      qpr answer --index index --filter locale=en "how do I pay my bill"
      qpr answer --warehouse warehouse "how do I pay my bill"
    """
    from jobs.workflows.warehouses.version_reading import Readable
    from model.search.searcher import open_searcher

    given = question_arguments(questions or [])
    with naming_filters(), Readable(index, certificate, warehouse, at).held() as read:
        searcher = open_searcher(read.index_url, **settings.model_dump(), certificate=read.certificate)
        if searcher.confidence is None:
            say("the index has no confidence model, so answers have no probability and cannot be certified")
        warned = False
        for batch in question_batches(given, hits=1):
            for result in searcher.answer_many(batch, filters=filtering.filters):
                if result.reason in _OVER and not warned:
                    warn(f"{read.certificate}: {_OVER[result.reason]}")
                    warned = True
                print_answer(result, filters=filtering.filters, as_json=as_json)
