from __future__ import annotations

import io

import numpy as np
import pytest
from matplotlib.image import imread

from jobs.display.calibration_chart import calibration_picture
from pipelines.calibration.calibrate import Point

STEPS = [step / 10 for step in range(1, 10)]
CURVES = {
    "linkage_probability": [Point(t, 0.5 + t / 2, 1 - t / 3) for t in STEPS],
    "coherence": [Point(t, t, 1 - t) for t in STEPS],
    "idf_coherence": [Point(t, 1.0, 0.0) for t in STEPS],  # nothing is kept
}
BLUE = (0x1F, 0x77, 0xB4)  # what matplotlib calls tab:blue


def pixels(picture, color):
    image = (imread(io.BytesIO(picture))[..., :3] * 255).round().astype(int)
    return np.argwhere((image == color).all(axis=-1))


def test_equal_curves_give_equal_bytes_and_others_do_not():
    other = CURVES | {"coherence": CURVES["coherence"][:5]}
    assert calibration_picture(CURVES, chosen={}) == calibration_picture(CURVES, chosen={})
    assert calibration_picture(CURVES, chosen={}) != calibration_picture(other, chosen={})


def test_the_chosen_threshold_is_marked_in_its_panel():
    plain, marked = (calibration_picture(CURVES, chosen=chosen) for chosen in ({}, {"coherence": 0.5}))
    left, right = np.array_split(imread(io.BytesIO(plain)) - imread(io.BytesIO(marked)), [440], axis=1)
    assert not left.any()  # the first of three panels, 1320 / 3 pixels wide
    assert right.any()


@pytest.mark.parametrize("count", [1, 2, 3])
def test_there_is_a_panel_for_each_score_and_one_for_all(count):
    curves = dict(list(CURVES.items())[:count])
    image = imread(io.BytesIO(calibration_picture(curves, chosen={})))
    assert image.shape == ((396 if count < 3 else 792), 1320, 4)  # 3.6 and 12 inches at 110 dots, three panels a row
    assert len(pixels(calibration_picture(curves, chosen={}), BLUE)) > 100


def test_no_point_at_all_is_no_error():
    assert calibration_picture({"coherence": []}, chosen={}).startswith(b"\x89PNG")
