from collections import Counter

import numpy as np
import pyarrow as pa
import pydantic
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pipelines.simulation import noise as n
from pipelines.simulation.noise import add_noise
from pipelines.simulation.settings import Noise

QUESTION = "What's the height of Ada Abbott?"
EVERY_NAME = list(Noise.model_fields)


def only(name: str, *, rate: float = 1.0) -> Noise:
    return Noise.model_validate({"none": "", name: rate})


def heard(question: str, noise: Noise, *, seed: int = 0) -> str:
    return add_noise(pa.array([question]), noise, np.random.default_rng(seed))[0][0].as_py()


@pytest.mark.parametrize(
    ("change", "where", "expected"),
    [
        (n.truncate, 0.0, "how tall"),  # ceil(4 / 2) words stay at least
        (n.truncate, 0.99, "how tall is"),  # 2 + floor(0.99 * 2) = 3
        (n.drop, 0.0, "tall is everest"),
        (n.drop, 0.99, "how tall is"),
        (n.double, 0.3, "how tall tall is everest"),  # floor(0.3 * 4) = 1
        (n.swap, 0.99, "how tall everest is"),  # floor(0.99 * 3) = 2 and its right neighbour
        (n.swap, 0.0, "tall how is everest"),
        (n.mishear, 0.5, "how tell is everest"),  # how, tall, is have sound-alikes: floor(0.5 * 3) = 1
    ],
)
def test_each_change_alters_the_word_at_its_place(change, where, expected):
    assert change(["how", "tall", "is", "everest"], where) == expected.split()


@given(
    st.lists(st.sampled_from(["to", "two", "Paris", "7"]), min_size=1, max_size=6), st.floats(0, 1, exclude_max=True)
)
def test_changes_never_lose_all_words_and_keep_what_they_should(words, where):
    bag = Counter(words)
    assert words[: len(n.truncate(words, where))] == n.truncate(words, where)
    assert len(n.truncate(words, where)) >= max(1, len(words) / 2)
    assert Counter(n.swap(words, where)) == bag
    assert len(n.drop(words, where)) == max(1, len(words) - 1)
    assert (Counter(n.double(words, where)) - bag).total() == 1
    assert len(n.mishear(words, where)) == len(words)


def test_no_noise_changes_nothing():
    texts = pa.array([QUESTION, "", "?", "Zürich time"])
    result, changed = add_noise(texts, Noise.model_validate({"none": ""}), np.random.default_rng(0))
    assert result.equals(texts)
    assert not changed.any()


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("lower_case", "what's the height of ada abbott?"),
        ("unpunctuated", "Whats the height of Ada Abbott"),
        ("homophone", "What's a height of Ada Abbott?"),  # "the" comes before "of" for this seed
    ],
)
def test_a_rate_of_one_always_happens_and_of_zero_never(name, expected):
    assert heard(QUESTION, only(name), seed=3) == expected
    assert heard(QUESTION, only(name, rate=0.0), seed=3) == QUESTION


@pytest.mark.parametrize("name", EVERY_NAME)
def test_every_kind_of_noise_has_an_effect_of_its_own_and_no_text_becomes_empty(name):
    texts = pa.array([QUESTION, "?", "Paris", "3.5 miles, in km?"])
    result, changed = add_noise(texts, only(name), np.random.default_rng(0))
    assert result[0].as_py() != QUESTION
    assert all(result.to_pylist())
    assert changed.all() == (name not in ("lower_case", "unpunctuated", "filler"))
    assert ("?" in result[0].as_py()) == (name != "unpunctuated")  # the mark survives a change of the words


def test_decimals_keep_their_point_when_punctuation_goes():
    assert heard("3.5 miles, in km?", only("unpunctuated")) == "3.5 miles in km"


def test_the_rate_is_the_share_of_rows():
    texts = pa.array([QUESTION] * 20_000)
    _, changed = add_noise(texts, only("dropped", rate=0.25), np.random.default_rng(0))
    assert changed.mean() == pytest.approx(0.25, abs=0.015)  # five standard errors: 5 * sqrt(.25 * .75 / 20000)


def test_rates_are_read_by_name_and_none_sets_the_others_to_zero():
    assert Noise.model_validate({"dropped": "0.5"}) == Noise(dropped=0.5)
    quiet = Noise.model_validate({"truncated": "0.5", "none": ""})
    assert quiet.model_dump() == dict.fromkeys(EVERY_NAME, 0.0) | {"truncated": 0.5}


@pytest.mark.parametrize(("rates", "place"), [({"swapped": 1.5}, ("swapped",)), ({"typos": 1}, ()), ({"none": 0}, ())])
def test_a_rate_outside_zero_to_one_and_an_unknown_name_are_refused(rates, place):
    with pytest.raises(pydantic.ValidationError) as refusal:
        Noise.model_validate(rates)
    assert [error["loc"] for error in refusal.value.errors()] == [place]
