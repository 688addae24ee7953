import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from model.confidence.features import NAMES, NEIGHBOURS, features, overlaps, standings

IDF = np.array([1, 2, 4, 8, 0], np.float32)  # four words, then no word


def padded(*rows):
    return np.array([[*row, *[4] * (5 - len(row))] for row in rows], np.int32)


def one_hit(query, hit):
    found = overlaps(padded(query), padded(hit)[None], IDF)
    return {name: values[0, 0] for name, values in found.items()}


def test_shared_words_weigh_by_their_rarity_and_differing_ones_are_counted_on_each_side():
    found = one_hit([0, 1, 3], [3, 2])
    assert found["shared"] == pytest.approx(8 / 11)
    assert found["shared_of_hit"] == pytest.approx(8 / 12)
    assert (found["differing"], found["differing_of_hit"]) == (2, 1)
    assert found["length"] == pytest.approx(np.log(3))


def test_padding_is_no_shared_word():
    found = one_hit([0], [1])
    assert (found["shared"], found["shared_of_hit"], found["differing"]) == (0, 0, 1)
    assert one_hit([], [])["shared"] == 0


def test_a_margin_is_to_the_nearest_hit_of_another_cluster():
    distances, clusters = np.array([[0.1, 0.2, 0.5, 0.9]]), np.array([[7, 7, -3, 8]])
    found = standings(distances, clusters, np.arange(4)[None])
    assert found["margin"][0] == pytest.approx([0.4, 0.3, -0.4, -0.8])
    assert found["mates"][0] == pytest.approx([1 / 3, 1 / 3, 0, 0])
    assert found["support"][0] == pytest.approx([0.72, 0.72, 0.16, 0.12])  # of 1 + 1/2 + 1/3 + 1/4
    assert found["isolation"][0] == pytest.approx([0.8, 0.7, 0.4, 0])
    assert found["alone"][0].tolist() == [0, 0, 1, 0]
    assert found["rank"][0, :2] == pytest.approx([0, np.log(2)])


def test_padding_is_no_neighbour():
    whole = standings(np.array([[0.1, 0.4]]), np.array([[1, 2]]), np.array([[0, 1]]))
    padding = np.array([[0.1, 0.4, np.inf]]), np.array([[1, 2, -1]])
    for name, values in standings(*padding, np.array([[0, 1]])).items():
        assert values.tolist() == whole[name].tolist(), name


def test_hits_of_one_cluster_only_have_the_last_as_their_margin():
    found = standings(np.array([[0.1, 0.4]]), np.array([[5, 5]]), np.array([[0]]))
    assert found["margin"].tolist() == [[pytest.approx(0.3)]]


def test_hits_beyond_the_neighbours_do_not_change_those_before():
    distances = np.linspace(0, 1, NEIGHBOURS + 30)[None]
    clusters = np.arange(NEIGHBOURS + 30)[None] // 2
    places = np.arange(5)[None]
    for name, values in standings(distances, clusters, places).items():
        expected = standings(distances[:, :NEIGHBOURS], clusters[:, :NEIGHBOURS], places)[name]
        assert values.tolist() == expected.tolist(), name


def test_a_hit_behind_the_neighbours_is_none_of_them():
    distances = np.linspace(0, 1, NEIGHBOURS + 2)[None]
    clusters = np.array([[7, *range(-NEIGHBOURS, -1), 7, 7]])  # the first hit, and two behind the neighbours
    found = standings(distances, clusters, np.array([[0, NEIGHBOURS, NEIGHBOURS + 1]]))
    assert found["mates"].tolist() == [[0, 1 / NEIGHBOURS, 1 / NEIGHBOURS]]
    assert len(set(found["support"][0])) == 1


words_of_a_question = st.lists(st.integers(0, 3), max_size=5)
query_and_hits = st.tuples(words_of_a_question, st.lists(words_of_a_question, min_size=3, max_size=3))


@given(st.lists(query_and_hits, min_size=1, max_size=4))
def test_each_query_has_the_features_that_it_has_alone(asked):
    n = len(asked)
    distances = np.sort(np.random.default_rng(0).random((n, 3)), axis=1)
    clusters = np.arange(3 * n).reshape(n, 3) // 2
    places = np.tile(np.arange(3), (n, 1))
    words = padded(*(query for query, _ in asked)), np.stack([padded(*hits) for _, hits in asked])
    table = features(distances, clusters, places, words, IDF)
    assert table.shape == (n, 3, len(NAMES))
    for i in range(n):
        part = slice(i, i + 1)
        single = features(distances[part], clusters[part], places[part], (words[0][part], words[1][part]), IDF)
        np.testing.assert_array_equal(table[part], single)
