import itertools

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pipelines.calibration.calibrate import (
    LINKAGE,
    THRESHOLDS,
    Point,
    best,
    calibrate,
    precision_recall,
    threshold_for,
)
from pipelines.calibration.gold_labels import Gold
from pipelines.linkage.comparison.compare import Questions
from pipelines.linkage.scoring.shipped_weights import model_of
from pipelines.linkage.split_answers import link
from pipelines.questions.token_frequencies import count_tokens
from schemas.errors import QprError
from schemas.tables import COHERENCE_COLUMNS

THINGS = ["bill", "flight", "queen", "tower", "river", "train", "ticket", "garden", "letter", "bridge", "museum", "cat"]
FORMS = ["how do i find the {}", "how can i find the {}", "where is the {}", "where do i see the {}", "the {} where"]
rows = st.lists(st.tuples(st.integers(0, 3), st.integers(0, 2), st.integers(0, 2)), max_size=12)


@given(rows)
def test_precision_and_recall_count_pairs_within_answers(rows):
    answer = np.array([a for a, _, _ in rows], np.int64)
    group = np.array([10 * a + g for a, g, _ in rows], np.int64)
    cluster = np.array([c for _, _, c in rows], np.int64)
    pairs = list(itertools.combinations(range(len(rows)), 2))
    found = {p for p in pairs if group[p[0]] == group[p[1]]}
    true = {p for p in pairs if cluster[p[0]] == cluster[p[1]] and answer[p[0]] == answer[p[1]]}
    expected = (len(found & true) / len(found) if found else 1, len(found & true) / len(true) if true else 1)
    assert precision_recall(group, cluster, answer) == pytest.approx(expected)


def test_the_threshold_with_the_best_recall_that_reaches_the_precision_is_chosen():
    curve = [Point(0.1, 0.5, 1.0), Point(0.2, 0.96, 0.8), Point(0.3, 0.94, 0.8), Point(0.4, 0.99, 0.6)]
    assert threshold_for(curve, 0.95).threshold == 0.2
    assert threshold_for(curve, 0.97).threshold == 0.4
    assert threshold_for(curve, 0.0).threshold == 0.1
    with pytest.raises(QprError, match=r"no threshold reaches precision 0\.995; the best is 0\.990 \(recall 0\.600\)"):
        threshold_for(curve, 0.995)
    assert best(curve).threshold == 0.2


def test_a_threshold_that_keeps_nothing_is_no_answer():
    with pytest.raises(QprError, match=r"the best is 0\.700"):
        threshold_for([Point(0.1, 0.7, 0.2), Point(0.9, 1.0, 0.0)], 0.9)


@pytest.fixture
def log(members_of):
    """Return answers that hold four things each, with the truth."""
    chosen = np.random.default_rng(0)
    answers = []
    for _ in range(40):
        things = chosen.choice(THINGS, 4, replace=False)
        answers.append([form.format(thing) for thing in things for form in FORMS])
    members = members_of(*answers)
    thing = [THINGS.index(next(t for t in THINGS if t in text)) for text in members["text"].to_pylist()]
    return Gold(members, np.array(thing, np.int64), count_tokens(members["token_ids"]))


def test_weights_come_from_one_half_and_figures_from_the_other(log):
    found = calibrate(log, kind="logistic")
    assert set(found.curves) == {LINKAGE, *COHERENCE_COLUMNS.values()}
    assert all([point.threshold for point in curve] == list(THRESHOLDS) for curve in found.curves.values())
    assert found.counts["questions"] == 40 * 20
    assert found.counts["pairs_learned_from"] + found.counts["pairs_measured"] == 40 * 190
    assert found.counts["paraphrases_measured"] * 19 == found.counts["pairs_measured"] * 4
    point = best(found.curves[LINKAGE])
    assert found.weights["threshold"] == point.threshold
    assert point.precision > 0.95  # words of things alone tell them apart
    assert max(p.precision for p in found.curves["coherence"] if p.recall > 0) < 0.5  # no answer is one cluster
    model = model_of(found.weights, source="found")
    group = link(Questions(log.members, log.weights), model).group
    assert precision_recall(group, log.cluster, log.members["answer_id"].to_numpy())[0] > 0.9
    assert calibrate(log, kind="logistic") == found
    assert calibrate(log, kind="logistic", seed=1).counts != found.counts


def test_vectors_are_compared_where_there_is_an_encoder(log):
    def encode(texts):
        return np.eye(len(THINGS))[[THINGS.index(next(t for t in THINGS if t in text)) for text in texts.to_pylist()]]

    found = calibrate(log, kind="logistic", encode=encode)
    assert found.weights["cosine"] is True
    assert best(found.curves[LINKAGE]).precision == 1.0


@pytest.mark.parametrize("answers", [[], [["who is it", "who is it now"]], [["a b", "c d"]] * 3])
def test_too_few_labelled_pairs_are_an_error_that_states_how_many(members_of, answers):
    members = members_of(*answers)
    log = Gold(members, np.zeros(len(members), np.int64), count_tokens(members["token_ids"]))
    with pytest.raises(QprError, match=r"the logs are too few: \d+ pairs? of .* at least 50 needed"):
        calibrate(log, kind="logistic")
