import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from model.index.factory import (
    FLAT_BELOW,
    LISTS_FROM,
    check_questions,
    default_factory,
    factory_of_codes,
    factory_of_shards,
    in_sample,
    lists_factory,
    lists_of,
    most_probes,
    refines,
    sample_size,
)
from model.index.shards import new_index
from schemas.errors import QprError


@pytest.mark.parametrize(
    ("questions", "factory"),
    [
        (0, "Flat"),
        (FLAT_BELOW - 1, "Flat"),
        (FLAT_BELOW, "HNSW32,SQ8,RFlat"),
        (LISTS_FROM - 1, "HNSW32,SQ8,RFlat"),
        (LISTS_FROM, "IVF2700,PQ128x4fs,RFlat"),
        (100_000_000, "IVF27300,PQ128x4fs,RFlat"),
    ],
)
def test_default_factory_is_exact_when_small_then_a_graph_then_lists(questions, factory):
    assert default_factory(questions, 256) == factory


@pytest.mark.parametrize(
    ("questions", "lists"),
    [
        (10_000, 256),  # 2.73 * 100 rounds to 300 lists, but 10,000 questions train at most 256
        (40_000, 500),  # 2.73 * 200 = 546
        (537_663, 2_000),  # 2.73 * 733 = 2,002: the paper's number of lists
    ],
)
def test_lists_are_those_of_the_paper_at_quoras_size(questions, lists):
    assert lists_factory(questions, 256) == f"IVF{lists},PQ128x4fs,RFlat"


@given(st.integers(FLAT_BELOW, 10**9), st.integers(1, 1_024))
def test_there_are_never_more_lists_than_the_questions_can_train(questions, dimension):
    assert 0 < 39 * lists_of(lists_factory(questions, dimension)) <= questions


@pytest.mark.parametrize("dimension", [1, 2, 7, 8, 384])
@pytest.mark.parametrize("by_size", [default_factory, lists_factory])
def test_faiss_builds_the_default_factories_of_any_dimension(by_size, dimension):
    factory = by_size(FLAT_BELOW, dimension)
    assert new_index(factory, dimension).d == dimension
    assert refines(factory)
    assert factory_of_codes(factory) + ",RFlat" == factory
    assert factory_of_shards(factory) == "Flat"
    assert factory_of_shards("IVF4,SQ8") == factory_of_codes("IVF4,SQ8") == "IVF4,SQ8"


def test_lists_are_read_from_the_factory():
    assert lists_of("Flat") == sample_size("Flat") == lists_of("HNSW32,SQ8,RFlat") == most_probes("Flat") == 0
    assert sample_size("HNSW32,SQ8,RFlat") == 64 * 256
    assert (most_probes("IVF12,SQ8"), most_probes("HNSW32,SQ8,RFlat")) == (12, 2**16)
    assert lists_of("IVF12,SQ8") == 12
    assert sample_size("IVF12,SQ8") == 12 * 64
    assert (sample_size("IVF12,PQ4"), sample_size("IVF300,PQ4")) == (64 * 256, 64 * 300)


def test_questions_that_cannot_train_the_lists_or_codes_are_refused_by_number():
    check_questions("Flat", 0)
    check_questions("IVF4,Flat", 4 * 39)
    check_questions("IVF4,PQ4", 256)
    for factory, questions, needed, use in [
        ("IVF4,Flat", 155, 156, "Flat or IVF3,Flat"),
        ("IVF4,PQ4", 255, 256, "Flat or IVF6,Flat"),
        ("IVF1,PQ4x12", 20, 4_096, "Flat"),
        ("IVF1000000,Flat", 500, 39_000_000, "Flat or IVF12,Flat"),
    ]:
        message = f"needs {needed:,} questions to train on, there are {questions}. Use {use}"
        with pytest.raises(QprError, match=f"--factory {factory}: {message}"):
            check_questions(factory, questions)


def test_the_sample_is_uniform_and_does_not_depend_on_the_sharding():
    ids = np.random.default_rng(1).integers(-(2**63), 2**63 - 1, size=100_000)
    chosen = in_sample(ids, size=10_000, questions=100_000)
    assert abs(chosen.sum() - 10_000) < 500  # standard deviation sqrt(100,000 * 0.1 * 0.9) = 95
    for shard in range(3):
        part = ids % 3 == shard
        assert np.array_equal(in_sample(ids[part], size=10_000, questions=100_000), chosen[part])
        assert abs(chosen[part].sum() - 3_333) < 300
    unsigned = sorted(int(i) % 2**64 for i in ids)
    assert sorted(int(i) % 2**64 for i in ids[chosen]) == unsigned[: chosen.sum()]  # the smallest hashes


def test_everything_is_sampled_when_there_is_too_little():
    assert in_sample(np.array([-1, 0, 1]), size=3, questions=3).all()
    assert not in_sample(np.array([-1, 1]), size=0, questions=2).any()
