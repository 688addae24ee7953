import dataclasses

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st

from model.index import refinement
from model.index.sizing import recall
from model.index.sizing.recall import new_wordings, recall_of, sample_of, tuned
from model.index.sizing.search_cost import median_compared, search_ms
from model.search.opening import open_index
from tests.support.commands import run

TEXTS = [" ".join(f"w{word}" for word in np.random.default_rng(n).integers(0, 50, 5)) for n in range(600)]


@pytest.fixture
def indexed(folder, make_model):
    """Return a function that opens an index of `TEXTS` with a factory, each built once."""

    def opened(factory):
        index = folder / factory.replace(",", "_")
        if not index.exists():
            if not (folder / "model").exists():
                make_model(folder / "model")
                pq.write_table(pa.table({"text": TEXTS}), folder / "q.parquet")
            given = ("index", "--questions", folder / "q.parquet", "--model", folder / "model", "--output", index)
            assert run(*given, "--shards", 3, "--factory", factory, "--probes", 1) == 0
        return open_index(str(index))

    return opened


@pytest.mark.parametrize("factory", ["IVF8,Flat", "IVF8_HNSW4,SQ8", "IVF8,PQ4x4fs,RFlat", "HNSW4,SQ8,RFlat", "Flat"])
def test_the_distance_of_the_tenth_neighbour_is_that_of_brute_force(indexed, factory):
    index = indexed(factory)
    sample = sample_of(index)
    ids = np.concatenate(index.question_ids)
    assert sorted(sample.ids) == sorted(ids)  # 600 are fewer than 1,000
    vectors = index.encoder.encode(index.questions(np.arange(len(index)))["text"]).astype(np.float64)
    spread = ((sample.vectors - sample.vectors.mean(axis=0)) ** 2).sum(axis=1)
    for place in range(0, len(sample.ids), 97):
        distances = ((vectors - sample.vectors[place]) ** 2).sum(axis=1)
        tenth = np.sort(distances[ids != sample.ids[place]])[9]
        assert sample.bounds[place] == pytest.approx(tenth, abs=float(4e-6 * spread[place]))


@given(st.lists(st.tuples(st.text("ab ?é日", min_size=1, max_size=12), st.integers(0, 2**64 - 1)), max_size=6))
def test_any_question_has_a_new_wording(rows):
    texts, numbers = [text for text, _ in rows], [number for _, number in rows]
    assert len(new_wordings(texts, numbers)) == len(rows)


def test_a_new_wording_lacks_two_words_and_has_one_of_the_next_question():
    texts = ["how do i pay my bill", "where is the bank", "日本の首都はどこ", "pay bill", "a b c", "d e f"]
    for number in range(50):
        first, *_, without_spaces, short, other, last = new_wordings(texts, [number * 7919] * len(texts))
        *kept, added = first.split()
        assert len(kept) == 4
        assert set(kept) < set(texts[0].split())
        assert added in texts[1].split()
        assert len(without_spaces) == len(texts[2]) - 1
        assert len(short) == len(texts[3]) - 1
        assert len(other.split()) == 2
        assert last.split()[-1] in texts[0].split()


def test_wordings_that_the_index_does_not_have_are_compared_with_all_questions(indexed):
    index = indexed("IVF8,Flat")
    sample, own = sample_of(index, reworded=True), sample_of(index)
    assert (((own.vectors - sample.vectors) ** 2).sum(axis=1) > 1e-3).mean() > 0.9
    vectors = index.encoder.encode(index.questions(np.arange(len(index)))["text"]).astype(np.float64)
    for place in range(0, len(sample.ids), 97):
        tenth = np.sort(((vectors - sample.vectors[place]) ** 2).sum(axis=1))[9]
        assert sample.bounds[place] == pytest.approx(tenth, abs=1e-5)
    assert recall_of(index, sample, 8) == 1.0
    found = tuned(index, recall=0.9, latency_ms=100, probes=None)
    assert found.figures.reworded_at_10 == round(recall_of(index, sample, found.probes), 4) < 1.0
    assert tuned(index, recall=0.9, latency_ms=100, probes=8).figures.reworded_at_10 == 1.0


def test_the_sample_has_the_smallest_ids_whatever_the_shards(indexed, monkeypatch):
    monkeypatch.setattr(recall, "QUERIES", 50)
    index = indexed("IVF8,Flat")
    ids = np.concatenate(index.question_ids)
    assert sorted(sample_of(index).ids.view(np.uint64)) == sorted(ids.view(np.uint64))[:50]


@pytest.mark.parametrize("factory", ["IVF8,Flat", "IVF8,PQ4x4fs,RFlat"])
def test_all_lists_find_everything_and_fewer_lists_less(indexed, factory):
    index = indexed(factory)
    sample = sample_of(index)
    shares = [recall_of(index, sample, probes) for probes in (1, 3, 8)]
    assert shares[0] < shares[1] < shares[2] == 1.0
    everything = median_compared(index, sample.vectors, 8)
    assert everything == len(index) > median_compared(index, sample.vectors, 1)


def test_more_points_of_a_graph_in_view_are_compared_and_find_more(indexed, monkeypatch):
    monkeypatch.setattr(refinement, "FEWEST_CANDIDATES", 1)
    monkeypatch.setattr(recall, "FEWEST_CANDIDATES", 32)
    index = indexed("HNSW4,SQ8,RFlat")
    sample = sample_of(index)
    shares = [recall_of(index, sample, probes) for probes in (1, 30, 600, index.most_probes)]
    assert shares[0] < shares[1] <= shares[2] == shares[3] == 1.0
    compared = [median_compared(index, sample.vectors[:50], probes) for probes in (1, 100, 600)]
    assert 20 < compared[0] < compared[1] < compared[2]
    assert compared[2] == pytest.approx(600, rel=0.1)
    found = tuned(index, recall=0.9, latency_ms=100, probes=None)
    assert (found.probes, found.capped) == (32, False)
    assert found.figures.at_10 == round(recall_of(index, sample, 32), 4) >= 0.9
    assert tuned(index, recall=0.9, latency_ms=100, probes=None) == found


def test_recall_counts_neighbours_by_exact_vectors_also_where_shards_hold_codes(indexed):
    index = indexed("IVF4,SQ4")
    assert 0.3 < recall_of(index, sample_of(index), 4) < 1.0


def test_the_fewest_lists_for_a_recall_are_chosen(indexed):
    index = indexed("IVF8,Flat")
    sample = sample_of(index)
    found = tuned(index, recall=0.9, latency_ms=100, probes=None)
    assert not found.capped
    assert found.figures.at_10 == round(recall_of(index, sample, found.probes), 4) >= 0.9
    assert all(recall_of(index, sample, probes) < 0.9 for probes in range(1, found.probes))
    assert tuned(index, recall=1.0, latency_ms=100, probes=None).figures.at_10 == 1.0
    assert tuned(index, recall=0.9, latency_ms=100, probes=None) == found


def test_a_latency_bounds_the_lists_and_given_probes_are_only_measured(indexed):
    index = indexed("IVF8,Flat")
    sample = sample_of(index)
    one, two = (search_ms(index, median_compared(index, sample.vectors, probes)) for probes in (1, 2))
    capped = tuned(index, recall=1.0, latency_ms=(one + two) / 2, probes=None)
    assert (capped.probes, capped.capped) == (1, True)
    assert tuned(index, recall=1.0, latency_ms=one / 9, probes=None).probes == 1
    given = tuned(index, recall=1.0, latency_ms=one / 9, probes=3)
    assert (given.probes, given.figures.target, given.capped) == (3, None, False)


def test_codes_that_lose_neighbours_do_not_make_a_search_read_all_lists(indexed):
    index = indexed("IVF8,SQ4")
    found = tuned(index, recall=1.0, latency_ms=100, probes=None)
    assert found.figures.at_10 < 1.0
    assert not found.capped
    best = recall_of(index, sample_of(index), 8)
    assert found.figures.at_10 >= best - 0.003


def test_time_follows_from_vectors_dimension_and_kind_of_code(indexed):
    flat, graph = indexed("IVF8,Flat"), indexed("IVF8_HNSW4,SQ8")
    assert search_ms(flat, 2_000) == pytest.approx(8 * (2_000 + 8) * 0.7e-6)
    assert search_ms(graph, 2_000) < search_ms(flat, 2_000)
    large = dataclasses.replace(flat, settings=flat.settings.model_copy(update={"dimension": 256}))
    assert search_ms(large, 2_000) == pytest.approx(32 * search_ms(flat, 2_000))
