from __future__ import annotations

from typing import Any

from benchmarks.retrieval_table import HEADER, line, picture


def found(mrr: float, speed: float | None) -> dict[str, Any]:
    metrics = {"hits_at_1": 0.5, "hits_at_10": 1.0, "mrr": mrr}
    return {
        "per_question": metrics,
        "per_pair": metrics,
        "half_widths": [0.0161, 0.02, 0.003],
        "questions_per_cpu_s": speed,
    }


def test_a_line_has_as_many_cells_as_the_header_and_round_speeds() -> None:
    shown = line("static, exact search", found(0.81549, 121_345.0))
    assert shown.count("|") == HEADER.splitlines()[0].count("|")
    assert "| .5000 (.016) | 1.0000 (.020) | .8155 (.003) | .5000 / 1.0000 / .8155 | 121,000 |" in shown
    assert line("static, 10 probes", found(0.8, None)).endswith("|  |")
    assert line("slow", found(0.8, 7.25)).endswith("| 7 |")


def test_the_picture_is_a_png_that_depends_on_the_figures_alone() -> None:
    one = picture({"a, exact search": found(0.8, 1e5), "b": found(0.7, None)})
    assert one.startswith(b"\x89PNG")
    assert one == picture({"a, exact search": found(0.8, 1e5)})
    assert one != picture({"a, exact search": found(0.7, 1e5)})
