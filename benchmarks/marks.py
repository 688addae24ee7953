"""Putting what a benchmark measured into a page.

Markdown, page, mark -> write -> the page with the new figures
"""

from __future__ import annotations

import re
from pathlib import Path


def write(path: Path, text: str, *, mark: str) -> None:
    """Put a text between a mark and the end mark that follows it in a Markdown file.

    Raises:
        SystemExit: there is no such mark; the text is printed, so that nothing measured is lost.
    """
    marks = f"<!-- {mark} -->", "<!-- end -->"
    page = path.read_text("utf-8")
    between = f"{marks[0]}\n{text}\n{marks[1]}"
    new, count = re.subn(f"{marks[0]}.*?{marks[1]}", lambda _: between, page, flags=re.DOTALL)
    if not count:
        raise SystemExit(f"{text}\n\n{path}: no {marks[0]} with {marks[1]} after it. Add them")
    path.write_text(new, "utf-8")
