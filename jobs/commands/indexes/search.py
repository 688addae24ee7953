"""``qpr search``: the questions of an index most similar to each given question.

arguments or lines of stdin -> Searcher.search_many -> a table or a JSON object a question
"""

from __future__ import annotations

from typing import Annotated

import typer

from jobs.display.console import say, warn
from jobs.display.hits import print_hits, reason_of_no_hits
from jobs.display.text_input import question_arguments, question_batches
from jobs.options.output import folder
from jobs.options.text_lists import naming_filters
from jobs.options.warehouse import VersionAt, VersionWarehouse
from model.search.settings import Filtering, Search


def search(
    index: Annotated[str | None, folder("Index to search.")] = None,
    warehouse: VersionWarehouse = None,
    at: VersionAt = None,
    *,
    settings: Search,
    filtering: Filtering,
    questions: Annotated[
        list[str] | None,
        typer.Argument(metavar="QUESTION", help="Question to search for.", show_default="lines of stdin"),
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON object a line for each question.")] = False,
) -> None:
    """Find the questions most similar to each question.

    A question of the index that is equal but for case, white space and outer punctuation comes first. Each hit names
    the words that it shares with the question, its rank by the distance of the vectors, and the probability that it
    means the same, where the index was built from a dataset with validation clusters or from several wordings of its
    answers.

    A question that begins with a dash follows after --.

    Examples:
      qpr search --index index "how do I pay my bill" --k 5
      qpr search --index index --filter locale=en "how do I pay my bill"
      qpr search --warehouse warehouse --at 2026-11-20 "how do I pay my bill"
    """
    from jobs.workflows.warehouses.version_reading import Readable
    from model.search.searcher import open_searcher

    given = question_arguments(questions or [])
    with naming_filters(), Readable(index, None, warehouse, at).held() as read:
        opened = open_searcher(read.index_url, **settings.model_dump(exclude={"k"}))
        if opened.confidence is None:
            say("the index has no confidence model, so hits have no probability")
        mode = opened.modes[0]
        if settings.probes and (mode == "exact" or (mode == "bm25" and opened.confidence is None)):
            warn(f"--probes has no effect: mode {mode} compares no vectors. Leave it out, or choose another --mode")
        filtered = bool(opened.index.settings.filters)
        k = min(settings.k, len(opened))
        for batch in question_batches(given, hits=k):
            for question, hits in zip(batch, opened.search_many(batch, k, filters=filtering.filters), strict=True):
                if not hits:
                    warn(f"{question[:80]!r}: {reason_of_no_hits(question, filtered=filtered)}")
                print_hits(question, hits, as_json=as_json)
