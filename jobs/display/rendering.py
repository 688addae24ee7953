"""Templates of the package, filled with values that are escaped.

template name, values -> render -> text
"""

from __future__ import annotations

import functools
import re
from typing import Any, Final

from jinja2 import Environment, PackageLoader, StrictUndefined, select_autoescape

from jobs.display.safe_text import cut, markdown_text
from jobs.display.summary_tables import label, percent, whole
from schemas.quantities import counted

_NOT_TEXT: Final = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\ud800-\udfff\ufffe\uffff]")
"""Characters that HTML forbids even when escaped."""


def render(template: str, **values: Any) -> str:
    """Return a template of ``jobs/display/templates`` filled with ``values``; control characters become U+FFFD.

    Raises:
        jinja2.UndefinedError: the template uses a value that is not passed.
    """
    return _NOT_TEXT.sub("\N{REPLACEMENT CHARACTER}", _environment().get_template(template).render(values))


@functools.cache
def _environment() -> Environment:
    environment = Environment(
        loader=PackageLoader("jobs.display"),
        autoescape=select_autoescape(disabled_extensions=("md",), default=True),
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )
    filters = (counted, cut, label, markdown_text, percent, whole)
    environment.filters |= {function.__name__: function for function in filters}
    return environment
