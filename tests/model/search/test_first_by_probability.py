import collections
import dataclasses
import math

import numpy as np
import pyarrow as pa
import pytest

from model.confidence.additive_model import AdditiveModel, Curve
from model.confidence.confidence import Confidence
from model.confidence.features import NAMES
from model.index.index import Index
from model.reranking.term_statistics import WordCounts
from model.search import first_by_probability as by_probability
from model.search import retrieval
from model.search import searcher as searching
from model.search.judging import judged
from model.search.searcher import open_searcher
from schemas.errors import QprError
from schemas.text import question_id
from schemas.text_arrays import key_all

CLUSTERS = [
    ["cancel my flight", "my flight cancel please", "please cancel flight", "flight: cancel my one"],
    ["pay my bill", "my bill pay how"],
]
ALONE = ["cancel parking now", "rent a car", "where are you", "who am i"]


def model_of(feature, log_odds):
    """Return a model by which one feature alone, from 0 to 1, decides."""
    flat = {name: Curve(knots=(0, 1), log_odds=(0, 0)) for name in NAMES}
    curves = flat | {feature: Curve(knots=(0, 1), log_odds=log_odds)}
    return Confidence(WordCounts.of(key_all(pa.array(ALONE))), AdditiveModel(bias=0, curves=curves))


OF_MATES = model_of("mates", (-1, 20))


@pytest.fixture(params=["", "--no-bm25"])
def built(folder, qpr, make_model, make_dataset, request):
    """Return an index, with or without BM25, and the mode that it is then searched in."""
    place = folder / (request.param or "bm25")
    if not place.exists():
        words = ("cancel", "flight", "pay", "bill", "parking")
        make_model(place / "model", words=words, encoder="subword", dimension=16)
        make_dataset(place / "data", CLUSTERS, alone=ALONE)
        given = ("--questions", place / "data", "--model", place / "model", "--output", place / "index")
        assert qpr("index", *given, *filter(None, [request.param])).code == 0
    return str(place / "index"), "dense" if request.param else "fusion"


@pytest.fixture
def opened(built):
    """Return a function that opens the index as if it had a confidence model.

    Mode "before" is the order that mode probability changes.
    """
    index, without = built

    def open_it(mode, confidence=OF_MATES):
        searcher = open_searcher(index, mode=without)
        own = without if mode == "before" else mode
        retrieval = dataclasses.replace(searcher.retrieval, mode=own, confidence=confidence)
        return dataclasses.replace(searcher, retrieval=retrieval, confidence=confidence)

    return open_it


def scores_of(found):
    """Return the scores of the hits of one question, with which they are ordered."""
    return found.ranking.scores[0].tolist() if found.lexical_ranks.any() else [1 / rank for rank in range(1, 99)]


def support_of(scores, hits):
    """Return the support of each hit's cluster, hit by hit: the sum of score times root of probability."""
    sums = collections.defaultdict(float)
    for hit, score in zip(hits, scores, strict=False):
        sums[hit.cluster_id or hit.question_id] += score * math.sqrt(hit.probability)
    return [sums[hit.cluster_id or hit.question_id] for hit in hits]


def test_the_first_hit_of_the_most_supported_cluster_comes_first_and_probable_hits_before_others(opened):
    searcher, before = opened("probability"), opened("before")
    asked = ["could i cancel parking now", "a bill", "please now", "FLIGHT: cancel my one", "zebra"]
    together = searcher.search_many(asked)
    changed = reordered = 0
    for question, hits in zip(asked, together, strict=True):
        ordered = before.search(question)
        scores = scores_of(before.retrieval.find([question], len(ordered), None, neighbours=20))
        support = support_of(scores, ordered)
        best = max(range(len(ordered)), key=lambda place: round(support[place], 9))  # the first of equal ones
        first = 0 if question.lower() == ordered[0].text else best
        merit = [score * hit.probability**0.125 for hit, score in zip(ordered, scores, strict=False)]
        rest = sorted(set(range(len(ordered))) - {first}, key=lambda place: (-round(merit[place], 9), place))
        changed += first > 0
        reordered += rest != sorted(rest)
        expected = [ordered[place] for place in (first, *rest)]
        assert [hit.rank for hit in hits] == list(range(1, len(hits) + 1))
        assert [(hit.question_id, hit.probability, hit.why) for hit in hits] == [
            (hit.question_id, hit.probability, hit.why) for hit in expected
        ]
        for k in (1, 3, len(hits)):
            assert searcher.search(question, k) == hits[:k]
    assert 0 < changed < len(asked)
    assert reordered > 0
    assert together[3][0].text == "flight: cancel my one"  # the question itself


@pytest.mark.parametrize("by_answer", [False, True])
def test_hits_of_one_cluster_or_answer_outweigh_a_better_hit_of_equal_probability(opened, monkeypatch, by_answer):
    equal = dataclasses.replace(model_of("rank", (0, 0)), by_answer=by_answer)
    hidden, records = "cluster_id" if by_answer else "answer", Index.records
    monkeypatch.setattr(Index, "records", lambda *given: [record | {hidden: None} for record in records(*given)])
    before, after = (opened(mode, equal).search("where are my flight") for mode in ("before", "probability"))
    assert {hit.probability for hit in after} == {0.5}
    assert [hit.text for hit in before[:3]] == ["where are you", "my flight cancel please", "cancel my flight"]
    assert [hit.text for hit in after[:3]] == ["my flight cancel please", "where are you", "cancel my flight"]


def test_more_hits_than_are_compared_have_the_probabilities_of_a_shorter_list(opened, monkeypatch):
    monkeypatch.setattr(by_probability, "COMPARED", 4)
    searcher = opened("probability")
    for question in ("could i cancel parking now", "cancel who flight"):
        few, all_of_them = searcher.search(question, 4), searcher.search(question, 9)
        assert len(all_of_them) > 4
        assert [(hit.question_id, hit.probability, hit.why) for hit in all_of_them[:4]] == [
            (hit.question_id, hit.probability, hit.why) for hit in few
        ]


def test_the_ranking_of_an_evaluation_is_that_of_the_hits(opened):
    searcher = opened("probability")
    for question in ("could i cancel parking now", "a bill of mine"):
        hits = searcher.search(question)
        assert searcher.rank([question], 10).ids[0][: len(hits)].tolist() == [hit.question_id for hit in hits]
    assert searcher.rank([], 3).ids.shape == (0, 3)


def test_a_single_mate_of_the_question_that_is_left_out_counts_as_in_no_cluster(opened):
    """Nobody would know that it has a mate; two mates would be in a cluster without the question."""
    in_clusters = model_of("alone", (3, -3))
    asked = [CLUSTERS[1][0], CLUSTERS[0][0]]
    ids, mate = np.array([question_id(text) for text in asked]), question_id(CLUSTERS[1][1])
    searcher = opened("before", in_clusters)
    found = searcher.retrieval.find(asked, 9, ids, neighbours=20)
    records = searcher.index.records(found.ranking.rows[found.ranking.found])
    as_indexed, left_out = (
        judged(in_clusters, searcher.index, asked, found, records, exclude=exclude).probabilities > 0.5
        for exclude in (None, ids)
    )
    of_clusters = np.isin(found.ranking.ids, [question_id(text) for cluster in CLUSTERS for text in cluster])
    assert np.array_equal(as_indexed, of_clusters)
    assert np.array_equal(left_out[0], of_clusters[0] & (found.ranking.ids[0] != mate))
    assert np.array_equal(left_out[1], of_clusters[1])
    assert searcher.rank(asked, 1, exclude=ids).ids[0].tolist() == [mate]


def test_without_a_confidence_model_the_mode_is_refused_and_not_offered(built):
    index, without = built
    with pytest.raises(QprError, match="has no confidence model, which mode probability needs"):
        open_searcher(index, mode="probability")
    assert "probability" not in open_searcher(index, mode=without).modes


@pytest.mark.parametrize("mode", ["before", "probability"])
def test_the_query_alone_is_encoded_and_probabilities_are_those_of_encoded_hits(opened, monkeypatch, mode):
    searcher = opened(mode)
    monkeypatch.setattr(retrieval, "FUSED", 2)  # so that some hits are found by words alone
    for module in (retrieval, searching):
        monkeypatch.setattr(module, "NEIGHBOURS", 2)
    asked = ["could i cancel parking now", "a bill", "please now", "my flight"]
    encode, encoded = type(searcher.index.encoder).encode, []

    def counted(encoder, texts):
        encoded.append(len(texts))
        return encode(encoder, texts)

    monkeypatch.setattr(type(searcher.index.encoder), "encode", counted)
    hits = searcher.search_many(asked, 3)
    assert encoded == [len(asked)]
    monkeypatch.setattr(Index, "vectors_of", lambda *_: None)
    again = searcher.search_many(asked, 3)
    assert [[hit.probability for hit in of_one] for of_one in hits] == [
        [hit.probability for hit in of_one] for of_one in again
    ]
    assert (len(encoded) > 2) is (searcher.retrieval.lexical is not None)
