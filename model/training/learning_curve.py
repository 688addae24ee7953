"""The picture of a training: loss and validation ROC AUC by epoch.

epochs -> curve -> PNG bytes
"""

from __future__ import annotations

import io
from collections.abc import Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from model.training.progress import Epoch


def curve(epochs: Sequence[Epoch]) -> bytes:
    """Return a PNG; equal epochs give equal bytes."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(6, 3.6), dpi=120, layout="constrained")
    numbers = [epoch.epoch for epoch in epochs]
    losses = figure.add_subplot(xlabel="epoch", ylabel="loss (mean of train pairs)", xticks=numbers)
    lines = losses.plot(numbers, [epoch.loss for epoch in epochs], "o-", color="tab:blue", label="loss")
    if judged := [(epoch.epoch, epoch.auc) for epoch in epochs if epoch.auc is not None]:
        scores = losses.twinx()
        scores.set_ylabel("ROC AUC (validation)")
        lines += scores.plot(*zip(*judged, strict=True), "s--", color="tab:orange", label="ROC AUC")
    losses.legend(handles=lines, loc="center right")
    return png_of(figure)


def png_of(figure: Figure) -> bytes:
    """Return a picture; equal ones have equal bytes."""
    from matplotlib.backends.backend_agg import FigureCanvasAgg

    FigureCanvasAgg(figure)
    png = io.BytesIO()
    figure.savefig(png, format="png", metadata={"Software": None})  # a version would change the bytes
    return png.getvalue()
