import re
import time
import types

import faiss
import numpy as np
import pytest
from threadpoolctl import threadpool_info

from model.index import shards
from model.index.factory import lists_of
from model.index.shards import build_shard, new_index, open_shard, train
from schemas.errors import QprError, UsageError
from tests.support.graphs import random_vectors


def test_a_product_quantizer_with_few_questions_does_not_warn(capfd):
    shard = open_shard(build_shard(train("IVF2,PQ4np", random_vectors(300)), random_vectors(20)))
    assert len(shard) == 20
    assert capfd.readouterr() == ("", "")


@pytest.mark.parametrize(
    "factory",
    [
        *("", "flat", "IVF,Flat", "IVF0,Flat", "IVF4", "HNSW32", "OPQ8,IVF4,PQ8", "Flat,x", "IVF4,nonsense"),
        *("IVF4,Flat,RFlat", "IVF100(IVF100,Flat),Flat", "IVF4,SQ99", "IVF4,SQ0", "IVF4,PQ4x4fsr", "IVF4,PQ4x4fs_64"),
        *("IVF100_HNSW,Flat", "IVF100_HNSW0,Flat", "IVF9_HNSW32", "IVF9_NSG32,Flat", "HNSW32,SQ8"),
        *("HNSW32,RFlat", "HNSW32,Flat,RFlat", "HNSW32,PQ8,RFlat", "HNSW132,SQ8,RFlat"),
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
        ("IVF4_HNSW1,Flat", "asks for 1 neighbour. Use 2 to 64"),
        ("IVF4_HNSW65,SQ8", "asks for 65 neighbours. Use 2 to 64"),
        ("HNSW65,SQ8,RFlat", "asks for 65 neighbours. Use 2 to 64"),
        ("IVF4,PQ4x8fs", "FAISS cannot build it for 8 dimensions"),
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


def test_training_needs_39_questions_a_list():
    assert train("IVF4,Flat", random_vectors(156))  # 4 * 39
    with pytest.raises(
        QprError, match=r"--factory IVF4,Flat: needs 156 questions to train on, there are 155\. Use Flat or IVF3"
    ):
        train("IVF4,Flat", random_vectors(155))
    with pytest.raises(QprError, match=r"there are 38\. Use Flat$"):
        train("IVF4,Flat", random_vectors(38))
    assert train("Flat", random_vectors(0))


@pytest.mark.parametrize("factory", ["IVF8,Flat", "IVF20_HNSW4,SQ8"])
def test_training_and_building_give_the_same_bytes_with_any_number_of_threads(factory):
    threads = faiss.omp_get_max_threads()
    built = []
    try:
        for count in (1, 2, 2):
            faiss.omp_set_num_threads(count)
            built.append(build_shard(train(factory, random_vectors(900)), random_vectors(2_000, seed=1)))
    finally:
        faiss.omp_set_num_threads(threads)
    assert built[0] == built[1] == built[2]


def test_a_vector_goes_to_the_list_it_would_go_to_alone():
    trained, added = train("IVF16,Flat", random_vectors(1_000)), random_vectors(300, seed=2)
    together = open_shard(build_shard(trained, added))
    alone = [open_shard(build_shard(trained, row[None])) for row in added]
    for number in range(16):
        rows = faiss.rev_swig_ptr(
            together.faiss.invlists.get_ids(number), together.faiss.invlists.list_size(number)
        ).tolist()
        assert rows == [i for i, shard in enumerate(alone) if shard.faiss.invlists.list_size(number)]


@pytest.mark.parametrize("factory", ["Flat", "IVF4,Flat", "IVF4,SQ8", "IVF4,PQ4x4", "IVF12_HNSW4,SQ8"])
def test_an_opened_shard_answers_like_the_index_it_was(factory):
    trained, added, queries = (
        train(factory, random_vectors(700)),
        random_vectors(500, seed=3),
        random_vectors(40, seed=4),
    )
    content = build_shard(trained, added)
    shard = open_shard(content)
    copied = faiss.deserialize_index(np.frombuffer(content, np.uint8))
    assert len(shard) == 500
    assert shard.lists == lists_of(factory)
    if shard.lists:
        shard.faiss.nprobe = copied.nprobe = 2
    for ours, theirs in zip(shard.faiss.search(queries, 7), copied.search(queries, 7), strict=True):
        assert np.array_equal(ours, theirs)


@pytest.mark.parametrize("factory", ["Flat", "IVF8,Flat", "IVF20_HNSW4,SQ8"])
def test_a_shard_has_the_same_bytes_from_any_parts_of_its_vectors(factory):
    trained, added = train(factory, random_vectors(900)), random_vectors(500, seed=3)
    whole = build_shard(trained, added)
    assert build_shard(trained, iter([added[:1], added[1:300], added[300:]])) == whole
    copied = faiss.deserialize_index(np.frombuffer(trained, np.uint8))
    copied.add(added)
    assert whole == faiss.serialize_index(copied).tobytes()


def test_a_distance_does_not_depend_on_the_other_queries():
    shard = open_shard(build_shard(train("Flat", random_vectors(0, 300)), random_vectors(400, 300)))
    queries = random_vectors(64, 300, seed=5)
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


def test_a_graph_links_the_centroids_that_a_flat_quantizer_has():
    sample = random_vectors(900)
    flat, linked = (open_shard(train(factory, sample)) for factory in ("IVF20,Flat", "IVF20_HNSW4,Flat"))
    graph = faiss.downcast_index(linked.faiss.quantizer)
    assert np.array_equal(graph.storage.reconstruct_n(0, 20), flat.faiss.quantizer.reconstruct_n(0, 20))
    queries = random_vectors(30, seed=6)
    distances, lists = linked.nearest_lists(queries, 20)
    assert np.array_equal(lists, flat.nearest_lists(queries, 20)[1])  # all of them: without the graph
    assert (np.sort(lists) == np.arange(20)).all()
    near = linked.nearest_lists(queries, 3)[1]
    assert (near == lists[:, :3]).mean() > 0.9
    assert (np.diff(distances) >= 0).all()
