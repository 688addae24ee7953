"""The search page: one HTML document without an external asset.

size, modes and columns of an index -> search_page -> HTML and the policy that a browser applies to it
"""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Mapping, Sequence
from typing import Final, NamedTuple

from markupsafe import Markup

from jobs.display.rendering import render


class Page(NamedTuple):
    """A page and its Content-Security-Policy, which permits its own style and script and nothing else."""

    html: bytes
    policy: str


MOST_VALUES: Final = 200
"""Values of a column up to which the page lists them; beyond, a person types one."""


def search_page(*, questions: int, modes: Sequence[str], k: int, filters: Mapping[str, Sequence[str]]) -> Page:
    """Return the page that searches an index.

    Args:
        questions: their number.
        modes: values of ``mode`` in a request, the default first; fewer than two are not shown.
        k: number of hits that it asks for.
        filters: values of each column of which a search names one; none of those that a person has to type.
    """
    style, script = render("search.css"), render("search.js")
    html = render(
        "search.html",
        questions=questions,
        modes=modes,
        k=k,
        filters={column: values if len(values) <= MOST_VALUES else () for column, values in filters.items()},
        style=Markup(style),  # noqa: S704  # the package's own files, without a value of a user
        script=Markup(script),  # noqa: S704
    )
    return Page(html.encode(), policy_of(style, script))


def policy_of(style: str, script: str) -> str:
    """Return the Content-Security-Policy of a page that permits its own style and script and nothing else."""
    return (
        f"default-src 'none'; style-src {_source(style)}; script-src {_source(script)}; connect-src 'self'; "
        "base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
    )


def _source(text: str) -> str:
    """Return the source expression of an inline text by its digest (CSP Level 3, section 8.4)."""
    digest = hashlib.sha256(text.encode()).digest()
    return f"'sha256-{base64.b64encode(digest).decode()}'"
