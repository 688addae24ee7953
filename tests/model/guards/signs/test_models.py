"""Names of models that differ in the letter behind their number."""

import pytest

from model.guards.reading import Reading
from model.guards.signs.models import models_differ


@pytest.mark.parametrize(
    ("one", "two"),
    [
        ("Pixel 8a screen size", "Pixel 8 screen size"),
        ("Which SIM fits the Galaxy A52b?", "Which SIM fits the Galaxy A52?"),
        ("Does the 330i take premium fuel?", "Does the 330e take premium fuel?"),
        ("battery of the iphone 6s", "battery of the iphone 6 plus"),
        ("Where is flat 12a?", "Where is flat 12b?"),
    ],
)
def test_another_letter_behind_a_number_is_another_model(one, two):
    assert models_differ(Reading(one), Reading(two))
    assert models_differ(Reading(two), Reading(one))


@pytest.mark.parametrize(
    ("one", "two"),
    [
        ("How hot is 20c?", "How hot is 20?"),  # a unit
        ("music of the 90s", "music of the 90 years before"),
        ("How fast are F16s?", "How fast is the F16?"),
        ("mp3s on my phone", "an mp3 on my phone"),
        ("Pixel 8a screen size", "Pixel 7a screen size"),  # numbers see it
        ("What is the 5 euro fee?", "What is the 5€ fee?"),
        ("Is the Pixel 8a sturdy?", "Is the phone sturdy?"),
        ("bus 10x", "bus 10"),
        ("Is a 2A charger enough?", "Is a charger of 2 amps enough?"),
    ],
)
def test_units_plurals_and_other_numbers_are_left(one, two):
    assert not models_differ(Reading(one), Reading(two))
    assert not models_differ(Reading(two), Reading(one))
