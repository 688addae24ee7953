"""Match probabilities that also require agreeing neighbours, for logs of facts.

LinkModel -> model_of_facts -> LinkModel with AgreementRequired: features with AGREEMENT -> probabilities
"""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Mapping
from typing import Final, NamedTuple

import numpy as np

from pipelines.linkage.comparison.agreement_features import AGREEMENT
from pipelines.linkage.comparison.pair_features import NAMES
from pipelines.linkage.scoring.pair_model import LinkModel, Probability
from pipelines.linkage.settings import EncoderKind

MIN_AGREEMENT: Final = 0.6
DISCOUNT: Final = 0.3
"""Minimum mean agreement of a pair, and factor of the probability of a pair with less. Chosen on 250 answers of
open-domain questions that were read: precision .58 at recall .74; without it .47 at .83; agreement alone .53 at .72."""

SLOPE_ABOVE: Final = 0.05
"""Slope above the knee of a calibration: from there on half of the pairs by words alone were paraphrases, however sure
the trees were."""


class Calibration(NamedTuple):
    """Logit of a pair in a log of facts: a line of the stated logit and of the similarity (Platt 1999).

    The prior of a log of facts is far below that of the logs with known clusters from which trees learn: 6 % of the
    pairs of one answer were paraphrases.

    Attributes:
        intercept: logit of a pair of stated probability .5 and similarity 0.
        slope: factor of the stated logit.
        similarity: factor of the similarity of the pair, the cosine of an encoder's vectors or of weighted words.
        knee: stated probability above which the slope is `SLOPE_ABOVE`.
        threshold: minimum calibrated probability between two groups that are merged.
    """

    intercept: float
    slope: float
    similarity: float
    knee: float
    threshold: float


OF_WORDS: Final = Calibration(-3.61, 0.43, 4.4, knee=0.8, threshold=0.3)
OF_ENCODER: Final[Mapping[EncoderKind, Calibration]] = {
    "static": Calibration(-4.73, 0.38, 4.1, knee=0.993, threshold=0.5),
    "st": Calibration(-8.3, 0.35, 8.1, knee=0.993, threshold=0.45),
    "model": Calibration(-6.41, 0.7, 6.6, knee=0.8, threshold=0.25),
}
"""Calibrations of the weights without an encoder and of those of each kind, all fitted to the same 250 answers by
`benchmarks.labels.facts_calibration`. The similarity counts beside the trees, which learned from clusters of
duplicates: a line of both ranks the pairs of facts better than either. The knee is the one with the lowest loss on
answers that were not fitted to, .8 to .993; the threshold is the highest that keeps .71 of the paraphrases. Those of
`static` and `model` were fitted to trees that compared no neighbours by words (decision 75)."""

SIMILARITY: Final = len(NAMES) + AGREEMENT.index("similarity")
"""Column of a pair's similarity among the features."""

_COLUMN: Final = len(NAMES) + AGREEMENT.index("agreement_mean")


@dataclasses.dataclass(frozen=True)
class AgreementRequired:
    """A pair model whose probability is lower where neighbours do not agree, calibrated for a log of facts.

    Attributes:
        pairs: model of features with `AGREEMENT`.
        calibration: of the kind of its weights.
    """

    pairs: Probability
    calibration: Calibration = OF_WORDS

    def probability(self, features: np.ndarray, answers: np.ndarray) -> np.ndarray:
        """Return the probability of each pair."""
        stated = self.pairs.probability(features, answers)
        return calibrated(agreed(stated, features), features[:, SIMILARITY], self.calibration)


def agreed(stated: np.ndarray, features: np.ndarray) -> np.ndarray:
    """Return the (P,) stated probabilities, times `DISCOUNT` where neighbours do not agree; features are (P, F)."""
    kept: np.ndarray = np.where(features[:, _COLUMN] >= MIN_AGREEMENT, stated, DISCOUNT * stated)
    return kept


def calibrated(stated: np.ndarray, similarity: np.ndarray, calibration: Calibration) -> np.ndarray:
    """Return the probabilities in a log of facts of pairs with these stated ones; it rises with both."""
    kept = np.clip(stated, 1e-6, 1 - 1e-6)
    logit, knee = np.log(kept / (1 - kept)), math.log(calibration.knee / (1 - calibration.knee))
    bent = calibration.slope * np.minimum(logit, knee) + SLOPE_ABOVE * np.maximum(logit - knee, 0)
    probability: np.ndarray = 1 / (1 + np.exp(-(calibration.intercept + bent + calibration.similarity * similarity)))
    return probability


def model_of_facts(model: LinkModel, encoder: EncoderKind | None = None, asked: float | None = None) -> LinkModel:
    """Return the model for a log of facts.

    Args:
        model: for features with `AGREEMENT`.
        encoder: kind of the encoder whose vectors are compared, if there is one.
        asked: threshold that the user chose; None: that of the calibration.
    """
    calibration = OF_ENCODER[encoder] if encoder else OF_WORDS
    threshold = calibration.threshold if asked is None else asked
    pairs = AgreementRequired(model.pairs, calibration)
    return dataclasses.replace(model, pairs=pairs, threshold=threshold, least_of_two=threshold)
