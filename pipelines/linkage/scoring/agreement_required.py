"""Match probabilities that also require agreeing neighbours, for logs of facts.

Probability, features with AGREEMENT -> AgreementRequired -> probabilities
"""

from __future__ import annotations

import dataclasses
from typing import Final

import numpy as np

from pipelines.linkage.comparison.agreement_features import AGREEMENT
from pipelines.linkage.comparison.pair_features import NAMES
from pipelines.linkage.scoring.pair_model import Probability

MIN_AGREEMENT: Final = 0.6
DISCOUNT: Final = 0.3
"""Minimum mean agreement of a pair, and factor of the probability of a pair with less. Chosen on 250 answers of
open-domain questions that were read: precision .58 at recall .74; without it .47 at .83; agreement alone .53 at .72."""

_COLUMN: Final = len(NAMES) + AGREEMENT.index("agreement_mean")


@dataclasses.dataclass(frozen=True)
class AgreementRequired:
    """A pair model whose probability is multiplied with `DISCOUNT` where neighbours do not agree.

    Attributes:
        pairs: model of features with `AGREEMENT`.
    """

    pairs: Probability

    def probability(self, features: np.ndarray, answers: np.ndarray) -> np.ndarray:
        """Return the probability of each pair."""
        stated = self.pairs.probability(features, answers)
        agreed: np.ndarray = np.where(features[:, _COLUMN] >= MIN_AGREEMENT, stated, DISCOUNT * stated)
        return agreed
