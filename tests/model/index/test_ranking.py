import numpy as np

from model.index.ranking import Ranking, places
from tests.support.rankings import ranking


def test_a_question_moves_to_the_first_rank_and_the_others_keep_their_order():
    found = ranking([1, 2, 3], [4, 5, 6], [7, -1, -1], [-1, -1, -1])
    ids = np.array([3, 9, 8, 2])
    first = found.with_first(ids, np.array([3, 9, -1, 2]), 3)
    assert first.ids.tolist() == [[3, 1, 2], [9, 4, 5], [7, -1, -1], [2, -1, -1]]
    assert first.rows.tolist() == first.ids.tolist()
    assert np.isneginf(first.scores).tolist() == (first.ids < 0).tolist()
    assert (np.diff(np.where(first.found, first.scores, -9), axis=1) <= 0).all()


def test_a_question_at_the_first_rank_stays_there():
    found = Ranking(np.array([[4, 2], [7, 8]]), np.array([[-1, -2], [-3, -4]], np.float32), np.array([[0, 1], [5, 6]]))
    for rows in ([0, 5], [0, -1]):
        first = found.with_first(np.array([4, 7]), np.array(rows), 2)
        assert (first.ids.tolist(), first.rows.tolist()) == (found.ids.tolist(), found.rows.tolist())
        assert first.scores.tolist() == found.scores.tolist()
    moved = found.with_first(np.array([4, 8]), np.array([0, 6]), 2)
    assert moved.ids.tolist() == [[4, 2], [8, 7]]


def test_without_a_first_question_the_ranking_is_cut():
    found = ranking([1, 2, 3])
    assert found.with_first(np.array([5]), np.array([-1]), 2).ids.tolist() == [[1, 2]]


def test_places_are_ranks_in_another_ranking_and_0_where_it_lacks_the_id():
    one, other = np.array([[1, 7, -1], [4, 5, 6]]), np.array([[7, 3, 1, -1], [6, -1, -1, -1]])
    assert places(one, other).tolist() == [[3, 1, 0], [0, 0, 1]]
    assert places(one, other[:, :0]).tolist() == [[0, 0, 0], [0, 0, 0]]
    first = np.array([[7, 3], [6, -1]])
    assert places(first, other).tolist() == [[1, 2], [1, 0]]
