import re
import time
import types

import faiss
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from threadpoolctl import threadpool_info

from model.index import shards
from model.index.shards import (
    FLAT_BELOW,
    build_shard,
    check_questions,
    default_factory,
    in_sample,
    lists_of,
    new_index,
    open_shard,
    sample_size,
    train,
)
from schemas.errors import QprError, UsageError


def vectors(count, dimension=8, seed=0):
    return np.random.default_rng(seed).normal(size=(count, dimension)).astype(np.float32)


@pytest.mark.parametrize(
    ("questions", "factory"),
    [
        (0, "Flat"),
        (FLAT_BELOW - 1, "Flat"),
        (10_000, "IVF256,Flat"),  # 2.73 * 100 rounds to 300 lists, but 10,000 questions train at most 256
        (40_000, "IVF500,Flat"),  # 2.73 * 200 = 546
        (537_663, "IVF2000,Flat"),  # 2.73 * 733 = 2,002: the paper's index
        (100_000_000, "IVF27300,Flat"),
    ],
)
def test_default_factory_is_exact_when_small_and_the_papers_at_quoras_size(questions, factory):
    assert default_factory(questions) == factory


@given(st.integers(FLAT_BELOW, 10**9))
def test_default_factory_never_has_more_lists_than_its_questions_can_train(questions):
    assert 0 < 39 * lists_of(default_factory(questions)) <= questions


def test_lists_are_read_from_the_factory():
    assert lists_of("Flat") == sample_size("Flat") == 0
    assert lists_of("IVF12,SQ8") == 12
    assert sample_size("IVF12,SQ8") == 12 * 64
    assert (sample_size("IVF12,PQ4"), sample_size("IVF300,PQ4")) == (64 * 256, 64 * 300)


def test_a_product_quantizer_with_few_questions_does_not_warn(capfd):
    shard = open_shard(build_shard(train("IVF2,PQ4np", vectors(300)), vectors(20)))
    assert len(shard) == 20
    assert capfd.readouterr() == ("", "")


@pytest.mark.parametrize(
    "factory",
    [
        *("", "flat", "IVF,Flat", "IVF0,Flat", "IVF4", "HNSW32", "OPQ8,IVF4,PQ8", "Flat,x", "IVF4,nonsense"),
        *("IVF4,PQ4,RFlat", "IVF100(IVF100,Flat),Flat", "IVF100_HNSW32,Flat", "IVF4,SQ99", "IVF4,SQ0", "IVF4,PQ4x4fs"),
        *("IVF4,FlatDedup", "IVF4,PQ99x999", "IVF٤,Flat", "IVF4,Flat\n", "PQ4"),
    ],
)
def test_other_factories_are_refused_by_name(factory):
    with pytest.raises(UsageError, match=rf"^--factory {re.escape(factory)}: must be Flat or start with IVF"):
        new_index(factory, 8)


@pytest.mark.parametrize(
    ("factory", "fault"),
    [
        ("IVF99999999,Flat", "asks for more than 1,048,576 lists"),
        ("IVF1000000000000,Flat", "asks for more than 1,048,576 lists"),
        (f"IVF{'9' * 5_000},Flat", "asks for more than 1,048,576 lists"),
        ("IVF4,PQ4x13", "asks for codes of 13 bits. Use at most 12"),
        ("IVF4,PQ3", "FAISS cannot build it for 8 dimensions"),
        ("IVF4,PQ4096", "FAISS cannot build it for 8 dimensions"),
        (f"IVF4,PQ{'9' * 40}", "FAISS cannot build it for 8 dimensions"),
    ],
    ids=lambda value: value[:30],
)
def test_what_nobody_can_build_is_refused_without_a_try(factory, fault):
    started = time.process_time()
    with pytest.raises(UsageError, match=rf"^--factory {factory[:60]}: {fault}"):
        new_index(factory, 8)
    assert time.process_time() - started < 0.1


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
    chosen = in_sample(ids, wanted=10_000, questions=100_000)
    assert abs(chosen.sum() - 10_000) < 500  # standard deviation sqrt(100,000 * 0.1 * 0.9) = 95
    for shard in range(3):
        part = ids % 3 == shard
        assert np.array_equal(in_sample(ids[part], wanted=10_000, questions=100_000), chosen[part])
        assert abs(chosen[part].sum() - 3_333) < 300
    unsigned = sorted(int(i) % 2**64 for i in ids)
    assert sorted(int(i) % 2**64 for i in ids[chosen]) == unsigned[: chosen.sum()]  # the smallest hashes


def test_everything_is_sampled_when_there_is_too_little():
    assert in_sample(np.array([-1, 0, 1]), wanted=3, questions=3).all()
    assert not in_sample(np.array([-1, 1]), wanted=0, questions=2).any()


def test_training_needs_39_questions_a_list():
    assert train("IVF4,Flat", vectors(156))  # 4 * 39
    with pytest.raises(
        QprError, match=r"--factory IVF4,Flat: needs 156 questions to train on, there are 155\. Use Flat or IVF3"
    ):
        train("IVF4,Flat", vectors(155))
    with pytest.raises(QprError, match=r"there are 38\. Use Flat$"):
        train("IVF4,Flat", vectors(38))
    assert train("Flat", vectors(0))


def test_training_and_building_give_the_same_bytes_with_any_number_of_threads():
    threads = faiss.omp_get_max_threads()
    built = []
    try:
        for count in (1, 2, 2):
            faiss.omp_set_num_threads(count)
            built.append(build_shard(train("IVF8,Flat", vectors(900)), vectors(2_000, seed=1)))
    finally:
        faiss.omp_set_num_threads(threads)
    assert built[0] == built[1] == built[2]


def test_a_vector_goes_to_the_list_it_would_go_to_alone():
    trained, added = train("IVF16,Flat", vectors(1_000)), vectors(300, seed=2)
    together = open_shard(build_shard(trained, added))
    alone = [open_shard(build_shard(trained, row[None])) for row in added]
    for number in range(16):
        rows = faiss.rev_swig_ptr(
            together.faiss.invlists.get_ids(number), together.faiss.invlists.list_size(number)
        ).tolist()
        assert rows == [i for i, shard in enumerate(alone) if shard.faiss.invlists.list_size(number)]


@pytest.mark.parametrize("factory", ["Flat", "IVF4,Flat", "IVF4,SQ8", "IVF4,PQ4x4"])
def test_an_opened_shard_answers_like_the_index_it_was(factory):
    trained, added, queries = train(factory, vectors(700)), vectors(500, seed=3), vectors(40, seed=4)
    content = build_shard(trained, added)
    shard = open_shard(content)
    copied = faiss.deserialize_index(np.frombuffer(content, np.uint8))
    assert len(shard) == 500
    assert shard.lists == lists_of(factory)
    if shard.lists:
        shard.faiss.nprobe = copied.nprobe = 2
    for ours, theirs in zip(shard.faiss.search(queries, 7), copied.search(queries, 7), strict=True):
        assert np.array_equal(ours, theirs)


def test_a_distance_does_not_depend_on_the_other_queries():
    shard = open_shard(build_shard(train("Flat", vectors(0, 300)), vectors(400, 300)))
    queries = vectors(64, 300, seed=5)
    distances, _ = shard.faiss.search(queries, 10)
    alone = np.vstack([shard.faiss.search(query[None], 10)[0] for query in queries])
    assert np.array_equal(distances, alone)


def test_centroids_are_trained_by_matrix_products_in_one_thread(monkeypatch):
    class Recording:
        cp = types.SimpleNamespace()

        def train(self, sample):
            self.threads = {pool["num_threads"] for pool in threadpool_info() if pool["user_api"] == "blas"}
            raise InterruptedError

    recording = Recording()
    monkeypatch.setattr(shards, "new_index", lambda factory, dimension: recording)
    before = threadpool_info()
    with pytest.raises(InterruptedError):
        shards.train("IVF1,Flat", np.zeros((39, 4), np.float32))
    assert recording.threads == {1}
    assert threadpool_info() == before
