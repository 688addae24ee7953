import collections
import dataclasses

import numpy as np
import pyarrow as pa
import pytest

from benchmarks.labels.silver_scores import score
from benchmarks.logs.cluster_sources import Source, divide
from benchmarks.logs.silver_logs import (
    ALONE,
    MERGED,
    TWO_IN_ONE,
    UNRELATED,
    FewClustersError,
    SilverLog,
    merged_log,
    of_several,
    thinned,
)
from schemas.text_arrays import hash64_all, key_all

WORDS = ("river", "mountain", "city", "planet")


def source(*, alike: int = 1) -> Source:
    """Return 400 clusters of two to four questions, ``alike`` of them about one subject, and strays."""
    texts, clusters = [], []
    for number in range(400):
        word = WORDS[number % 4]
        size = 2 + number % 3
        clusters.append(np.arange(len(texts), len(texts) + size))
        texts += [f"what about the {word} subject{number // alike} wording{number}v{i}" for i in range(size)]
    strays = np.arange(len(texts), len(texts) + 1_200)
    texts += [f"stray{n} about the {WORDS[n % 4]} subject{n % 400 // alike}" for n in range(len(strays))]
    array = pa.array(texts)
    words = [frozenset(text.split()) for text in texts]
    return Source(array, words, hash64_all(key_all(array)).to_numpy(), clusters, strays)


def shared_words(log: SilverLog, kind: int) -> list[set[str]]:
    """Return for each answer of a kind the words that all its questions have."""
    words = collections.defaultdict(list)
    for answer, text, of in zip(log.members["answer_id"].to_pylist(), log.members["text"].to_pylist(), log.kind):  # noqa: B905
        if of == kind:
            words[answer].append(set(text.split()))
    return [set.intersection(*sets) for sets in words.values()]


def test_of_a_hundred_clusters_seventy_are_alone_and_ten_two_in_one() -> None:
    log = merged_log(source(), seed=0, alike="nothing")
    clusters = {kind: len(np.unique(log.gold[log.kind == kind])) for kind in (ALONE, TWO_IN_ONE, MERGED)}
    assert (clusters[ALONE], clusters[TWO_IN_ONE]) == (280, 40)
    assert clusters[MERGED] == 2 * 80  # a stray for each cluster
    assert len(np.unique(log.members["answer_id"].to_numpy()[log.kind == UNRELATED])) == 40


def test_what_shares_an_answer_shares_a_word_strays_included() -> None:
    log = merged_log(source(), seed=0, alike="frequent")
    for kind in (TWO_IN_ONE, MERGED):
        assert all(shared & set(WORDS) for shared in shared_words(log, kind))
    assert any(
        not shared & set(WORDS) for shared in shared_words(merged_log(source(), seed=0, alike="nothing"), MERGED)
    )


def test_the_rarest_word_that_all_questions_of_a_cluster_have_decides() -> None:
    log = merged_log(source(alike=8), seed=0, alike="rarest")  # subject17 is rarer than river
    for kind in (TWO_IN_ONE, MERGED):
        assert all(any(w.startswith("subject") for w in shared) for shared in shared_words(log, kind) if len(shared))
    with pytest.raises(FewClustersError, match="no two clusters"):
        merged_log(source(), seed=0, alike="rarest")  # each has a subject of its own


def test_too_few_clusters_for_a_frequent_word_are_an_error() -> None:
    few = dataclasses.replace(source(), clusters=source().clusters[:40])
    with pytest.raises(FewClustersError, match="no two clusters"):
        merged_log(few, seed=0, alike="frequent")


def test_parts_share_no_cluster_and_lose_none() -> None:
    every = source()
    rest, part = divide(every, part=1, parts=3)
    assert len(rest.clusters) + len(part.clusters) == 400
    assert not {c[0] for c in rest.clusters} & {c[0] for c in part.clusters}
    assert sorted([*rest.strays, *part.strays]) == sorted(every.strays)


@pytest.mark.parametrize("alike", ["nothing", "frequent"])
def test_gold_groups_are_right_and_whole_answers_are_not(alike) -> None:
    log = merged_log(source(), seed=0, alike=alike)
    assert score(log, log.gold) == (1, 1, 0, 0)
    whole = np.unique(log.members["answer_id"].to_numpy(), return_inverse=True)[1]
    found = score(log, whole)
    assert (found.recall, found.unrelated, found.whole) == (1, 1, 1)
    assert found.precision < 0.5


def clusters_of(log: SilverLog) -> dict[int, collections.Counter[int]]:
    """Return how many questions of each cluster an answer has."""
    found: dict[int, collections.Counter[int]] = collections.defaultdict(collections.Counter)
    for answer, gold in zip(log.members["answer_id"].to_pylist(), log.gold.tolist(), strict=True):
        found[answer][gold] += 1
    return found


def test_only_answers_of_several_clusters_are_left_and_whole() -> None:
    log = merged_log(source(), seed=0, alike="nothing")
    before, after = clusters_of(log), clusters_of(of_several(log))
    assert after == {answer: clusters for answer, clusters in before.items() if len(clusters) > 1}
    assert 0 < len(after) < len(before)


def test_half_of_the_answers_keep_one_question_of_each_cluster_and_the_others_all() -> None:
    log = merged_log(source(), seed=0, alike="nothing")
    before, after = clusters_of(log), clusters_of(thinned(log, seed=1))
    assert all(after[answer].keys() == clusters.keys() for answer, clusters in before.items())
    thin = {answer for answer, clusters in after.items() if clusters != before[answer]}
    assert all(set(after[answer].values()) == {1} for answer in thin)
    several = [answer for answer, clusters in before.items() if max(clusters.values()) > 1]
    assert 0.35 < len(thin) / len(several) < 0.65
    assert clusters_of(thinned(log, seed=1)) == after != clusters_of(thinned(log, seed=2))
