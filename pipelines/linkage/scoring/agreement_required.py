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

KNEE: Final = 0.95
SLOPE_ABOVE: Final = 0.05
"""From this probability on half of the pairs by words alone were paraphrases, wherever above it they were; so the slope
is this one there, for encoders too."""


class Calibration(NamedTuple):
    """Logit of a pair in a log of facts: a line of the stated logit and of the similarity (Platt 1999).

    The prior of a log of facts is far below that of the logs with known clusters from which trees learn: 6 % of the
    pairs of one answer were paraphrases.

    Attributes:
        intercept: logit of a pair of stated probability .5 and similarity 0.
        slope: factor of the stated logit.
        similarity: factor of the similarity of the pair, which is the cosine of an encoder's vectors.
        threshold: minimum calibrated probability between two groups that are merged.
    """

    intercept: float
    slope: float
    similarity: float
    threshold: float


OF_WORDS: Final = Calibration(-1.48, 0.64, 0.0, 0.28)
OF_ENCODER: Final[Mapping[EncoderKind, Calibration]] = {
    "static": Calibration(-7.07, 0.34, 6.8, 0.25),
    "st": Calibration(-10.96, 0.5, 10.0, 0.25),
    "model": Calibration(-10.07, 0.48, 9.6, 0.2),
}
"""Calibrations of the weights without an encoder and of those of each kind, fitted to the same answers. A pair's cosine
counts as much as its trees: alone these were worse than the cosine, since they learned from clusters of duplicates. The
lines of encoders were fitted with a knee at .993, so above `KNEE` the probabilities of their pairs are too low; their
thresholds were chosen with `KNEE`."""

_SIMILARITY: Final = len(NAMES) + AGREEMENT.index("similarity")
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
        agreed = np.where(features[:, _COLUMN] >= MIN_AGREEMENT, stated, DISCOUNT * stated)
        return calibrated(agreed, features[:, _SIMILARITY], self.calibration)


def calibrated(stated: np.ndarray, similarity: np.ndarray, calibration: Calibration) -> np.ndarray:
    """Return the probabilities in a log of facts of pairs with these stated ones; it rises with both."""
    kept = np.clip(stated, 1e-6, 1 - 1e-6)
    logit, knee = np.log(kept / (1 - kept)), math.log(KNEE / (1 - KNEE))
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
