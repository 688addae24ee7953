import collections
import itertools

import numpy as np
import pytest

from pipelines.calibration.verdicts.draws import OTHERS, Sampler
from pipelines.calibration.verdicts.population import read_population
from pipelines.calibration.verdicts.threshold_test import KEPT_DRAWS, OTHER_DRAWS
from schemas.errors import QprError
from schemas.text import question_id

CLUSTERS = [
    ("paris", 0.9, ["capital of france", "french capital", "what is the capital of france"]),
    ("paris", 0.99, ["where did chopin die", "chopin place of death"]),
    ("rome", 0.95, ["capital of italy", "italian capital"]),
    ("blue", 0.5, ["colour of the sky", "sky colour", "what colour has the sky", "which colour is the sky"]),
]
REJECTED = [
    ("paris", "city of light", "linkage", "no_paraphrase"),
    ("rome", "eternal city", "coherence", "incoherent"),
    ("rome", "alone", "size", "single_question"),
    ("rome", "leaked", "leakage", "same_words_in_train"),
    ("oslo", "capital of norway", "linkage", "no_paraphrase"),
]


@pytest.fixture
def sampler(make_dataset):
    dataset = make_dataset(CLUSTERS, REJECTED)
    return Sampler(dataset, read_population(dataset))


def all_pairs():
    """Return kept and other pairs as sets of texts."""
    kept = {frozenset(pair) for _, _, texts in CLUSTERS for pair in itertools.combinations(texts, 2)}
    of_answer = collections.defaultdict(list)
    for answer, _, texts in CLUSTERS:
        of_answer[answer] += texts
    of_answer["paris"].append("city of light")
    of_answer["rome"].append("eternal city")
    every = {frozenset(pair) for texts in of_answer.values() for pair in itertools.combinations(texts, 2)}
    return kept, every - kept


def test_pairs_are_kept_or_of_one_answer_in_different_groups(sampler):
    kept, others = all_pairs()
    assert sampler.population.pairs.sum() == len(kept)
    assert sampler.population.other_pairs.sum() == len(others)
    assert sampler.population.probability.tolist() == [0.99, 0.95, 0.9, 0.5]


def test_every_pair_of_a_stratum_is_drawn_equally_often(sampler):
    draws = list(itertools.islice(sampler.draws(), 8_000))
    times = collections.Counter()
    for draw, pair in zip(draws, sampler.pairs(draws), strict=True):
        assert pair.question_ids == tuple(sorted(question_id(text) for text in pair.texts))
        assert (pair.cluster_id is None) == (draw.stratum == OTHERS)
        times[draw.stratum == OTHERS, frozenset(pair.texts)] += 1
    kept, others = all_pairs()
    assert {pair for other, pair in times if not other} == kept
    assert {pair for other, pair in times if other} == others
    for other, pairs, number in ((False, kept, 6_000), (True, others, 2_000)):
        expected = number / len(pairs)
        counts = np.array([times[other, pair] for pair in pairs])
        assert np.abs(counts - expected).max() < 5 * np.sqrt(expected)


def test_blocks_hold_each_part_of_the_ranking_once(sampler):
    draws = itertools.islice(sampler.draws(), 80)
    for number, block in itertools.groupby(draws, key=lambda draw: draw.block):
        strata = sorted(draw.stratum for draw in block)
        assert strata == [*range(KEPT_DRAWS), *[OTHERS] * OTHER_DRAWS], number


def test_the_sequence_depends_on_dataset_and_seed_alone(sampler, make_dataset):
    again = make_dataset(CLUSTERS, REJECTED)
    first = list(itertools.islice(sampler.draws(), 100))
    assert first == list(itertools.islice(Sampler(again, read_population(again)).draws(), 100))
    assert first != list(itertools.islice(Sampler(again, read_population(again), seed=1).draws(), 100))
    assert first[:50] == list(itertools.islice(sampler.draws(), 50))


def test_a_log_whose_answers_have_one_cluster_each_has_no_other_pairs(make_dataset):
    dataset = make_dataset(CLUSTERS[2:])
    draws = list(itertools.islice(Sampler(dataset, read_population(dataset)).draws(), 60))
    assert OTHERS not in {draw.stratum for draw in draws}
    assert draws[-1].block == 9


def test_a_cluster_of_many_questions_is_drawn_from_evenly(make_dataset):
    texts = [f"question {number}" for number in range(60)]
    dataset = make_dataset([("yes", 0.8, texts)])
    sampler = Sampler(dataset, read_population(dataset))
    draws = list(itertools.islice(sampler.draws(), 6_000))
    assert all(0 <= draw.left[1] < draw.right[1] < 60 for draw in draws)
    of_question = np.bincount([place for draw in draws for place in (draw.left[1], draw.right[1])], minlength=60)
    assert np.abs(of_question - 200).max() < 5 * np.sqrt(200)


def test_a_dataset_without_probabilities_is_refused(make_dataset):
    with pytest.raises(QprError, match="no linkage_probability"):
        read_population(make_dataset([("yes", None, ["a", "b"])]))
    with pytest.raises(QprError, match=r"has no cluster.*lists the reasons"):
        read_population(make_dataset([]))
