from __future__ import annotations

import numpy as np
import pytest

from model.encoders.finite_weights import first_not_finite


@pytest.mark.parametrize(
    ("value", "half", "single"),
    [(65_519, True, True), (-65_520, False, True), (3e38, False, True), (np.inf, False, False), (np.nan, False, False)],
)
def test_a_number_must_be_finite_as_it_is_stored(value, half, single):
    # 65,504 is the largest number of half precision; 65,520 is halfway to the next power of two, and rounds away
    weights = {"first": np.ones(3, np.float32), "second": np.array([[0, value], [0, 0]], np.float32)}
    assert first_not_finite(weights, np.float16) == (None if half else "second")
    assert first_not_finite(weights, np.float32) == (None if single else "second")
    stored_as = np.float16 if half else np.float32
    with np.errstate(over="ignore"):
        assert np.isfinite(weights["second"].astype(stored_as)).all() == single


def test_an_array_without_numbers_is_finite():
    assert first_not_finite({"none": np.zeros((0, 3), np.float32)}, np.float16) is None
