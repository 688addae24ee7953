import math
import typing

import numpy as np
import pytest

from pipelines.linkage.comparison.agreement_features import AGREEMENT
from pipelines.linkage.comparison.pair_features import NAMES
from pipelines.linkage.scoring.agreement_required import (
    DISCOUNT,
    OF_ENCODER,
    OF_WORDS,
    SLOPE_ABOVE,
    AgreementRequired,
    calibrated,
    model_of_facts,
)
from pipelines.linkage.scoring.pair_model import LinkModel
from pipelines.linkage.settings import EncoderKind

CALIBRATIONS = (OF_WORDS, *OF_ENCODER.values())


class AsGiven:
    def probability(self, features: np.ndarray, answers: np.ndarray) -> np.ndarray:
        assert len(answers) == len(features)
        return features[:, 0].astype(float)


@pytest.mark.parametrize("calibration", CALIBRATIONS)
def test_a_pair_whose_neighbours_disagree_is_less_probable(calibration) -> None:
    features = np.zeros((3, len(NAMES) + len(AGREEMENT)), np.float32)
    features[:, 0] = [0.9, 0.9, 0.1]
    features[:, len(NAMES) + AGREEMENT.index("agreement_mean")] = [0.7, 0.5, 1.0]
    similarity = features[:, len(NAMES) + AGREEMENT.index("similarity")]
    similarity[:] = 0.8
    found = AgreementRequired(AsGiven(), calibration).probability(features, np.zeros(3, np.int64))
    expected = calibrated(np.array([0.9, DISCOUNT * 0.9, 0.1]), similarity, calibration)
    assert found.tolist() == pytest.approx(expected.tolist())
    assert found[0] > found[1] > found[2]


@pytest.mark.parametrize("calibration", CALIBRATIONS)
def test_the_probability_never_falls_as_the_stated_one_or_the_cosine_rises(calibration) -> None:
    rising, constant = np.linspace(0, 1, 101), np.full(101, 0.5)
    for stated, similarity in ((rising, constant), (constant, rising)):
        found = calibrated(stated, similarity, calibration)
        assert np.all(np.diff(found) >= 0)
        assert 0 <= found.min() <= found.max() < 1


def test_a_log_of_facts_lowers_what_words_alone_state() -> None:
    stated = np.linspace(0.5, 1, 51)
    assert np.all(calibrated(stated, np.full(51, 0.8), OF_WORDS) < stated)


@pytest.mark.parametrize("calibration", CALIBRATIONS)
def test_each_calibration_rises_slower_above_its_own_knee(calibration) -> None:
    logit = math.log(calibration.knee / (1 - calibration.knee)) + np.array([-0.5, 0.0, 0.5])
    found = calibrated(1 / (1 + np.exp(-logit)), np.full(3, 0.8), calibration)
    rises = np.diff(np.log(found / (1 - found)))
    assert rises.tolist() == pytest.approx([calibration.slope / 2, SLOPE_ABOVE / 2])


@pytest.mark.parametrize("encoder", [None, *typing.get_args(EncoderKind)])
def test_each_kind_of_weights_has_a_threshold_and_one_that_was_asked_for_stays(encoder) -> None:
    model = LinkModel(AsGiven(), 0.7, least_of_two=0.8, agreement=True)
    own, asked = model_of_facts(model, encoder), model_of_facts(model, encoder, 0.6)
    calibration = OF_ENCODER[encoder] if encoder else OF_WORDS
    assert (own.threshold, own.least_of_two) == (calibration.threshold, calibration.threshold)
    assert (asked.threshold, asked.least_of_two) == (0.6, 0.6)
