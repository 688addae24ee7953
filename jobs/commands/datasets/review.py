"""``qpr review``: people judge clusters, pairs or answers, in the terminal or in a browser.

dataset or requests file, database -> review -> verdicts, or a report of them
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from jobs.options.output import AsJson, Overwrite, folder
from jobs.review.settings import Files, Page, ReviewSettings

if TYPE_CHECKING:
    from jobs.review.session import Review


def review(
    database: Annotated[str, typer.Option(metavar="FILE", help="Local file of the verdicts; it is created.")],
    dataset: Annotated[str | None, folder("Dataset to judge.")] = None,
    *,
    settings: ReviewSettings,
    page: Page,
    files: Files,
    overwrite: Overwrite = False,
    as_json: AsJson = False,
) -> None:
    """Judge a random sample of clusters, pairs or answers, and report what it shows.

    One key is a verdict: r right, s a stray (mark it), m several meanings, c "cannot tell"; w wrong, for pairs and
    answers. u undoes, n adds a note, q quits; the next run goes on.

    The bound on the share of right ones holds whenever you stop. With --claim a report fails where the verdicts do not
    support that share.

    Examples:
      qpr review --dataset dataset --database review.db
      qpr review --dataset dataset --database review.db --serve
      qpr review --database review.db --report review.html --claim 0.99
    """
    from jobs.review.reviewing import run_review

    def serve(review: Review, reviewer: str) -> None:
        from jobs.web.review.server import serve_review

        serve_review(review, reviewer, page)

    if page.model_fields_set - {"serve"} and not page.serve:
        from schemas.errors import UsageError

        raise UsageError("--host, --port and --token-file: belong to --serve. Leave them out")
    serving = serve if page.serve else None
    run_review(dataset, database, settings, files, serve=serving, overwrite=overwrite, as_json=as_json)
