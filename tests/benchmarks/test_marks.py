from __future__ import annotations

from pathlib import Path

import pytest

from benchmarks.marks import write


def test_a_text_takes_the_place_between_its_marks_again_and_again(tmp_path: Path) -> None:
    page = tmp_path / "results.md"
    page.write_text("before\n<!-- one -->\nold\n<!-- end -->\n<!-- two -->\nstays\n<!-- end -->\n", "utf-8")
    for text in ("one", "two \\1"):
        write(page, text, mark="one")
        assert (
            page.read_text("utf-8")
            == f"before\n<!-- one -->\n{text}\n<!-- end -->\n<!-- two -->\nstays\n<!-- end -->\n"
        )


def test_a_page_without_the_mark_is_left_alone_and_the_text_shown(tmp_path: Path) -> None:
    page = tmp_path / "results.md"
    page.write_text("before\n", "utf-8")
    with pytest.raises(SystemExit, match=r"(?s)measured.*no <!-- one -->"):
        write(page, "measured ", mark="one")
    assert page.read_text("utf-8") == "before\n"
