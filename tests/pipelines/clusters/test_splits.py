import collections

import numpy as np
import pytest

from pipelines.clusters.settings import DEFAULT_SALT
from pipelines.clusters.splits import filling_salt, split_of
from schemas.hashing import mix, uniform
from schemas.text import hash64


def test_golden_splits_never_change():
    ids = np.array([hash64(f"text:answer {i}") for i in range(12)])
    assert split_of(ids, DEFAULT_SALT).to_pylist() == [
        "train",
        "test",
        "train",
        "train",
        "train",
        "train",
        "test",
        "train",
        "train",
        "train",
        "train",
        "train",
    ]
    assert split_of(ids, "another").to_pylist() == [
        "test",
        "train",
        "test",
        "test",
        "train",
        "validation",
        "train",
        "train",
        "train",
        "train",
        "train",
        "train",
    ]


def test_the_mixer_is_splitmix64():
    # first outputs of SplitMix64 seeded with 0 (Vigna's splitmix64.c): state 0, then the golden gamma once
    gamma = 0x9E3779B97F4A7C15 - 2**64
    assert [int(bits) for bits in mix(np.array([0, gamma]), 0)] == [0xE220A8397B1DCDAF, 0x6E789E6AA1B965F4]


@pytest.mark.parametrize("ids", [np.arange(100_000), np.array([hash64(str(i)) for i in range(100_000)])])
def test_splits_are_eighty_ten_ten(ids):
    shares = {split: n / len(ids) for split, n in collections.Counter(split_of(ids, "qpr").to_pylist()).items()}
    # standard deviations: sqrt(.8 * .2 / 1e5) = .0013 and sqrt(.1 * .9 / 1e5) = .0009
    assert shares == pytest.approx({"train": 0.8, "validation": 0.1, "test": 0.1}, abs=0.004)


def test_a_cluster_keeps_its_split_whatever_else_there_is():
    ids = np.arange(-500, 500)
    alone = [split_of(ids[i : i + 1], "qpr")[0].as_py() for i in range(len(ids))]
    assert split_of(ids, "qpr").to_pylist() == alone
    assert split_of(ids[::-1], "qpr").to_pylist() == alone[::-1]


def test_another_salt_gives_another_split():
    ids = np.arange(1_000)
    changed = np.mean(np.array(split_of(ids, "a").to_pylist()) != np.array(split_of(ids, "b").to_pylist()))
    assert changed == pytest.approx(1 - (0.8**2 + 0.1**2 + 0.1**2), abs=0.06)  # .34 differ by chance


def test_places_lie_in_the_unit_interval_and_extremes_are_ids_too():
    places = uniform(np.array([-(2**63), -1, 0, 1, 2**63 - 1]), "qpr")
    assert places.dtype == np.float64
    assert ((places >= 0) & (places < 1)).all()


def test_no_clusters_have_no_splits():
    assert split_of(np.zeros(0, np.int64), "qpr").to_pylist() == []


@pytest.mark.parametrize("answers", [3, 5, 10, 40])
def test_the_salt_for_few_answers_leaves_no_split_empty_and_no_other_has_more_in_train(answers):
    ids = np.array([hash64(f"text:answer {i}") for i in range(answers)])
    counts = [collections.Counter(split_of(ids, str(salt)).to_pylist()) for salt in range(100)]
    full = {salt: found["train"] for salt, found in enumerate(counts) if len(found) == 3}
    chosen = filling_salt(np.repeat(ids, 2))
    assert chosen == str(max(full, key=full.get))
    assert filling_salt(ids[:2]) is None
