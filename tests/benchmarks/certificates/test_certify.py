import numpy as np
import pytest

from benchmarks.certificates.certify import best_share, by_mapie, divided, sheet
from model.certificates.settings import Promise
from schemas.errors import UsageError


def test_the_best_share_is_that_of_the_lowest_threshold_with_few_enough_wrong():
    wrong = np.array([False, False, True, False, True, True])
    scores = np.array([0.9, 0.8, 0.7, 0.6, 0.5, 0.4])
    assert best_share(scores, wrong, 0.25) == 4 / 6
    assert best_share(scores, wrong, 0.0) == 2 / 6
    assert best_share(scores, ~wrong, 0.0) == 0


def test_certificates_of_random_parts_answer_the_rest_below_the_best_share():
    rng = np.random.default_rng(0)
    scores = rng.random(3_000)
    wrong = rng.random(3_000) < np.where(scores > 0.5, 0.01, 0.9)
    cells = divided(scores, wrong, Promise(alpha=0.05, delta=0.1), judged=0.7, repeats=20, seed=1)
    assert cells["certified"] == 1
    assert 0.4 <= cells["answered"] <= cells["answered_at_most"] + 0.02
    assert cells["wrong_on_the_rest"] <= 0.05
    never = divided(scores, np.ones(3_000, bool), Promise(alpha=0.05), judged=0.7, repeats=3, seed=1)
    assert never["answered"] == never["answered_at_most"] == never["broken"] == 0


def test_mapie_certifies_nothing_without_a_threshold_to_test():
    pytest.importorskip("mapie", reason="mapie is not installed")
    row = by_mapie("rising slowly", Promise(alpha=0.02), sample=50, draws=3, seed=0)
    assert (row["certified"], row["answered"], row["broken"]) == (0, 0, 0)


def test_mapie_answers_about_as_much_and_keeps_the_promise():
    pytest.importorskip("mapie", reason="mapie is not installed")
    row = by_mapie("rising slowly", Promise(alpha=0.05, delta=0.1), sample=1_200, draws=10, seed=2)
    assert row["certified"] >= 0.6
    assert row["broken"] <= 0.3


def test_a_folder_is_no_file_for_a_sheet(tmp_path):
    with pytest.raises(UsageError, match="is a folder"):
        sheet(dataset="none", index="none", output=tmp_path)
