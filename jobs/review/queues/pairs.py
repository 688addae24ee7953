"""The queue of pairs for a calibration, as `qpr sample --for-calibration` draws them.

dataset, seed -> PairQueue -> Item
"""

from __future__ import annotations

from typing import Any

from jobs.review.queues.interface import Item, Line, QueueIdentity
from jobs.workflows.verdicts.pair_sample import pair_sample
from pipelines.calibration.verdicts.judged_blocks import MOST_PAIRS
from schemas.artifacts.dataset import open_dataset


class PairQueue:
    """Pairs of questions with the same answer.

    Args:
        url: of the dataset.
        seed: of the draw.

    Raises:
        QprError: the dataset has no linkage probabilities, or calibrated ones.
    """

    def __init__(self, url: str, seed: int) -> None:
        self.rows = pair_sample(url, count=MOST_PAIRS, seed=seed)
        self.places = {row["pair_id"]: place for place, row in enumerate(self.rows)}
        digest = open_dataset(url).manifest.digest
        self.source = QueueIdentity("pairs", digest, seed, len(self.rows), len(self.rows), 1)

    def item(self, place: int) -> Item:
        """Return the pair at a place."""
        row: dict[str, Any] = self.rows[place]
        lines = (Line(None, row["question_1"]), Line(None, row["question_2"]))
        return Item(row["pair_id"], place, row["answer"], lines, 1, {"stratum": row["stratum"]})
