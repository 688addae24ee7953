"""The review page: one HTML document without an external asset, and without what it shows later.

kind of queue -> review_page -> HTML and the policy that a browser applies to it
"""

from __future__ import annotations

import re
from typing import Final

from markupsafe import Markup, escape

from jobs.display.rendering import render
from jobs.review.checks import MOST_NOTE
from jobs.review.queues.interface import LABELS, QUESTIONS, VERDICTS
from jobs.review.queues.rules import RULES
from jobs.review.settings import Kind
from jobs.web.search_page import Page, policy_of

_KEY: Final = re.compile(r" \(\w\)")
"""Key of a verdict in a rule, which is hidden while keys are switched off."""


def review_page(kind: Kind, *, reviewer: str) -> Page:
    """Return the page.

    Args:
        kind: of the queue.
        reviewer: name that stands in the field at first.
    """
    style, script = render("review.css"), render("review.js")
    buttons = [(key, verdict, LABELS[verdict]) for key, verdict in VERDICTS[kind].items()]
    # escaped before keys are marked
    rules = [Markup(_KEY.sub(r'<span class="key">\g<0></span>', str(escape(rule)))) for rule in RULES[kind]]  # noqa: S704
    html = render(
        "review.html",
        question=QUESTIONS[kind],
        buttons=buttons,
        rules=rules,
        reviewer=reviewer,
        most_note=MOST_NOTE,
        style=Markup(style),  # noqa: S704  # the package's own files, without a value of a user
        script=Markup(script),  # noqa: S704
    )
    return Page(html.encode(), policy_of(style, script))
