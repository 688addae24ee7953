import copy
import dataclasses
import pickle

import numpy as np
import pytest

from model.confidence.confidence import Judgement
from model.confidence.features import NAMES
from model.index.ranking import Ranking
from model.search import found_hits
from model.search.found import Found
from model.search.found_hits import hits_of, same_question
from model.search.results import Hit, Why
from schemas.text import question_id

ASKED = ["Pay, pay my BILL", "flight"]
TEXTS = ["how do I pay a bill", "pay, pay my bill", "cancel my flight"]
RANKING = Ranking(np.array([[1, 2], [3, -1]]), np.zeros((2, 2), np.float32), np.array([[0, 1], [2, -1]]))
OWN_IDS = np.array([*map(question_id, ASKED)])
FOUND = Found(RANKING, np.array([[1, 0], [1, 0]]), np.array([[0, 3], [0, 0]]), RANKING, OWN_IDS)
JUDGEMENT = Judgement(np.array([[0.25, 0.5], [0.75, np.nan]]), np.arange(4 * len(NAMES)).reshape(2, 2, -1) / 8)


def record(text):
    return {
        "question_id": question_id(text),
        "text": text,
        "answer": None,
        "cluster_id": 4,
        "events": None,
        "answer_id": "a",
    }


def test_hits_have_their_ranks_probability_and_reasons():
    (first, own), (other,) = hits_of(ASKED, FOUND, [*map(record, TEXTS)], JUDGEMENT)
    assert (first.rank, first.text, first.probability, own.probability, other.probability) == (
        1,
        TEXTS[0],
        0.25,
        1.0,
        0.75,
    )
    assert first.why == Why(("pay", "bill"), 1, None, dict(zip(NAMES, np.arange(len(NAMES)) / 8, strict=True)))
    assert own.why == Why(("pay", "my", "bill"), None, 3)  # the question itself is no matter of probability
    assert other.why.contributions == JUDGEMENT.reasons(1, 0)
    assert other.why != first.why


def test_a_hit_of_a_record_equals_one_with_these_fields():
    hit = Hit.of(record("pay"), 3, 0.5, Why())
    assert hit == Hit(rank=3, probability=0.5, why=Why(), **record("pay"))
    assert dataclasses.replace(hit, rank=1).rank == 1
    with pytest.raises(dataclasses.FrozenInstanceError):
        hit.rank = 1


def test_hits_without_a_confidence_model_have_no_probability():
    hits = hits_of(ASKED, FOUND, [*map(record, TEXTS)], None)
    assert [hit.probability for of_query in hits for hit in of_query] == [None, None, None]
    assert hits[1][0].why == Why(("flight",), 1)


def test_words_are_cut_when_the_reasons_are_read(monkeypatch):
    cut = []
    monkeypatch.setattr(found_hits, "words_of", lambda text: cut.append(text) or text.lower().split())
    [first, own], _ = hits_of(ASKED, FOUND, [*map(record, TEXTS)], JUDGEMENT)
    assert cut == []
    assert first.why.shared_words == first.why.shared_words
    assert len(cut) == 2
    guarded = own.why.guarded("order")
    assert len(cut) == 2
    assert guarded == Why(("pay,", "pay", "my", "bill"), None, 3, {}, "order")
    assert own.why.guard is None
    assert len(cut) == 3  # the words of the question are cut once for all hits


def test_reasons_are_replaced_copied_pickled_and_shown_as_plain_ones():
    [first, _], _ = hits_of(ASKED, FOUND, [*map(record, TEXTS)], JUDGEMENT)
    plain = Why(("pay", "bill"), 1, None, JUDGEMENT.reasons(0, 0))
    assert dataclasses.replace(first.why, guard="order") == dataclasses.replace(plain, guard="order")
    assert dataclasses.replace(first.why, contributions={}).contributions == {}
    assert repr(first.why) == repr(plain)
    for copied in (copy.copy(first.why), copy.deepcopy(first.why), pickle.loads(pickle.dumps(first.why))):
        assert copied == plain
        assert type(copied) is Why


def test_the_same_question_is_a_hit_of_all_its_words():
    hit = same_question("Pay my bill!", record("pay my bill"), 1.0)
    assert (hit.rank, hit.probability, hit.why) == (1, 1.0, Why(("pay", "my", "bill")))


@pytest.mark.parametrize("changed", [Why(("pay",)), Why(guard="order"), Why(dense_rank=2), None])
def test_other_reasons_are_not_equal(changed):
    assert Why() != changed
    assert hash(Why()) == hash(Why())
