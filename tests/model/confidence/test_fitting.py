import numpy as np
import pytest

from model.confidence.examples import Examples
from model.confidence.features import NAMES, SIGNS
from model.confidence.fitting import first_hits, fold_models, folds_of, learn, out_of_fold
from model.confidence.quality import quality
from schemas.errors import QprError


def drawn(clusters, *, noise=0.0):
    random = np.random.default_rng(0)
    m = clusters * 4
    table = random.random((m, 6, len(NAMES)))
    chance = 1 / (1 + np.exp(8 * (table[:, :, NAMES.index("distance")] - 0.5)))
    right = random.random((m, 6)) < np.where(random.random((m, 1)) < noise, 0.5, chance)
    return Examples(table, np.ones((m, 6), bool), right, np.arange(m) % clusters, np.ones(m, bool))


def cross_validated(found):
    return out_of_fold(found, fold_models(found))


def test_probabilities_of_other_clusters_are_calibrated():
    found = drawn(200)
    measured = quality(cross_validated(found), found.right[:, 0])
    assert measured.auc > 0.8
    assert measured.calibration_error < 0.1


def test_a_cluster_is_judged_by_models_that_did_not_see_it():
    found = drawn(40)
    flipped = found.right.copy()
    flipped[found.groups == 0] ^= True
    other = Examples(**{**vars(found), "right": flipped})
    ours, theirs = cross_validated(found), cross_validated(other)
    assert ours[found.groups == 0].tolist() == theirs[found.groups == 0].tolist()
    assert (ours != theirs).any()


def test_what_is_learned_goes_in_the_direction_of_each_feature():
    model = learn(drawn(200, noise=0.5))
    assert tuple(model.curves) == NAMES
    for name, curve in model.curves.items():
        assert (SIGNS[name] * np.diff(curve.log_odds) >= 0).all() or SIGNS[name] == 0


@pytest.mark.parametrize("share", [0.1, 0.5, 0.9])
def test_probabilities_fit_the_share_of_queries_with_an_answer(share):
    found = drawn(400)
    answerable = np.random.default_rng(1).random(len(found.groups)) < 0.5
    found = Examples(**{**vars(found), "right": found.right & answerable[:, None], "answerable": answerable})
    stated = first_hits(learn(found, answerable_share=share), found)
    weights = found.weights(share)
    assert np.average(answerable, weights=weights) == pytest.approx(share, abs=0.05)
    expected = np.average(found.right[:, 0], weights=weights)
    assert np.average(stated, weights=weights) == pytest.approx(expected, abs=0.03)


def test_each_of_four_lower_hits_counts_a_fifth_of_the_first():
    random = np.random.default_rng(0)
    right = random.random((2_000, 6)) < np.array([0.8, *[0.2] * 4, 1])  # the sixth does not count
    table = random.random((*right.shape, len(NAMES)))
    found = Examples(table, np.ones_like(right), right, np.arange(len(right)), np.ones(len(right), bool))
    expected = (0.8 + 4 * 0.2 * 0.2) / (1 + 4 * 0.2)
    assert first_hits(learn(found), found).mean() == pytest.approx(expected, abs=0.02)


def test_a_query_without_hits_has_no_chance():
    found = drawn(40)
    found.there[3] = False
    assert first_hits(learn(found), found)[3] == 0


def test_too_few_clusters_are_refused():
    found = drawn(25)
    five, four = (Examples(**{**vars(found), "groups": np.arange(100) % clusters}) for clusters in (5, 4))
    assert [int(fold.sum()) for fold in folds_of(five)] == [20] * 5
    for few, fault in ((drawn(20), "80 queries of 20"), (four, "100 queries of 4")):
        with pytest.raises(QprError, match=f"{fault} clusters in split validation; 100 of 5 are needed"):
            next(folds_of(few))
