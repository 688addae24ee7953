import itertools

import numpy as np
import pytest

from pipelines.linkage.comparison.blocking import ALL_PAIRS
from pipelines.linkage.comparison.compare import Questions, compare
from pipelines.linkage.comparison.pair_features import NAMES, distribution, features, rivals
from pipelines.linkage.comparison.tokenization import wording
from pipelines.questions.token_frequencies import MIN_QUESTIONS, count_tokens, merge
from schemas.stems import stem
from schemas.text import key, tokens


def columns(members, weights=None) -> tuple[list[tuple[str, str]], dict[str, np.ndarray]]:
    (compared,) = compare(Questions(members, weights or merge([])))
    texts = members["text"].to_pylist()
    pairs = [(texts[i], texts[j]) for i, j in zip(compared.left, compared.right, strict=True)]
    return pairs, dict(zip(NAMES, compared.features.T, strict=True))


def stems_of(text: str) -> set[str]:
    return {stem(word) for word in tokens(key(text))}


QUESTIONS = ["How tall is the tower?", "what is the height of the tower", "How tall are towers in 1999?", "is it tall"]


def test_jaccard_is_that_of_stems_where_all_words_weigh_alike(members_of) -> None:
    pairs, found = columns(members_of(QUESTIONS))
    for (one, two), jaccard, count in zip(pairs, found["stems"], found["shared_count"], strict=True):
        both = stems_of(one) & stems_of(two)
        assert jaccard == pytest.approx(len(both) / len(stems_of(one) | stems_of(two)), abs=1e-6)
        assert count == len(both)


def test_a_word_frequent_in_the_log_weighs_less(members_of) -> None:
    members = members_of(["the tower", "the bridge"])
    often = count_tokens(members_of(*[[f"the {i}"] for i in range(50)])["token_ids"])
    # One shared of three equal weights is 1/3; "the" then weighs ln(1 + 1000/50) / ln(1001) = 0.441: 0.441 / 2.441.
    assert MIN_QUESTIONS == 1_000
    assert columns(members)[1]["stems"] == pytest.approx([1 / 3])
    assert columns(members, often)[1]["stems"] == pytest.approx([0.441 / 2.441], abs=1e-3)


def test_a_word_common_in_the_answer_weighs_less_there(members_of) -> None:
    crowd = [f"paris question{i} thing{i}" for i in range(20)]
    _, found = columns(members_of(crowd))
    assert (found["stems_here"] < found["stems"] / 2).all()
    _, alone = columns(members_of(crowd[:2]))  # nobody else to tell that it is common
    assert alone["stems_here"] == pytest.approx(alone["stems"], rel=0.05)


def test_figures_do_not_depend_on_the_order_of_two_questions(members_of) -> None:
    # The rows are ordered by hash; the same two questions beside others of another answer are the same pair.
    _, first = columns(members_of(QUESTIONS[:2]))
    _, second = columns(members_of(QUESTIONS[1::-1]))
    assert all(np.array_equal(first[name], second[name]) for name in NAMES)


def test_different_numbers_are_a_feature(members_of) -> None:
    _, found = columns(members_of(["who won in 1999", "who won in 2003"]))
    assert found["numbers_differ"].tolist() == [2]
    _, found = columns(members_of(["who won in 1999", "who did win in 1999"]))
    assert (found["numbers_differ"].tolist(), found["numbers_shared"].tolist()) == ([0], [1])


def test_a_rival_is_the_best_other_partner() -> None:
    random = np.random.default_rng(0)
    left, right = np.array(list(itertools.combinations(range(7), 2))).T
    alike = random.integers(0, 5, len(left)) / 4  # with ties
    found = rivals(alike, left, right, rows=7)
    for pair, (i, j) in enumerate(zip(left, right, strict=True)):
        for row, best in ((i, found[0][pair]), (j, found[1][pair])):
            others = ((left == row) | (right == row)) & (np.arange(len(left)) != pair)
            assert best == alike[others].max()


def test_texts_without_words_or_stems_are_compared_without_a_warning(members_of) -> None:
    _, found = columns(members_of(["#", "c#", "東京はどこ", "x"]))
    assert all(np.isfinite(values).all() for values in found.values())


def test_the_distribution_of_an_answer_s_resemblances() -> None:
    random = np.random.default_rng(1)
    answer = np.sort(random.choice([0, 2, 3], 50))
    alike = random.random(50).astype(np.float32)
    spread, median, mean = distribution(alike, answer, answers=4)
    for number in (0, 2, 3):
        mine = alike[answer == number]
        assert spread[number] == pytest.approx(mine.std(dtype=float))
        assert mean[number] == pytest.approx(mine.mean(dtype=float))
        assert median[number] == np.sort(mine)[len(mine) // 2]
    assert (spread[1], median[1], mean[1]) == (0, 0, 0)


def test_how_alike_a_large_answer_is_does_not_depend_on_which_pairs_are_compared(members_of) -> None:
    rows = ALL_PAIRS + 1
    members = members_of([f"what is the name of city{i}" for i in range(rows)])
    words = wording(members["text"], np.zeros(rows, np.int64), merge([]))
    one, two = (
        features(words, left, left + 1, answer_of_row=np.zeros(rows, np.int64), events=np.ones(rows))
        for left in (np.arange(5), np.arange(20))
    )
    for name in ("answer_spread", "answer_median", "answer_mean"):
        assert one[0, NAMES.index(name)] == two[0, NAMES.index(name)] > 0
