import dataclasses
import shutil

import numpy as np
import pyarrow as pa
import pytest

from model.confidence.additive_model import AdditiveModel, Curve
from model.confidence.confidence import Confidence
from model.confidence.features import NAMES
from model.index.lexical import Lexical
from model.reranking.term_statistics import WordCounts
from model.search import searcher as searcher_module
from model.search.retrieval import Retrieval
from model.search.searcher import open_searcher
from schemas.artifacts.manifest import read_manifest
from schemas.errors import QprError, UsageError
from schemas.text import question_id
from schemas.text_arrays import key_all
from tests.faults.damages import sign

TEXTS = ["pay my bill", "bill my pay", "my bill, pay", "cancel my flight", "rent a car"]


@pytest.fixture
def place(folder, make_model, make_dataset, request):
    run = request.getfixturevalue("qpr")
    if not (folder / "index").exists():
        make_model(folder / "model")
        make_dataset(folder / "data", [], alone=TEXTS)
        given = ("--questions", folder / "data", "--model", folder / "model", "--output", folder / "index")
        assert run("index", *given, "--shards", 3).code == 0
        assert run("index", *given[:-1], folder / "plain", "--no-bm25").code == 0
    return folder


@pytest.fixture
def copy(place, tmp_path):
    shutil.copytree(place / "index", tmp_path / "copy")
    return tmp_path / "copy"


def test_the_question_itself_is_first_among_others_of_the_same_words_and_can_be_left_out(place):
    searcher = open_searcher(str(place / "index"))
    same = TEXTS[:3]
    for text in same:  # a sum of words puts all three at distance 0
        assert searcher.search(f"{text.upper()}?", k=1)[0].text == text
        found = searcher.rank([text], 5, exclude=[question_id(text)])
        assert question_id(text) not in found.ids
        assert found.found.sum() == 4


@pytest.mark.parametrize("mode", ["dense", "bm25", "fusion"])
def test_only_some_questions_are_found(place, mode):
    searcher = open_searcher(str(place / "index"), mode=mode)
    some = np.array([question_id(text) for text in ("bill my pay", "rent a car")])
    part = dataclasses.replace(searcher, retrieval=searcher.views.among(some))
    for text in TEXTS:
        every = searcher.rank([text], 5).ids[0]
        among = part.rank([text], 5).ids[0]
        assert among[among != -1].tolist() == every[np.isin(every, some)].tolist()


def test_ranks_are_those_of_the_distance(place):
    searcher = open_searcher(str(place / "index"))
    hits = searcher.search("my bill, pay", k=3)
    nearest = searcher.index.rank(["my bill, pay"], 3).ids[0].tolist()
    assert [nearest[hit.why.dense_rank - 1] for hit in hits] == [hit.question_id for hit in hits]


def test_shared_words_are_distinct_and_in_the_order_of_the_query(place):
    hits = open_searcher(str(place / "index")).search("car car, a to RENT", k=5)
    assert {hit.text: hit.why.shared_words for hit in hits} == {
        **dict.fromkeys(TEXTS, ()),
        "rent a car": ("car", "a", "rent"),
    }


def test_a_question_of_the_index_is_answered_without_a_search(place, monkeypatch):
    searcher = open_searcher(str(place / "index"))
    expected = [searcher.search(text, k=1)[0] for text in TEXTS]
    monkeypatch.setattr(Retrieval, "find", lambda *_, **__: pytest.fail("searched"))
    for answer, hit in zip(searcher.answer_many([f" {text.upper()}?" for text in TEXTS]), expected, strict=True):
        assert (answer.answered, answer.reason, answer.hit.rank) == (True, "exact", 1)
        assert dataclasses.replace(answer.hit, why=hit.why) == hit
        assert answer.hit.why.shared_words == hit.why.shared_words
        assert answer.hit.why.dense_rank is None


@pytest.mark.parametrize("question", [f" {TEXTS[0].upper()}?", "pay it", "", "?"])
def test_a_known_question_has_its_answer_at_once_and_no_other_question_has_one(place, question):
    searcher = open_searcher(str(place / "index"))
    answer = searcher.answer(question)
    assert searcher.known(question) == (answer if answer.reason == "exact" else None)


def test_answers_are_in_the_order_of_the_questions(place):
    answers = open_searcher(str(place / "index")).answer_many(["pay it", TEXTS[4], "?", TEXTS[0]])
    assert [answer.reason for answer in answers] == ["no_certificate", "exact", "no_hit", "exact"]
    assert [answer.hit and answer.hit.text for answer in answers][1:] == [TEXTS[4], None, TEXTS[0]]


@pytest.mark.parametrize(
    "question", ["\0", "👍", "👍 pay", "a" * 2**20, "pay " * 2**18, "\N{RIGHT-TO-LEFT OVERRIDE}pay"]
)
def test_odd_questions_are_searched(place, question):
    searcher = open_searcher(str(place / "index"))
    assert [hit.rank for hit in searcher.search(question, k=10**9)] in ([], [1, 2, 3, 4, 5])
    assert searcher.answer(question).reason in ("no_hit", "no_certificate")


def test_a_model_is_no_index(place):
    with pytest.raises(QprError, match="holds a model, not an index"):
        open_searcher(str(place / "model"))


@pytest.mark.parametrize("mode", ["exact", "dense", "bm25", "fusion"])
def test_the_question_itself_is_first_in_every_mode(place, mode):
    searcher = open_searcher(str(place / "index"), mode=mode)
    for text in TEXTS:
        hits = searcher.search(f" {text.upper()}!", k=10**9)
        assert (hits[0].rank, hits[0].text) == (1, text)
        assert len({hit.question_id for hit in hits}) == len(hits)
        assert question_id(text) not in searcher.rank([text], 5, exclude=[question_id(text)]).ids
    assert searcher.search("?!") == []
    assert searcher.rank([], 2).ids.shape == (0, 2)
    for k in (0, -1):
        with pytest.raises(UsageError, match=f"k must be at least 1, got {k}"):
            searcher.search("pay", k=k)


@pytest.mark.parametrize("mode", ["exact", "dense", "bm25", "fusion"])
def test_a_confidence_model_gives_the_hits_of_every_mode_a_probability(place, mode):
    plain = open_searcher(str(place / "index"), mode=mode)
    curves = {name: Curve(knots=(0, 1), log_odds=(-0.5, 0.5)) for name in NAMES}
    counts = WordCounts.of(key_all(pa.array(TEXTS)))
    searcher = dataclasses.replace(plain, confidence=Confidence(counts, AdditiveModel(bias=0, curves=curves)))
    asked = ["pay a bill", "PAY my bill", "zebra"]
    together = searcher.search_many(asked)
    assert together == [searcher.search(question) for question in asked]
    assert [[hit.text for hit in hits] for hits in together] == [
        [hit.text for hit in hits] for hits in plain.search_many(asked)
    ]
    assert all(0 < hit.probability < 1 and hit.why.contributions for hits in together[::2] for hit in hits)
    assert together[1][0].probability == 1
    assert searcher.search_many(["zebra"], mode="exact") == [[]]  # nothing to judge


def test_one_hit_by_words_is_the_first_of_several(place, monkeypatch):
    searcher, rank = open_searcher(str(place / "index"), mode="bm25"), Lexical.rank

    def of_fewer_lists(lexical, texts, k, exclude=None):  # as of rare terms with more questions than are read
        ranking = rank(lexical, texts, k, exclude)
        return dataclasses.replace(ranking, ids=ranking.ids[:, ::-1], rows=ranking.rows[:, ::-1]) if k < 3 else ranking

    monkeypatch.setattr(Lexical, "rank", of_fewer_lists)
    several = searcher.search("paying bills", 3)
    assert len(several) == 3
    assert searcher.search("paying bills", 2) == several[:2]


def test_hits_have_the_ranks_of_the_searches_that_found_them(place):
    ranks = {
        mode: [
            (hit.why.dense_rank, hit.why.lexical_rank)
            for hit in open_searcher(str(place / "index"), mode=mode).search("paying bills", 5)
        ]
        for mode in ("exact", "dense", "bm25", "fusion")
    }
    assert ranks["exact"] == []
    assert ranks["dense"] == [(rank, None) for rank in range(1, 6)]
    assert ranks["bm25"] == [(None, rank) for rank in range(1, 4)]  # of stems: the others share none
    assert sorted(rank for rank, _ in ranks["fusion"]) == [1, 2, 3, 4, 5]
    assert sorted(rank for _, rank in ranks["fusion"] if rank) == [1, 2, 3]


def test_the_default_mode_is_the_indexs(place):
    assert open_searcher(str(place / "index")).retrieval.mode == "dense"  # too few validation clusters to choose by


def test_one_searcher_searches_in_every_mode_that_is_opened(place):
    fusion, dense = (
        open_searcher(str(place / "index"), mode="fusion"),
        open_searcher(str(place / "index"), mode="dense"),
    )
    assert fusion.modes == ("fusion", "dense", "bm25", "exact")
    assert dense.modes == ("dense", "exact")
    question = ["pay a bill"]
    assert fusion.search_many(question, 5, mode="dense") == dense.search_many(question, 5)
    assert fusion.search_many(question, 5, mode="exact") == [[]]
    with pytest.raises(UsageError, match="mode bm25: is not one of dense, exact"):
        dense.search_many(question, mode="bm25")


@pytest.mark.parametrize("mode", ["bm25", "fusion"])
def test_a_mode_that_the_index_lacks_is_named(place, mode):
    with pytest.raises(
        QprError, match=f"has no BM25, which mode {mode} needs. Build the index again without --no-bm25"
    ):
        open_searcher(str(place / "plain"), mode=mode)


def test_a_mode_and_a_reranker_that_contradict_each_other_are_refused(place):
    with pytest.raises(UsageError, match="--mode rerank: needs a reranker"):
        open_searcher(str(place / "index"), mode="rerank")
    with pytest.raises(UsageError, match="--rerank: belongs to --mode rerank, got --mode dense"):
        open_searcher(str(place / "index"), mode="dense", rerank="r")


def test_the_files_of_bm25_depend_neither_on_shards_nor_on_the_run(place, qpr, tmp_path):
    given = ("--questions", place / "data", "--model", place / "model", "--output", tmp_path / "one")
    assert qpr("index", *given, "--shards", 1).code == 0
    one, three = (read_manifest(str(url), "index").of("lexical") for url in (tmp_path / "one", place / "index"))
    assert [file.sha256 for file in one] == [file.sha256 for file in three]
    assert len(one) == 6


def test_a_flipped_bit_of_bm25_is_noticed_in_every_mode(copy):
    for path in sorted(copy.rglob("lexical/*.bin")):
        content = path.read_bytes()
        path.write_bytes(bytes([content[0] ^ 1]) + content[1:])
        for mode in ("dense", "bm25"):
            with pytest.raises(QprError, match=f"{path.name}: does not match the manifest's sha256"):
                open_searcher(str(copy), mode=mode)
        path.write_bytes(content)
    path.unlink()
    with pytest.raises(QprError, match="is gone, though the manifest lists it"):
        open_searcher(str(copy), mode="fusion")


def test_an_index_that_is_replaced_while_it_is_opened_is_opened_as_it_is_now(place, copy, qpr, monkeypatch):
    real, opened = searcher_module.open_index, []

    def replaced_meanwhile(url, **given):
        if not opened:
            opened.append(url)
            made = qpr(
                "index", "--questions", place / "data", "--model", place / "model", "--output", copy, "--overwrite"
            )
            assert made.code == 0
        return real(url, **given)

    monkeypatch.setattr(searcher_module, "open_index", replaced_meanwhile)
    published = open_searcher(str(copy)).version
    assert published == open_searcher(str(copy)).version
    assert published != open_searcher(str(place / "index")).version


@pytest.mark.parametrize(
    ("name", "change", "message"),
    [
        ("ids", lambda ids: ids + 1, "BM25 is of other questions than the index"),
        ("weights", lambda weights: weights * 0, "BM25: a weight is not above 0"),
        ("questions", lambda numbers: numbers + 1000, "BM25: a term is in a question that is not there"),
    ],
)
def test_signed_arrays_of_bm25_that_do_not_fit_are_refused(copy, name, change, message):
    [path] = copy.rglob(f"lexical/{name}.bin")
    kind = {"ids": np.int64, "weights": np.float32, "questions": np.int32}[name]
    path.write_bytes(change(np.frombuffer(path.read_bytes(), kind)).astype(kind).tobytes())
    sign(copy)
    with pytest.raises(QprError, match=f"{message}.*Build the index again"):
        open_searcher(str(copy), mode="fusion")


@pytest.mark.parametrize("mode", ["dense", "fusion", "bm25"])
def test_an_answer_is_the_same_with_hits_and_without(place, mode):
    searcher = open_searcher(str(place / "index"), mode=mode)
    asked = ["pay my bill", "pay the bill", "cancel the flight", "unheard", ""]
    alone = searcher.answer_many(asked)
    for hits in (1, 3, 20):
        answers = searcher.answer_many(asked, hits=hits)
        assert [(a.answered, a.reason) for a in answers] == [(a.answered, a.reason) for a in alone]
        assert [a.hit and a.hit.question_id for a in answers] == [a.hit and a.hit.question_id for a in alone]
        found = searcher.search_many(asked, hits)
        assert [[hit.question_id for hit in a.hits] for a in answers] == [[h.question_id for h in f] for f in found]
    assert not any(answer.hits for answer in alone)
    for hits in (-1, 21):
        with pytest.raises(UsageError, match="from 0 to 20"):
            searcher.answer_many(asked, hits=hits)
