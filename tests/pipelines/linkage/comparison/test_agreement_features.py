"""Features of pairs from their neighbours of other answers."""

import numpy as np
import pytest

from pipelines.linkage.comparison.agreement_features import (
    AGREEMENT,
    AGREEMENT_OF_WORDS,
    SMALL_LOG,
    agreement_features,
)
from pipelines.linkage.comparison.compare import Questions, compare
from pipelines.linkage.comparison.pair_features import NAMES
from pipelines.linkage.log_profile import profile_of
from pipelines.linkage.scoring.shipped_weights import tree_features
from pipelines.linkage.standings import LogAgreement
from pipelines.linkage.witnesses import Witnesses, evidence_among, find_witnesses
from pipelines.neighbours.similarity import question_vectors, similarities
from pipelines.questions.token_frequencies import count_tokens

LOG = LogAgreement(8, 5)


@pytest.fixture
def members(members_of):
    return members_of(["pay my bill", "pay the bill", "cancel it"])


def table(
    members, other: list[list[float]], log: LogAgreement = LOG, questions: int = SMALL_LOG
) -> dict[str, np.ndarray]:
    vectors = question_vectors(members["text"], count_tokens(members["token_ids"]))
    same, others = np.zeros((2, len(members), 20), np.float32)
    same[:, 0] = 0.3
    for row, values in enumerate(other):
        others[row, : len(values)] = values
    witnesses = Witnesses(vectors, same, others, np.full(len(members), 0.5), log)
    left, right = np.array([0]), np.array([1])
    rows = np.zeros(len(members), np.int64)
    found = agreement_features(witnesses, left, right, answer_of_row=rows, questions=questions)
    assert found.shape == (1, len(AGREEMENT))
    return dict(zip(AGREEMENT, found[0].tolist(), strict=True))


def test_agreement_is_the_share_of_the_answer_among_those_at_least_as_near(members) -> None:
    found = table(members, [[0.99, 0.9], [0.01]])
    assert (found["agreement_min"], found["agreement_max"]) == pytest.approx((1 / 3, 1))
    assert found["agreement_mean"] == pytest.approx(2 / 3)
    assert found["others_nearer_max"] == pytest.approx(np.log1p(2))


def test_margins_are_to_the_nearest_and_the_fifth_other_question(members) -> None:
    vectors = question_vectors(members["text"], count_tokens(members["token_ids"]))
    pair = float(similarities(vectors, np.array([0]), np.array([1]))[0])
    found = table(members, [[0.9, 0.8, 0.7, 0.6, 0.5], []])
    assert found["similarity"] == pytest.approx(pair)
    assert (found["above_others_min"], found["above_others_max"]) == pytest.approx((pair - 0.9, pair))
    assert (found["above_fifth_min"], found["above_fifth_max"]) == pytest.approx((pair - 0.5, pair))


def test_with_all_known_neighbours_nearer_only_the_pair_itself_agrees(members) -> None:
    assert table(members, [[1.0] * 20, []])["agreement_min"] == pytest.approx(1 / 21)


def test_a_pair_has_the_means_of_the_log_and_of_answers_of_its_size(members) -> None:
    same, other = np.full((4, 20), 0.2, np.float32), np.full((4, 20), 0.1, np.float32)
    profile = profile_of(same, other, np.array([True, True, False, False]), np.array([3, 3, 2, 2]))
    found = table(members, [[0.9], [0.9], [0.1]], LogAgreement(8, 5, profile=profile))
    assert found["log_agreement"] == pytest.approx(0.6)
    assert found["log_outranked"] == pytest.approx((0 + 1) / (4 + 2))
    # an answer of three questions: both of its size agree, and 20 more count with the mean of the log, 3 of 6
    assert found["size_agreement"] == pytest.approx((2 + 20 * 0.5) / (2 + 20))
    assert found["size_mate_1"] == pytest.approx((0.4 + 20 * (0.8 + 1) / 6) / 22)


def test_a_log_is_small_below_a_number_of_questions(members) -> None:
    small = [table(members, [[0.9]], questions=questions)["small_log"] for questions in (SMALL_LOG - 1, SMALL_LOG)]
    assert small == [1, 0]


def test_the_features_follow_those_of_the_words(members) -> None:
    weights = count_tokens(members["token_ids"])
    witnesses = find_witnesses(members, weights)
    (plain,), (both,) = compare(Questions(members, weights)), compare(Questions(members, weights, witnesses=witnesses))
    assert np.array_equal(both.features[:, : len(NAMES)], plain.features)
    assert both.features.shape[1] == len(NAMES) + len(AGREEMENT)


def test_features_by_words_follow_those_by_vectors(members) -> None:
    weights = count_tokens(members["token_ids"])
    evidence = evidence_among(members, weights, lambda texts: np.eye(len(texts), 4) + 1, words_too=True)
    witnesses = find_witnesses(members, weights, evidence)
    vectors = evidence.vectors_of(members)
    (both,) = compare(Questions(members, weights, vectors, witnesses))
    (plain,) = compare(Questions(members, weights, witnesses=find_witnesses(members, weights)))
    names = tree_features(cosine=True, words_too=True)
    by_words = both.features[:, [names.index(name) for name in AGREEMENT_OF_WORDS]]
    assert np.array_equal(by_words, plain.features[:, len(NAMES) : len(NAMES) + len(AGREEMENT_OF_WORDS)])
    assert both.features.shape[1] == len(names)
    assert not np.array_equal(both.features[:, len(NAMES)], by_words[:, 0])
