import dataclasses

import faiss
import numpy as np
import pytest

from model.index import refinement
from model.index.codes import Codes, build_codes, like_codes
from model.index.factory import most_probes
from model.index.refinement import RefinedSearch
from model.index.shard_merge import nearest
from model.index.shards import build_shard, open_shard, train
from schemas.errors import QprError, UsageError

FACTORY = "IVF5,PQ4x4fs,RFlat"
GRAPH = "HNSW4,SQ8,RFlat"
MOST = {name: most_probes(name) for name in (FACTORY, GRAPH)}
DIMENSION = 8


def random_vectors(count, seed=0):
    return np.random.default_rng(seed).normal(size=(count, DIMENSION)).astype(np.float32)


def ids_of(counts):
    everything = np.random.default_rng(0).choice(10**6, sum(counts), replace=False)
    return [np.sort(part) for part in np.split(everything, np.cumsum(counts)[:-1])]


def flat_shards(counts):
    vectors = np.split(random_vectors(sum(counts)), np.cumsum(counts)[:-1])
    return [open_shard(build_shard(train("Flat", part[:0]), part)) for part in vectors]


def search_of(counts=(200, 130, 90), tail=(40,), segment=(), factory=FACTORY):
    """Return a search of shards with codes, a second segment with codes, and shards without any."""
    counts = [*counts]
    shards, ids = flat_shards([*counts, *segment, *tail]), ids_of([*counts, *segment, *tail])
    first, second = len(counts), len(counts) + len(segment)
    content = build_codes(factory, shards[:first], ids[:first])
    codes = [Codes(open_shard(content), 0, first)]
    if segment:
        codes.append(Codes(open_shard(like_codes(factory, content, shards[first:second])), first, second))
    return RefinedSearch(codes, shards, ids, most_probes(factory))


def in_probed_lists(search, query, probes):
    """Return the rows that a search may find, by FAISS's own lists."""
    rows, starts = [], np.cumsum([0, *map(len, search.shards)])
    for codes in search.codes:
        of_list = codes.shard.faiss.quantizer.search(query, probes)[1][0]
        lists = codes.shard.faiss.invlists
        for number in of_list.tolist():
            size = lists.list_size(number)
            rows += [starts[codes.first] + lists.get_single_id(number, place) for place in range(size)]
    coded = {number for codes in search.codes for number in range(codes.first, codes.stop)}
    for number in {*range(len(search.shards))} - coded:
        rows += range(starts[number], starts[number + 1])
    return np.array(sorted(rows))


@pytest.mark.parametrize("segment", [(), (60, 25)])
def test_enough_candidates_give_the_exact_search_of_the_probed_lists(segment, monkeypatch):
    monkeypatch.setattr(refinement, "FEWEST_CANDIDATES", 10_000)
    search = search_of(segment=segment)
    vectors = np.concatenate([shard.vectors for shard in search.shards])
    ids = np.concatenate(search.question_ids)
    for query in random_vectors(20, seed=1)[:, None]:
        allowed = in_probed_lists(search, query, 2)
        distances = ((vectors[allowed] - query) ** 2).sum(axis=1)
        best = allowed[np.argsort(distances)[:7]]
        found = search.nearest(query, k=7, probes=2)
        assert found.rows[0].tolist() == best.tolist()
        assert found.ids[0].tolist() == ids[best].tolist()


@pytest.mark.parametrize("segment", [(), (60, 25)])
def test_a_graph_with_all_points_in_view_finds_what_an_exact_search_finds(segment, monkeypatch):
    monkeypatch.setattr(refinement, "FEWEST_CANDIDATES", 1_000)
    search, queries = search_of(segment=segment, factory=GRAPH), random_vectors(40, seed=1)
    exact = nearest(search.shards, search.question_ids, queries, k=7, probes=0)
    found = search.nearest(queries, k=7, probes=600)
    assert np.array_equal(found.rows, exact.rows)
    assert np.array_equal(found.ids, exact.ids)


def test_more_points_in_view_find_more(monkeypatch):
    monkeypatch.setattr(refinement, "FEWEST_CANDIDATES", 1)
    search, queries = search_of(counts=(3_000, 2_000), tail=(), factory=GRAPH), random_vectors(200, seed=1)
    exact = nearest(search.shards, search.question_ids, queries, k=1, probes=0)
    shares = [(search.nearest(queries, k=1, probes=p).rows == exact.rows).mean() for p in (4, 64)]
    assert shares[0] < shares[1] > 0.95


@pytest.mark.parametrize("factory", MOST)
def test_distances_are_those_of_the_exact_search_to_the_last_bit(factory):
    search, queries = search_of(factory=factory), random_vectors(30, seed=2)
    exact = nearest(search.shards, search.question_ids, queries, k=460, probes=0)
    of_row = [
        dict(zip(rows, row, strict=True))
        for rows, row in zip(exact.rows.tolist(), exact.distances.tolist(), strict=True)
    ]
    found = search.nearest(queries, k=10, probes=2)
    for query in range(30):
        assert [of_row[query][row] for row in found.rows[query].tolist()] == found.distances[query].tolist()
    everything = search.nearest(queries, k=10, probes=MOST[factory])
    assert np.array_equal(everything.rows, exact.rows[:, :10])
    assert np.array_equal(everything.distances, exact.distances[:, :10])


@pytest.mark.parametrize("factory", MOST)
def test_the_probes_of_the_index_alone_decide_that_a_search_is_exact(factory):
    search, queries = search_of(factory=factory), random_vectors(30, seed=2)
    exact = nearest(search.shards, search.question_ids, queries, k=10, probes=0)
    assert not np.array_equal(search.nearest(queries, k=10, probes=2).rows, exact.rows)
    of_two = dataclasses.replace(search, most_probes=2)
    assert np.array_equal(of_two.nearest(queries, k=10, probes=2).rows, exact.rows)


@pytest.mark.parametrize("factory", MOST)
def test_a_query_finds_the_same_alone_and_among_others(factory):
    search, queries = search_of(segment=(60,), factory=factory), random_vectors(40, seed=3)
    together = search.nearest(queries, k=10, probes=2)
    for number in range(40):
        alone = search.nearest(queries[number : number + 1], k=10, probes=2)
        assert np.array_equal(alone.rows[0], together.rows[number])
        assert np.array_equal(alone.distances[0], together.distances[number])


def test_equal_distances_rank_by_question_id(monkeypatch):
    monkeypatch.setattr(refinement, "FEWEST_CANDIDATES", 1_000)
    vectors = np.repeat(random_vectors(50), 6, axis=0)[np.random.default_rng(4).permutation(300)]
    parts, ids = np.split(vectors, [100, 250]), ids_of([100, 150, 50])
    shards = [open_shard(build_shard(train("Flat", part[:0]), part)) for part in parts]
    codes = [Codes(open_shard(build_codes(FACTORY, shards, ids)), 0, 3)]
    search = RefinedSearch(codes, shards, ids, most_probes(FACTORY))
    for query in vectors[:10]:
        found = search.nearest(query[None], k=6, probes=3)
        equal = (vectors == query).all(axis=1)
        assert found.ids[0].tolist() == sorted(np.concatenate(ids)[equal].tolist())


@pytest.mark.parametrize("factory", MOST)
def test_rows_that_are_not_live_are_not_found_and_the_others_still_are(factory):
    search, queries = search_of(segment=(60,), factory=factory), random_vectors(20, seed=5)
    before = search.nearest(queries, k=10, probes=3)
    gone = np.unique(before.rows[:, ::2])
    masks = np.split(~np.isin(np.arange(520), gone), np.cumsum([*map(len, search.shards)])[:-1])
    shards = [dataclasses.replace(shard, live=mask) for shard, mask in zip(search.shards, masks, strict=True)]
    found = dataclasses.replace(search, shards=shards).nearest(queries, k=10, probes=3)
    assert not np.isin(found.rows, gone).any()
    for query in range(20):
        assert {*before.rows[query].tolist()} - {*gone.tolist()} <= {*found.rows[query].tolist()}
    exact = dataclasses.replace(search, shards=shards).nearest(queries, k=10, probes=MOST[factory])
    assert np.array_equal(exact.rows, nearest(shards, search.question_ids, queries, k=10, probes=0).rows)


@pytest.mark.parametrize("factory", MOST)
def test_what_is_missing_is_padding(factory):
    search = search_of(counts=(195,), tail=(3,), factory=factory)
    dead = dataclasses.replace(search.shards[0], live=np.arange(195) == 7)
    few = dataclasses.replace(search, shards=[dead, search.shards[1]])
    found = few.nearest(search.shards[0].vectors[7:8], k=6, probes=4)
    assert sorted(found.rows[0].tolist()) == [-1, -1, 7, 195, 196, 197]
    assert found.ids[0, -2:].tolist() == [-1, -1]
    assert np.isinf(found.distances[0, -2:]).all()
    assert few.nearest(np.empty((0, DIMENSION), np.float32), k=6, probes=4).rows.shape[0] == 0


def test_codes_do_not_depend_on_the_shards_but_for_the_numbers_of_rows():
    vectors, ids = random_vectors(400), ids_of([400])[0]
    one = [open_shard(build_shard(train("Flat", vectors[:0]), vectors))]
    two = [open_shard(build_shard(train("Flat", vectors[:0]), part)) for part in (vectors[:150], vectors[150:])]
    whole = build_codes(FACTORY, one, [ids])
    done = []
    assert build_codes(FACTORY, two, [ids[:150], ids[150:]], done.append) == whole == build_codes(FACTORY, one, [ids])
    assert like_codes(FACTORY, whole, two, done.append) == whole
    assert done == [150, 400, 150, 400]
    odd = [open_shard(build_shard(train("Flat", vectors[:0]), vectors[parity::2])) for parity in (0, 1)]
    trained = open_shard(build_codes(FACTORY, odd, [ids[0::2], ids[1::2]])).layout
    assert trained.centroids == open_shard(whole).layout.centroids


def test_exact_distances_wake_up_no_other_threads():
    threads, search = [], search_of(tail=())

    class Flat:
        def __init__(self, shard):
            self._shard = shard

        def compute_distance_subset(self, *arguments):
            threads.append(faiss.omp_get_max_threads())
            self._shard.compute_distance_subset(*arguments)

    shards = [dataclasses.replace(shard, faiss=Flat(shard.faiss)) for shard in search.shards]
    vectors, before = random_vectors(70, seed=1), faiss.omp_get_max_threads()
    faiss.omp_set_num_threads(2)
    try:
        found = dataclasses.replace(search, shards=shards).nearest(vectors, k=3, probes=2)
        assert (set(threads), faiss.omp_get_max_threads()) == ({1}, 2)
    finally:
        faiss.omp_set_num_threads(before)
    np.testing.assert_array_equal(found.rows, search.nearest(vectors, k=3, probes=2).rows)


def test_a_graph_is_the_same_whatever_the_number_of_threads():
    shards, ids = flat_shards([2_000, 500]), ids_of([2_000, 500])
    threads = faiss.omp_get_max_threads()
    whole = build_codes(GRAPH, shards, ids)
    faiss.omp_set_num_threads(1)
    try:
        assert build_codes(GRAPH, shards, ids) == whole == like_codes(GRAPH, whole, shards)
    finally:
        faiss.omp_set_num_threads(threads)
    layout = open_shard(whole).layout
    assert (layout.graph, layout.lists, layout.rows, layout.encoding) == (True, 0, 2_500, "SQ")


def test_too_few_questions_and_impossible_codes_are_refused():
    shards, ids = flat_shards([100]), ids_of([100])
    with pytest.raises(QprError, match="IVF5,PQ4x4fs,RFlat: needs 195 questions to train on, there are 100"):
        build_codes(FACTORY, shards, ids)
    with pytest.raises(UsageError, match="IVF2,PQ3x4fs,RFlat: FAISS cannot build it for 8 dimensions"):
        build_codes("IVF2,PQ3x4fs,RFlat", shards, ids)


@pytest.mark.parametrize("factory", ["IVF5,SQ8,RFlat", "IVF5_HNSW4,SQ4,RFlat", "IVF5,PQ4x4np,RFlat"])
def test_any_codes_can_be_refined(factory):
    shards, ids = flat_shards([200, 130]), ids_of([200, 130])
    codes = [Codes(open_shard(build_codes(factory, shards, ids)), 0, 2)]
    search = RefinedSearch(codes, shards, ids, most_probes(factory))
    found = search.nearest(shards[1].vectors[:50], k=1, probes=2)
    assert (found.rows[:, 0] == 200 + np.arange(50)).mean() > 0.95
    assert (found.distances[found.rows[:, 0] == 200 + np.arange(50)] == 0).all()
