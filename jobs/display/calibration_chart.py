"""Picture of a calibration: precision and recall by threshold, and the scores compared.

curves -> calibration_picture -> PNG bytes
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from model.training.learning_curve import png_of

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from pipelines.calibration.calibrate import Point

LINE_STYLES = ("-", "--", "-.", ":")
"""The curves differ without colours too."""


def calibration_picture(curves: Mapping[str, Sequence[Point]], *, chosen: Mapping[str, float]) -> bytes:
    """Return a PNG; equal curves give equal bytes.

    A panel for each score shows precision and recall against the threshold, and the last one precision against recall
    of all scores.

    Args:
        curves: points in ascending order of the threshold, by the name of the score.
        chosen: a threshold to mark, by the name of the score.
    """
    from matplotlib.figure import Figure

    rows = -(-(len(curves) + 1) // 3)
    figure = Figure(figsize=(12, 3.6 * rows), dpi=110, layout="constrained")
    panels = figure.subplots(rows, 3, squeeze=False).ravel()
    for axes, (name, points) in zip(panels, curves.items(), strict=False):
        _against_threshold(axes, name, points, chosen.get(name))
    _against_recall(panels[len(curves)], curves)
    for axes in panels[len(curves) + 1 :]:
        axes.set_axis_off()
    return png_of(figure)


def _against_threshold(axes: Axes, name: str, points: Sequence[Point], chosen: float | None) -> None:
    thresholds = [point.threshold for point in points]
    axes.plot(thresholds, [point.precision for point in points], color="tab:blue", label="precision")
    axes.plot(thresholds, [point.recall for point in points], "--", color="tab:orange", label="recall")
    if chosen is not None:
        axes.axvline(chosen, color="black", linestyle=":", label=f"threshold {chosen:g}")
    axes.set(title=name.replace("_", " "), xlim=(0, 1), ylim=(0, 1.02), xlabel="threshold")
    axes.grid(alpha=0.3)
    axes.legend(loc="center right")


def _against_recall(axes: Axes, curves: Mapping[str, Sequence[Point]]) -> None:
    for number, (name, points) in enumerate(curves.items()):
        kept = [point for point in points if point.recall > 0]  # precision without recall has no meaning
        recalls, precisions = [point.recall for point in kept], [point.precision for point in kept]
        axes.plot(recalls, precisions, LINE_STYLES[number % 4], label=name.replace("_", " "))
    axes.set(title="which score is better", xlim=(0, 1.02), xlabel="recall", ylabel="precision")
    axes.set_ylim(top=1.005)  # the bottom follows the lowest curve, since the curves differ little
    axes.grid(alpha=0.3)
    axes.legend(loc="lower left")
