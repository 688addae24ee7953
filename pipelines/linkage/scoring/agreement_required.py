"""Match probabilities that also require agreeing neighbours, for logs of facts.

LinkModel -> model_of_facts -> LinkModel with AgreementRequired: features with AGREEMENT -> probabilities
"""

from __future__ import annotations

import dataclasses
import math
from typing import Final

import numpy as np

from pipelines.linkage.comparison.agreement_features import AGREEMENT
from pipelines.linkage.comparison.pair_features import NAMES
from pipelines.linkage.scoring.pair_model import LinkModel, Probability

MIN_AGREEMENT: Final = 0.6
DISCOUNT: Final = 0.3
"""Minimum mean agreement of a pair, and factor of the probability of a pair with less. Chosen on 250 answers of
open-domain questions that were read: precision .58 at recall .74; without it .47 at .83; agreement alone .53 at .72."""

MIN_THRESHOLD: Final = 0.7
"""Minimum threshold of a model of words alone in such a log, on the same scale; chosen on the same answers."""

SLOPE: Final = 0.64
INTERCEPT: Final = -1.48
KNEE: Final = 0.95
SLOPE_ABOVE: Final = 0.05
"""Calibration of the logit (Platt 1999), fitted to the same answers, of whose pairs 6 % are paraphrases: the prior of a
log of facts is far below that of the logs with known clusters from which trees learn. From the probability `KNEE` on
half of the pairs were paraphrases, wherever above it they were."""

_COLUMN: Final = len(NAMES) + AGREEMENT.index("agreement_mean")


@dataclasses.dataclass(frozen=True)
class AgreementRequired:
    """A pair model whose probability is lower where neighbours do not agree, calibrated for a log of facts.

    Attributes:
        pairs: model of features with `AGREEMENT`.
    """

    pairs: Probability

    def probability(self, features: np.ndarray, answers: np.ndarray) -> np.ndarray:
        """Return the probability of each pair."""
        stated = self.pairs.probability(features, answers)
        agreed: np.ndarray = np.where(features[:, _COLUMN] >= MIN_AGREEMENT, stated, DISCOUNT * stated)
        return calibrated(agreed)


def calibrated(stated: np.ndarray) -> np.ndarray:
    """Return the probabilities in a log of facts of pairs with these stated ones; the order stays."""
    kept = np.clip(stated, 1e-6, 1 - 1e-6)
    logit, knee = np.log(kept / (1 - kept)), math.log(KNEE / (1 - KNEE))
    bent = INTERCEPT + SLOPE * np.minimum(logit, knee) + SLOPE_ABOVE * np.maximum(logit - knee, 0)
    probability: np.ndarray = 1 / (1 + np.exp(-bent))
    return probability


def model_of_facts(model: LinkModel, asked: float | None = None) -> LinkModel:
    """Return the model for a log of facts.

    Args:
        model: for features with `AGREEMENT`.
        asked: threshold that the user chose; None: that of the model, for words alone at least `MIN_THRESHOLD`, and
            calibrated.
    """
    least = 0.0 if model.cosine else MIN_THRESHOLD
    own = calibrated(np.maximum([model.threshold, model.least_of_two], least))
    threshold, of_two = own.tolist() if asked is None else (asked, asked)
    return dataclasses.replace(model, pairs=AgreementRequired(model.pairs), threshold=threshold, least_of_two=of_two)
