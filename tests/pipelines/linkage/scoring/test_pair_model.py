import numpy as np

from pipelines.linkage.comparison.agreement_features import SMALL_LOG
from pipelines.linkage.scoring.pair_model import LinkModel, expected_within, in_millionths, mean_within


class AsGiven:
    """A model whose probability is the first feature."""

    def probability(self, features: np.ndarray, answers: np.ndarray) -> np.ndarray:
        return features[:, 0].astype(float)


def test_a_group_s_pairs_alone_count_and_a_row_without_any_has_none() -> None:
    group = np.array([0, 0, 2, 0, 4, 4])
    left, right = np.array([0, 0, 1, 2]), np.array([1, 3, 2, 4])
    assert mean_within(group, left, right, np.array([0.5, 1.0, 0.9, 0.8])).tolist() == [0.75, 0.75, 0, 0.75, 0, 0]


def test_the_threshold_of_a_log_replaces_the_rule_by_which_it_is_chosen() -> None:
    of_log = LinkModel(AsGiven(), 0.35, precision=0.9).with_threshold(0.6)
    assert (of_log.threshold, of_log.least_of_two, of_log.precision) == (0.6, 0.6, None)


def test_a_small_log_has_its_own_threshold() -> None:
    model = LinkModel(AsGiven(), 0.45, precision=0.9, threshold_of_small=0.3)
    small = model.for_log(SMALL_LOG - 1)
    assert (small.threshold, small.least_of_two, small.precision) == (0.3, 0.3, None)
    assert model.for_log(SMALL_LOG) is model
    assert LinkModel(AsGiven(), 0.7).for_log(1).threshold == 0.7


def test_expected_pairs_are_exact_sums_within_groups() -> None:
    group, confidence = np.array([0, 0, 0, 3, 4, 4]), np.array([0.1, 0.1, 0.1, 0.0, 0.7, 0.7])
    assert expected_within(group, confidence).tolist() == [300_000, 0, 0, 0, 700_000, 0]
    rows = np.array([1] * 9 + [2])
    assert in_millionths(rows, np.array([0.1] * 10), rows=3).tolist() == [0, 900_000, 100_000]
