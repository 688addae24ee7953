import tracemalloc

import numpy as np
import pytest
from scipy import sparse

from pipelines.linkage.comparison import pair_features
from pipelines.linkage.comparison.blocking import ALL_PAIRS
from pipelines.linkage.comparison.compare import Questions, compare, compare_all
from pipelines.linkage.comparison.pair_features import NAMES, distribution, features_in_parts, shared
from pipelines.linkage.comparison.part_weights import Parts
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


def test_features_do_not_depend_on_how_many_pairs_are_in_memory(members_of, monkeypatch: pytest.MonkeyPatch) -> None:
    members = members_of([f"what is the name of city{i % 9}{i}" for i in range(40)])
    whole = compare_all(Questions(members, merge([])))
    monkeypatch.setattr(pair_features, "AT_ONCE", 100)
    parts = compare_all(Questions(members, merge([])))
    assert len(whole.left) > 500
    assert whole.features.tobytes() == parts.features.tobytes()


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
    answer_of_row, events = np.zeros(rows, np.int64), np.ones(rows)
    found = (
        features_in_parts(words, left, left + 1, answer_of_row=answer_of_row, events=events)
        for left in (np.arange(5), np.arange(20))
    )
    one, two = (features for ((_, features),) in found)
    for name in ("answer_spread", "answer_median", "answer_mean"):
        assert one[0, NAMES.index(name)] == two[0, NAMES.index(name)] > 0


def test_sums_of_long_questions_without_compiled_loops_take_memory_of_few_pairs(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("QPR_COMPILED", "0")
    draw = np.random.default_rng(0)
    rows = sparse.csr_array(draw.random((20, 2_000)) < 0.5, dtype=np.int8)
    parts = Parts(
        rows, np.arange(2_000), np.ones(2_000, np.int64), *draw.random((3, 2_000)), np.ones((20, 3)), np.arange(2_000)
    )
    left, right = draw.integers(0, 20, (2, 1_000))
    whole = shared(parts, left, right)
    monkeypatch.setattr(pair_features, "CHUNK_PARTS", 2**14, raising=False)
    tracemalloc.start()
    in_chunks = shared(parts, left, right)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert in_chunks.tobytes() == whole.tobytes()
    assert peak < 10**6  # the 2,000,000 parts of all pairs take 5 bytes each and more
