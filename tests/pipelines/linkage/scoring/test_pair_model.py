import numpy as np

from pipelines.linkage.scoring.pair_model import mean_within


def test_a_group_s_pairs_alone_count_and_a_row_without_any_has_none() -> None:
    group = np.array([0, 0, 2, 0, 4, 4])
    left, right = np.array([0, 0, 1, 2]), np.array([1, 3, 2, 4])
    assert mean_within(group, left, right, np.array([0.5, 1.0, 0.9, 0.8])).tolist() == [0.75, 0.75, 0, 0.75, 0, 0]
