"""Similarities of nearest questions by the size of the answer."""

import numpy as np
import pytest

from pipelines.linkage.log_profile import COLUMNS, NONE, PRIOR, SIZES, profile_of, shares_of

SAME = np.array([[0.9, 0.3, 0.0], [0.05, 0.0, 0.0], [0.3, 0.2, 0.1]], np.float32)
OTHER = np.array([[0.5] * 5, [0.4] * 5, [0.6, 0.6, 0.6, 0.6, 0.2]], np.float32)
AGREES = np.array([True, False, False])


def test_means_of_a_size_are_those_of_its_questions() -> None:
    of_sizes, of_log = shares_of(profile_of(SAME, OTHER, AGREES, np.array([3, 2, 12])))
    log = dict(zip(COLUMNS, of_log, strict=True))
    assert log["agreement"] == pytest.approx((1 + 1) / (3 + 2))
    # the second question's nearest mate, at .05, is farther than the fifth other question, at .4
    assert log["outranked"] == pytest.approx((1 + 1) / (3 + 2))
    assert log["below_35"] == pytest.approx((2 + 1) / (3 + 2))
    assert log["margin"] == pytest.approx((0.4 + 1) / (3 + 2))
    of_two = dict(zip(COLUMNS, of_sizes[0], strict=True))
    assert of_two["mate_1"] == pytest.approx((0.05 + PRIOR * log["mate_1"]) / (1 + PRIOR))
    of_three = dict(zip(COLUMNS, of_sizes[1], strict=True))
    assert of_three["mate_last"] == pytest.approx((0.3 + PRIOR * log["mate_last"]) / (1 + PRIOR))
    assert of_three["mate_9"] == pytest.approx((0.3 + PRIOR * log["mate_9"]) / (1 + PRIOR))
    of_many = dict(zip(COLUMNS, of_sizes[3], strict=True))
    assert of_many["other_5"] == pytest.approx((0.2 + PRIOR * log["other_5"]) / (1 + PRIOR))


def test_profiles_of_parts_add_up_to_that_of_the_whole() -> None:
    generator = np.random.default_rng(0)
    same, other = (-np.sort(-generator.random((50, 20)).astype(np.float32)) for _ in range(2))
    agrees, size = generator.random(50) < 0.5, generator.integers(2, 30, 50)
    whole = profile_of(same, other, agrees, size)
    parts = [profile_of(same[part], other[part], agrees[part], size[part]) for part in (slice(0, 20), slice(20, 50))]
    assert tuple(map(sum, zip(*parts, strict=True))) == whole
    assert len(whole) == (len(SIZES) + 1) * (len(COLUMNS) + 1) == len(NONE)


def test_a_log_without_questions_has_means_of_one_half() -> None:
    of_sizes, of_log = shares_of(NONE)
    assert (of_sizes == 0.5).all()
    assert (of_log == 0.5).all()
