"""The review page: one HTML document without an external asset, and without what it shows later.

kind of queue -> review_page -> HTML and the policy that a browser applies to it
"""

from __future__ import annotations

from markupsafe import Markup

from jobs.display.rendering import render
from jobs.review.checks import MOST_NOTE
from jobs.review.queues.interface import LABELS, QUESTIONS, VERDICTS, Kind
from jobs.review.queues.rules import RULES
from jobs.web.search_page import Page, policy_of


def review_page(kind: Kind, *, reviewer: str) -> Page:
    """Return the page.

    Args:
        kind: of the queue.
        reviewer: name that stands in the field at first.
    """
    style, script = render("review.css"), render("review.js")
    buttons = [(key, verdict, LABELS[verdict]) for key, verdict in VERDICTS[kind].items()]
    html = render(
        "review.html",
        question=QUESTIONS[kind],
        buttons=buttons,
        rules=RULES[kind],
        reviewer=reviewer,
        most_note=MOST_NOTE,
        style=Markup(style),  # noqa: S704  # the package's own files, without a value of a user
        script=Markup(script),  # noqa: S704
    )
    return Page(html.encode(), policy_of(style, script))
