"""Table and picture of the figures of `benchmarks.retrieval`.

figures by system -> line, picture -> Markdown, PNG
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from model.training.learning_curve import png_of

Figures = dict[str, Any]

METRICS = ("hits_at_1", "hits_at_10", "mrr")

HEADER = "| system | H@1 | H@10 | MRR | H@1 / H@10 / MRR per pair | questions/s of CPU |\n|---|---|---|---|---|---|"


def line(name: str, found: Figures) -> str:
    """Return a row: per question with half of its 95 % interval, per pair, speed."""
    cells = [
        f"{_spelled(found['per_question'][metric])} ({_spelled(width, 3)})"
        for metric, width in zip(METRICS, found["half_widths"], strict=True)
    ]
    pairs = " / ".join(_spelled(found["per_pair"][metric]) for metric in METRICS)
    speed = found["questions_per_cpu_s"]
    return f"| {name} | {' | '.join(cells)} | {pairs} | {'' if speed is None else _rounded(speed)} |"


def picture(found: Mapping[str, Figures]) -> bytes:
    """Return a PNG of MRR against questions a CPU second, systems without a speed left out."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(8, 4.2), dpi=120, layout="constrained")
    axes = figure.subplots()
    timed = [(figures["questions_per_cpu_s"], name, figures) for name, figures in found.items()]
    shown = sorted((speed, name, figures) for speed, name, figures in timed if speed is not None)
    for number, (speed, name, figures) in enumerate(shown):
        mrr, left = figures["per_question"]["mrr"], number % 2 == 0  # so that neighbours do not write over one another
        axes.errorbar(speed, mrr, yerr=figures["half_widths"][2], fmt="o", capsize=3)
        label, side = name.removesuffix(", exact search"), "right" if left else "left"
        place = (-7 if left else 7, 5)
        axes.annotate(label, (speed, mrr), place, textcoords="offset points", fontsize=8, horizontalalignment=side)
    axes.set(xscale="log", xlabel="questions a CPU second (one core)", ylabel="MRR, exact search")
    axes.margins(x=0.25, y=0.15)
    axes.grid(alpha=0.3)
    return png_of(figure)


def _spelled(value: float, digits: int = 4) -> str:
    return f"{value:.{digits}f}".removeprefix("0")


def _rounded(speed: float) -> str:
    return f"{float(f'{speed:.3g}'):,.0f}"
