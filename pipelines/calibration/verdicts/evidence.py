"""Evidence of judged pairs about the clusters of a dataset.

Judged, Population -> gather_evidence -> Evidence -> threshold, estimates; JSON of a calibration
"""

from __future__ import annotations

import functools
import itertools
from typing import Annotated, Any, Final, NamedTuple, Self

import numpy as np
import pydantic

from pipelines.calibration.verdicts.estimates import Estimates, estimate
from pipelines.calibration.verdicts.fit_recalibration import fit_recalibration
from pipelines.calibration.verdicts.judged_blocks import MOST_PAIRS, Judged
from pipelines.calibration.verdicts.population import Population
from pipelines.calibration.verdicts.threshold_test import (
    KEPT_DRAWS,
    LOOKS,
    missing_verdicts,
    nested_sets,
    supported_at_looks,
)
from pipelines.clusters.recalibration import recalibrate
from pipelines.clusters.settings import Recalibration
from pipelines.summary.answer_worth import digest_of_files
from schemas.errors import QprError, UsageError
from schemas.quantities import counted, rounded_percent

PRECISIONS: Final = (0.8, 0.9, 0.95)
"""Precisions whose thresholds are printed."""

_DRAW_MORE: Final = "Draw more with `qpr sample --for-calibration N --verdicts FILE`"
_GIVE_LESS: Final = "Give less, or link with --refine-with"

_IF_ALIKE: Final = "if they turn out like those so far"

_Share = Annotated[float, pydantic.Field(ge=0, le=1)]


class Threshold(NamedTuple):
    """Outcome for one precision.

    Attributes:
        precision: to show.
        probability: lowest stated probability of the clusters that have it with 95 % confidence; None: not shown.
        share: of the kept pairs that stay.
        missing: number of further verdicts that show it if they turn out like those so far; None: it is shown, no
            number shows it, or there are too few verdicts for an estimate.
    """

    precision: float
    probability: float | None
    share: float
    missing: int | None


class Evidence(pydantic.BaseModel, frozen=True, extra="forbid"):
    """Verdicts on the draws of complete blocks, and the pairs that they were drawn from.

    Attributes:
        dataset: digest of the dataset whose pairs were judged.
        inputs: digests of its input files.
        columns: names of the columns of these files, where they differ from ours.
        release: that made the dataset, with its shipped weights.
        configuration: settings that decide its clusters.
        kept_pairs: number of kept pairs.
        other_pairs: number of pairs of one answer that are not kept.
        sets: stated probability and share of kept pairs of each nested set, the strictest first.
        probability: stated probability of the kept pairs of each block.
        right: whether each of these is right.
        others_right: the same of the pairs that are not kept.
        verdicts: number of verdicts in the file.
        unclear: number of those that are unclear.
        intercept: of the calibrated log odds.
        slope: of the calibrated log odds.
    """

    dataset: str
    inputs: list[str]
    columns: dict[str, str]
    release: str
    configuration: dict[str, Any]
    kept_pairs: int = pydantic.Field(ge=1)
    other_pairs: int = pydantic.Field(ge=0)
    sets: list[tuple[_Share, _Share]] = pydantic.Field(min_length=1)
    probability: list[list[_Share]] = pydantic.Field(min_length=1)
    right: list[list[bool]]
    others_right: list[list[bool]]
    verdicts: int = pydantic.Field(ge=1)
    unclear: int = pydantic.Field(ge=0)
    intercept: pydantic.FiniteFloat
    slope: float = pydantic.Field(gt=0, allow_inf_nan=False)

    @pydantic.model_validator(mode="after")
    def _fits(self) -> Self:
        blocks = len(self.probability)
        if {*map(len, self.probability), *map(len, self.right)} != {KEPT_DRAWS}:
            raise ValueError(f"a block has not {KEPT_DRAWS} draws")
        if {len(self.right), len(self.others_right)} != {blocks}:
            raise ValueError("the lists of blocks differ in length")
        if any(a <= b for (a, _), (b, _) in itertools.pairwise(self.sets)) or self.sets[-1][1] != 1:
            raise ValueError("the sets do not descend in probability to all pairs")
        if any(a >= b for (_, a), (_, b) in itertools.pairwise(self.sets)):
            raise ValueError("the shares of the sets do not ascend")
        return self

    @functools.cached_property
    def _wrong(self) -> np.ndarray:
        """Return the (B, S) numbers of wrong verdicts inside each set in every block."""
        wrong = np.array(self.probability)[..., None] >= [least for least, _ in self.sets]
        inside: np.ndarray = (wrong & ~np.array(self.right)[..., None]).sum(1)
        return inside

    @property
    def _block(self) -> int:
        """Return the number of draws of a block; without pairs that are not kept it has fewer."""
        return KEPT_DRAWS + len(self.others_right[0])

    @property
    def _judged(self) -> int:
        """Return the number of judged draws; a verdict on a cluster counts for several."""
        return max(self.verdicts, len(self.right) * self._block)

    @property
    def _before_first_look(self) -> int:
        """Return the number of verdicts that are missing before any precision can be tested, 0 if none are."""
        return max(min(LOOKS) * self._block - self._judged, 1) if len(self.right) < min(LOOKS) else 0

    def threshold(self, precision: float) -> Threshold:
        """Return the lowest threshold that is shown to have a precision, or the number of missing verdicts.

        Raises:
            UsageError: the precision is 1 or more.
        """
        if precision >= 1:
            raise UsageError("--precision 1.0: no finite number of verdicts shows it. Give less than 1, such as 0.95")
        shares = [share for _, share in self.sets]
        index = int(supported_at_looks(shares, self._wrong, precision))
        if index >= 0:
            return Threshold(precision, self.sets[index][0], shares[index], None)
        if self._before_first_look:
            return Threshold(precision, None, 0.0, None)
        missing = missing_verdicts(shares, self._wrong, precision, judged=self._judged, block=self._block)
        return Threshold(precision, None, 0.0, missing)

    def estimates(self, probability: float = 0.0) -> Estimates:
        """Return prior, precision and recall if clusters below a stated probability are rejected."""
        share = max((share for least, share in self.sets if least >= probability), default=0.0)
        right, inside = np.array(self.right), np.array(self.probability) >= probability
        others = np.array(self.others_right, bool)
        counts = [(int((right & part).sum()), int((~right & part).sum())) for part in (inside, ~inside)]
        pairs = (share * self.kept_pairs, (1 - share) * self.kept_pairs, float(self.other_pairs))
        return estimate(counts[0], counts[1], (int(others.sum()), int((~others).sum())), pairs=pairs)

    def recalibration(self, digest: str, precision: float | None) -> Recalibration:
        """Return the settings that apply it.

        Args:
            digest: of the calibration.
            precision: to have with 95 % confidence; None: probabilities are corrected and no cluster is rejected.

        Raises:
            QprError: the verdicts do not show the precision; the message contains the number of missing ones.
            UsageError: the precision is 1 or more.
        """
        scale = Recalibration(
            calibration=digest,
            intercept=self.intercept,
            slope=self.slope,
            verdicts=self.verdicts,
            judged=digest_of_files(self.inputs),
        )
        shown = self.threshold(precision) if precision is not None else None
        if shown and shown.probability is None:
            by = f"not shown with 95 % confidence by {counted(self.verdicts, 'verdict')}: {self.not_shown(shown)}"
            more = shown.missing is not None or self._before_first_look
            raise QprError(f"--precision {precision}: {by}. {_DRAW_MORE if more else _GIVE_LESS}")
        least = shown.probability if shown and shown.probability is not None else 0.0
        estimates = self.estimates(least)
        named = {name: value for name, value in estimates if value is not None}
        return scale.model_copy(
            update={
                "min_stated": least,
                "precision": precision,
                "estimates": {name: (value.value, value.low, value.high) for name, value in named.items()},
            }
        )

    def not_shown(self, threshold: Threshold) -> str:
        """Return the verdicts that are missing to show a precision, by those so far."""
        if self._before_first_look:
            return f"at least {counted(self._before_first_look, 'more verdict')} before any precision can be tested"
        if threshold.missing is not None:
            return f"about {counted(threshold.missing, 'more verdict')}, {_IF_ALIKE}"
        best = max(self.estimates(least).precision.value for least, _ in self.sets)
        if best > threshold.precision:
            return f"more than {counted(MOST_PAIRS, 'verdict')}, the maximum, {_IF_ALIKE}"
        reached = rounded_percent(best, 0)
        return f"out of reach, {_IF_ALIKE}: at most {reached} of the kept pairs are right above any probability"

    def calibrated(self, probability: float) -> float:
        """Return the calibrated value of a stated probability."""
        scale = Recalibration(calibration="", intercept=self.intercept, slope=self.slope)
        return float(recalibrate(np.array([probability]), scale)[0])


def gather_evidence(
    judged: Judged,
    population: Population,
    *,
    dataset: str,
    inputs: list[str],
    configuration: dict[str, Any],
    columns: dict[str, str],
    release: str,
) -> Evidence:
    """Return the evidence of a file of verdicts, and fit the correction of probabilities.

    Args:
        judged: verdicts on complete blocks.
        population: the pairs of the dataset.
        dataset: its digest.
        inputs: digests of its input files.
        configuration: settings that decide its clusters.
        columns: names of the columns of these files, where they differ from ours.
        release: that made the dataset.
    """
    intercept, slope = fit_recalibration(judged.probability.ravel(), judged.right.ravel())
    return Evidence(
        dataset=dataset,
        inputs=inputs,
        columns=columns,
        release=release,
        configuration=configuration,
        kept_pairs=int(population.pairs.sum()),
        other_pairs=int(population.other_pairs.sum()),
        sets=[(nested.probability, nested.share) for nested in nested_sets(population.probability, population.pairs)],
        probability=judged.probability.tolist(),
        right=judged.right.tolist(),
        others_right=judged.others_right.tolist(),
        verdicts=judged.verdicts,
        unclear=judged.unclear,
        intercept=intercept,
        slope=slope,
    )
