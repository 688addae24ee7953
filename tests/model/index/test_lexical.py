import dataclasses

import bm25s
import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from model.index.lexical import LAYOUT, Lexical, terms_of
from model.index.lexical_files import lexical_arrays
from schemas.text import key, question_id, words

WORDS = ["pay", "paying", "bill", "my", "the", "flights", "c++", "$100", "支付", "оплата"]
TEXTS = st.lists(st.lists(st.sampled_from(WORDS), min_size=1, max_size=6).map(" ".join), min_size=1, max_size=30)


def table(texts):
    by_id = {question_id(text): text for text in texts}
    return pa.table({"question_id": pa.array(by_id, pa.int64()), "text": pa.array(by_id.values(), pa.string())})


def built(*tables):
    return Lexical.of({name: array.tobytes() for name, array in lexical_arrays(tables).items()})


@given(TEXTS, st.lists(st.sampled_from([*WORDS, "unknown"]), max_size=6).map(" ".join), st.integers(1, 12))
def test_the_best_are_those_of_bm25s_and_ties_rank_by_id(texts, query, k):
    rows = table(texts).sort_by("question_id")
    ids = rows["question_id"].to_pylist()
    stemmed = [[terms_of(word)[0] for word in words(key(text))] for text in rows["text"].to_pylist()]
    peer = bm25s.BM25()
    peer.index(stemmed, show_progress=False)
    asked = [term for term in terms_of(query) if term in peer.vocab_dict]
    sums = peer.get_scores(asked) if asked else np.zeros(len(ids), np.float32)
    ranking = built(rows).rank([query], k)
    found, scores = ranking.ids, ranking.scores
    count = min(k, int((sums > 0).sum()))
    assert (found[0] >= -(2**63)).all()
    assert (np.isfinite(scores[0])).sum() == count
    of = dict(zip(ids, sums.tolist(), strict=True))
    assert scores[0, :count] == pytest.approx(np.sort(sums)[::-1][:count], rel=1e-5)
    assert scores[0, :count] == pytest.approx([of[i] for i in found[0, :count].tolist()], rel=1e-5)
    order = list(zip(-scores[0, :count], found[0, :count], strict=True))
    assert order == sorted(order)


def test_a_search_that_skips_lists_of_frequent_terms_finds_the_first_of_a_whole_ranking(monkeypatch):
    random = np.random.default_rng(0)
    common, rare = [f"common{n}" for n in range(6)], [f"rare{n}" for n in range(300)]
    texts = [" ".join([*random.permutation(common)[:4], *random.choice(rare, 2)]) for _ in range(3_000)]
    lexical, asked = built(table(texts)), " ".join(rare[:4] + common)
    partitions = []
    monkeypatch.setattr(np, "partition", lambda *given, real=np.partition: partitions.append(given) or real(*given))
    whole = lexical.rank([asked], len(lexical.ids))
    assert partitions == []
    for k in (1, 5, 40):
        ranking = lexical.rank([asked], k)
        assert (ranking.ids == whole.ids[:, :k]).all()
        assert (ranking.scores == whole.scores[:, :k]).all()
    assert len(partitions) > 3


@pytest.mark.parametrize("short", [0, 10**9])
def test_lists_that_are_added_and_lists_that_are_looked_up_give_the_same_numbers(monkeypatch, short):
    random = np.random.default_rng(1)
    rare = [f"rare{n}" for n in range(200)]
    texts = [" ".join([*random.permutation(WORDS)[:4], *random.choice(rare, 2)]) for _ in range(2_000)]
    lexical = built(table(texts))
    asked = [" ".join([*random.choice(rare, 3), *WORDS[:5]]) for _ in range(20)]
    monkeypatch.setattr("model.index.lexical.ENTRIES", 60)
    expected = lexical.rank(asked, 8)
    monkeypatch.setattr("model.index.lexical.SHORT", short)
    ranking = lexical.rank(asked, 8)
    assert (ranking.ids == expected.ids).all()
    assert (ranking.scores == expected.scores).all()


def test_the_arrays_depend_on_the_questions_alone():
    rows = table([f"{one} {other} {one}" for one in WORDS for other in WORDS])
    whole = lexical_arrays([rows])
    parts = lexical_arrays([rows.slice(70), rows.slice(0, 0), rows.slice(0, 30), rows.slice(30, 40)])
    assert all(whole[name].tobytes() == parts[name].tobytes() for name in LAYOUT)


def test_a_question_can_be_left_out_and_one_without_a_known_word_finds_nothing():
    lexical = built(table(["pay my bill", "pay", "cancel"]))
    ranking = lexical.rank(["paying bills", "?!", "unknown"], 3, exclude=[question_id("pay"), 0, 0])
    assert ranking.ids.tolist() == [[question_id("pay my bill"), -1, -1], [-1] * 3, [-1] * 3]
    assert np.isneginf(ranking.scores[1:]).all()


def test_questions_have_the_rows_of_the_index_and_without_an_index_their_numbers():
    lexical = built(table(["pay my bill", "pay", "cancel"]))
    ranking = lexical.rank(["paying bills", "cancel"], 3)
    assert ranking.rows.tolist() == np.where(ranking.ids == -1, -1, np.searchsorted(lexical.ids, ranking.ids)).tolist()
    rows = np.array([7, 5, 9], np.int32)
    of_index = dataclasses.replace(lexical, rows=rows).rank(["paying bills", "cancel"], 3)
    assert of_index.rows.tolist() == np.where(ranking.ids == -1, -1, rows[ranking.rows]).tolist()
    assert of_index.ids.tolist() == ranking.ids.tolist()


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda arrays: arrays.pop("starts"), "there is no starts"),
        (lambda arrays: arrays.update(weights=arrays["weights"][:-1]), "do not fit"),
        (lambda arrays: arrays.update(starts=arrays["starts"][::-1].copy()), "do not fit"),
        (lambda arrays: arrays.update(terms=arrays["terms"][::-1].copy()), "do not ascend"),
        (lambda arrays: arrays.update(questions=arrays["questions"] - 1), "is not there"),
        (lambda arrays: arrays.update(weights=-arrays["weights"]), "not above 0"),
        (lambda arrays: arrays.update(largest=arrays["largest"] * np.float32(np.nan)), "not above 0"),
        (lambda arrays: arrays.update(ids=arrays["ids"].view(np.uint8)[:-3]), "buffer size"),
    ],
)
def test_arrays_that_do_not_fit_together_are_refused(change, message):
    arrays = lexical_arrays([table(["pay my bill", "pay", "cancel"])])
    change(arrays)
    with pytest.raises(ValueError, match=message):
        Lexical.of({name: array.tobytes() for name, array in arrays.items()})


def test_after_a_number_of_entries_frequent_terms_are_only_looked_up(monkeypatch):
    texts = [f"common{n % 3} often{n % 7} rare{n // 4}" for n in range(2_000)]
    lexical = built(table(texts))
    whole = lexical.rank(["rare5 often1 common2"], 3)
    monkeypatch.setattr("model.index.lexical.ENTRIES", 1)
    ranking = lexical.rank(["rare5 often1 common2"], 3)
    assert (ranking.ids == whole.ids).all()  # the four questions with the rare term, of which three are the best
    assert (ranking.scores == whole.scores).all()


def test_entries_are_those_of_rare_terms_once_and_once_more_for_each_frequent_term(monkeypatch):
    lexical = built(table([*(f"common word{n}" for n in range(6)), "common rare", "rare thing"]))
    asked = ["common rare", "rare", "", "unknown"]
    assert lexical.entries(asked).tolist() == [9, 2, 0, 0]  # 7 questions have the one word, 2 the other
    monkeypatch.setattr("model.index.lexical.ENTRIES", 5)
    assert lexical.entries(asked).tolist() == [4, 2, 0, 0]  # both questions are looked up in the long list
