from __future__ import annotations

import io

import pytest
from matplotlib.image import imread

from model.training.learning_curve import curve
from model.training.progress import Epoch

EPOCHS = [Epoch(1, 1.5, 0.8, 3.0, 100.0), Epoch(2, 0.7, 0.9, 3.0, 100.0)]


def test_equal_epochs_give_equal_bytes_and_others_do_not():
    assert curve(EPOCHS) == curve(EPOCHS)
    assert curve(EPOCHS) != curve(EPOCHS[:1])


@pytest.mark.parametrize("epochs", [EPOCHS, EPOCHS[:1], [Epoch(1, 1.5, None, 3.0, 100.0)]])
def test_it_is_a_picture_with_something_drawn(epochs):
    pixels = imread(io.BytesIO(curve(epochs)))
    assert pixels.shape == (432, 720, 4)  # 3.6 and 6 inches at 120 dots
    blue = (pixels[..., 2] > 0.6) & (pixels[..., 0] < 0.3)
    orange = (pixels[..., 0] > 0.9) & (pixels[..., 2] < 0.3)
    assert blue.any()
    assert orange.any() == (epochs[0].auc is not None)
