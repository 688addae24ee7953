"""Evidence on a night: all that the gate decides by.

options -> read_files -> GateFiles; index -> missed_canary, days -> mix_of -> Evidence
"""

from __future__ import annotations

import itertools
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, NamedTuple

from jobs.nightly.gate.answer_mix import Mix, answer_mix
from jobs.nightly.gate.canaries import Canary, Missed, first_missed, read_canaries
from jobs.nightly.gate.label_precision import Review, read_review
from jobs.nightly.gate.settings import GateSettings
from model.evaluation.intervals import Interval
from model.search.searcher import open_searcher
from schemas.artifacts.manifest import Manifest

if TYPE_CHECKING:
    from pipelines.ingestion.days import Day


class GateFiles(NamedTuple):
    """Files of the gate, read before the night begins.

    Attributes:
        review: report of verdicts that is required; None: none is.
        canaries: questions that have to be found.
    """

    review: Review | None
    canaries: Sequence[Canary]


class Evidence(NamedTuple):
    """All that the gate decides by. No field has a default, by which a night could pass unchecked.

    Attributes:
        difference: of the MRR on the frozen test set, among questions that both indexes have; None without a version
            before or without a common query.
        before: counters of the dataset of the version before; None for the first.
        after: counters of the new one.
        moved: number of questions of train that were held out in an earlier version.
        missed: the first canary that is not found; None: all are.
        review: verdicts on clusters; None: none are required.
        is_reviewed: whether they are about this night's dataset or that of a late version.
        judge: folder of the night's dataset, for the advice to judge it.
        mix: distance of the new days' answers; None with too few days before.
        reread: command that reads the days again that were ingested with other options; None: no day was.
        canaries: number of canaries.
        uncertified: why there is no certificate; None: there is one, or none is required.
        displaced: difference of the MRR on the frozen test set by new questions.
        queries: number of questions of the frozen test set.
        is_trained: whether the night has another encoder than the version before.
    """

    difference: Interval | None
    before: Mapping[str, int] | None
    after: Mapping[str, int]
    moved: int
    missed: Missed | None
    review: Review | None
    is_reviewed: bool
    judge: str
    mix: Mix | None
    reread: str | None
    canaries: int
    uncertified: str | None
    displaced: Interval | None
    queries: int
    is_trained: bool

    @property
    def metrics(self) -> dict[str, float]:
        """Return the figures for the record of the version."""
        figures: dict[str, float] = {}
        if self.mix:
            figures |= {
                "answer_distance": self.mix.distance,
                "answer_distance_before": self.mix.usual,
                "new_answers_share": self.mix.new,
                "new_answers_share_before": self.mix.usual_new,
            }
        if self.canaries:
            figures["canaries_found"] = 1 - (self.missed.missed / self.canaries if self.missed else 0)
        if self.review:
            figures["right_at_least"] = self.review.right.bound
        return figures


def read_files(settings: GateSettings) -> GateFiles:
    """Return the files that the gate's options name.

    Raises:
        QprError: one cannot be read or has another content.
    """
    review = None if settings.require_review is None else read_review(settings.require_review)
    return GateFiles(review, [] if settings.canaries is None else read_canaries(settings.canaries))


def missed_canary(files: GateFiles, index_url: str, k: int) -> Missed | None:
    """Return the first canary that an index does not find among k hits; None without a canary or if all are found.

    Raises:
        QprError: the index is damaged.
    """
    return first_missed(open_searcher(index_url), files.canaries, k) if files.canaries else None


def mix_of(days: Sequence[Day], dataset_before: Manifest | None, left: Sequence[Day] = ()) -> Mix | None:
    """Return the distance of the answers of the days that the version before does not have; None without a version.

    Args:
        days: of the window, ascending.
        dataset_before: manifest of the dataset of the version before, whose inputs are its days.
        left: days that left the window since that version, ascending. Without them, after some refused nights in a
            short window, no days would be left to compare with, and the refused ones would pass.

    Raises:
        QprError: a daily table is damaged.
    """
    if dataset_before is None:
        return None
    inputs = [source.digest for source in dataset_before.inputs if source.digest]

    def is_known(day: Day) -> bool:
        return any(map(day.manifest.is_or_was, inputs))  # an erasure gives a day another digest

    return answer_mix(list(itertools.filterfalse(is_known, days)), list(filter(is_known, [*left, *days])))
