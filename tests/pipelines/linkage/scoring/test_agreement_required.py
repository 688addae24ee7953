import numpy as np
import pytest

from pipelines.linkage.comparison.agreement_features import AGREEMENT
from pipelines.linkage.comparison.pair_features import NAMES
from pipelines.linkage.scoring.agreement_required import DISCOUNT, AgreementRequired, calibrated, model_of_facts
from pipelines.linkage.scoring.pair_model import LinkModel


class AsGiven:
    def probability(self, features: np.ndarray, answers: np.ndarray) -> np.ndarray:
        assert len(answers) == len(features)
        return features[:, 0].astype(float)


def test_a_pair_whose_neighbours_disagree_is_less_probable() -> None:
    features = np.zeros((3, len(NAMES) + len(AGREEMENT)), np.float32)
    features[:, 0] = [0.9, 0.9, 0.1]
    features[:, len(NAMES) + AGREEMENT.index("agreement_mean")] = [0.7, 0.5, 1.0]
    found = AgreementRequired(AsGiven()).probability(features, np.zeros(3, np.int64))
    assert found.tolist() == pytest.approx(calibrated(np.array([0.9, DISCOUNT * 0.9, 0.1])).tolist())


def test_a_log_of_facts_lowers_every_probability_and_keeps_their_order() -> None:
    stated = np.linspace(0, 1, 101)
    found = calibrated(stated)
    assert np.all(np.diff(found)[1:-1] > 0)
    assert np.all(found[20:] < stated[20:])
    assert 0 <= found.min() < found.max() < 1


def test_the_own_threshold_is_calibrated_too_and_one_that_was_asked_for_is_not() -> None:
    model = LinkModel(AsGiven(), 0.7, least_of_two=0.8, agreement=True)
    own, asked = model_of_facts(model), model_of_facts(model, 0.6)
    assert [own.threshold, own.least_of_two] == pytest.approx(calibrated(np.array([0.7, 0.8])).tolist())
    assert (asked.threshold, asked.least_of_two) == (0.6, 0.6)
