"""Putting what a benchmark measured into a page.

Markdown, page, mark -> write -> the page with the new figures
"""

from __future__ import annotations

import re
from pathlib import Path


def write(path: Path, text: str, *, mark: str) -> None:
    """Put a text between a mark and the end mark that follows it in a Markdown file."""
    marks = f"<!-- {mark} -->", "<!-- end -->"
    page = path.read_text("utf-8")
    new = re.sub(f"{marks[0]}.*?{marks[1]}", lambda _: f"{marks[0]}\n{text}\n{marks[1]}", page, flags=re.DOTALL)
    path.write_text(new, "utf-8")
