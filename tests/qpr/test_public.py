import copy
import doctest
import inspect
import pickle

import numpy as np
import pyarrow as pa
import pytest

import qpr
from qpr import Answer, Hit, QprError, Searcher, UsageError, Why, open_searcher
from qpr.adapters.redisvl_check import AnswerCheck
from schemas.text import hash64, question_id


@pytest.fixture
def place(folder, make_model, make_dataset, request):
    run = request.getfixturevalue("qpr")
    if not (folder / "index").exists():
        make_model(folder / "model")
        make_dataset(folder / "data", [["pay my bill", "how do I pay"], ["cancel my flight", "flight cancel"]])
        given = ("--questions", folder / "data", "--model", folder / "model", "--output", folder / "index")
        assert run("index", *given, "--shards", 16).code == 0  # four questions: most shards are empty
    return folder


@pytest.fixture
def searcher(place):
    return open_searcher(str(place / "index"))


def test_a_hit_is_all_that_is_known_of_a_question(searcher):
    [hit] = searcher.search("Pay my bill", k=1)
    assert hit == Hit(
        rank=1,
        question_id=question_id("pay my bill"),
        text="pay my bill",
        answer="answer c0",
        answer_id=None,
        cluster_id=hash64("c0"),
        events=1,
        probability=None,
        why=Why(shared_words=("pay", "my", "bill"), dense_rank=1),
    )
    assert {type(value) for value in (hit.rank, hit.question_id, hit.cluster_id, hit.events)} == {int}
    with pytest.raises(AttributeError):
        hit.rank = 2


def test_hits_are_ranked_and_never_padded(searcher):
    hits = searcher.search("pay my bill", k=50)
    assert [hit.rank for hit in hits] == [1, 2, 3, 4]
    assert [hit.why.dense_rank for hit in hits] == [1, 2, 3, 4]
    assert len(searcher.search("pay")) == 4
    assert searcher.search("pay my bill", k=10**15) == hits


def test_a_question_without_a_word_finds_nothing_and_spares_the_others(searcher):
    assert searcher.search("?!") == searcher.search("") == []
    one, nothing, other = searcher.search_many(["pay my bill", "?!", "cancel my flight"], k=2)
    assert (one[0].text, nothing, other[0].text) == ("pay my bill", [], "cancel my flight")
    assert searcher.search_many([]) == []


def test_many_questions_are_answered_as_one_by_one(searcher):
    asked = ["pay", "my flight", "cancel bill"]
    for question, together in zip(asked, searcher.search_many(tuple(asked), k=3), strict=True):
        alone = searcher.search(question, k=3)
        assert [hit.question_id for hit in alone] == [hit.question_id for hit in together]


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda searcher: searcher.search_many("who"), r"got str. Write search\(question\) for one"),
        (lambda searcher: searcher.search_many(None), r"got NoneType. Write search\(question\)"),
        (lambda searcher: searcher.search_many(["pay", 5]), "item 1 is of type int"),
        (lambda searcher: searcher.search(["who"]), r"got list. Write search_many\(\[...\]\) for several"),
        (lambda searcher: searcher.answer(["who"]), r"Write answer_many\(\[...\]\) for several"),
        (lambda searcher: searcher.search("\ud800"), "the question is no text: it has a surrogate without its pair"),
        (lambda searcher: searcher.known("\ud800"), "the question is no text: it has a surrogate without its pair"),
        (lambda searcher: searcher.answer_many(["\ud800"]), "item 0 is no text: it has a surrogate without its pair"),
        (lambda searcher: searcher.search("who", k=2.0), "k takes a whole number, got 2.0. Convert it to int"),
        (lambda searcher: searcher.rank(["who"], None), "k takes a whole number, got None"),
        (lambda searcher: searcher.rank("who", 1), r"got str. Write rank\(\[question\], k\) for one"),
        (lambda searcher: searcher.rank(["who"], 1, [1, 2]), "exclude takes an array of 1 whole number"),
        (lambda searcher: searcher.rank(["who"], 0), "k must be at least 1, got 0"),
        (
            lambda searcher: searcher.search("who", filters=5),
            "filters: have to be a dict of columns and values, got int",
        ),
        (lambda searcher: searcher.search_many({"who": 1}), "got dict"),
        (lambda searcher: searcher.answer_many(["who"], hits="3"), "hits takes a whole number, got '3'"),
        (lambda searcher: open_searcher(searcher.index.url, probes=1.5), "probes takes a whole number, got 1.5"),
        (lambda searcher: open_searcher(searcher.index.url, mode="Dense"), "mode 'Dense': is not one of exact, dense"),
        (lambda searcher: open_searcher(None), "a path has to be a str or a Path, got NoneType"),
        (lambda searcher: open_searcher(searcher.index.url, rerank=[]), "has to be a str or a Path, got list"),
        (lambda searcher: open_searcher(b"index"), "a path has to be a str or a Path, got bytes"),
        (lambda searcher: searcher.without_answers(5), "answer_ids takes a set of str, got int. Put it into a set"),
        (lambda searcher: searcher.without_answers("a1"), "answer_ids takes a set of str, got str. Put it into a set"),
        (lambda searcher: searcher.without_answers([1]), "answer_ids takes a set of str, got 1 in it. Convert it"),
        (lambda searcher: AnswerCheck(searcher.index.url), r"takes a Searcher, got str. Write open_searcher\(url\)"),
        (lambda searcher: searcher.search("who", k=0), "k must be at least 1, got 0"),
        (lambda searcher: searcher.search_many(["who"], k=-1), "k must be at least 1, got -1"),
    ],
)
def test_a_mistaken_call_names_the_correct_one(searcher, call, message):
    with pytest.raises(UsageError, match=message):
        call(searcher)


def test_questions_can_be_in_every_kind_of_sequence_and_numbers_of_numpy(searcher):
    asked = ["pay", "my flight"]
    expected = searcher.search_many(asked, k=2)
    for given in (iter(asked), np.array(asked), pa.array(asked), pa.chunked_array([asked[:1], asked[1:]])):
        assert searcher.search_many(given, k=np.int64(2)) == expected
    with pytest.raises(UsageError, match="item 1 is of type NoneType"):
        searcher.search_many(pa.array(["pay", None]))


def test_a_ranking_has_as_many_columns_as_the_index_has_questions(searcher):
    found = searcher.rank(["pay my bill"], 10**20, [-1])
    assert found.ids.shape == (1, 4)
    assert found.found.all()
    other = searcher.rank(iter(["pay my bill"]), 10**9, found.ids[:, 0])
    assert other.ids.tolist() == [[*found.ids[0, 1:].tolist(), -1]]


def test_paths_open_what_their_texts_open(place):
    assert open_searcher(place / "index").index.url == str(place / "index")
    assert qpr.load_encoder(place / "model").digest == qpr.load_encoder(str(place / "model")).digest


def test_what_has_arrays_is_compared_by_identity_and_can_be_a_key(searcher, place):
    encoders = [qpr.load_encoder(place / "model") for _ in range(2)]
    rankings = [searcher.rank(["pay my bill"], 2) for _ in range(2)]
    for one, other in ((searcher, open_searcher(place / "index")), encoders, rankings):
        assert {one: 1}[one] == 1
        assert one != other
    assert isinstance(encoders[0], qpr.Encoder)
    assert isinstance(rankings[0], qpr.Ranking)


def test_a_searcher_stays_in_its_process_and_copies_of_what_holds_it_share_it(searcher):
    for held in (searcher, searcher.search, {"cache": AnswerCheck(searcher)}):
        with pytest.raises(TypeError, match=r"a Searcher does not pickle, since it maps files\. Open one in the init"):
            pickle.dumps(held)
    assert copy.copy(searcher) is searcher
    assert copy.deepcopy({"cache": [searcher]})["cache"][0] is searcher


def test_only_a_question_of_the_index_is_answered_without_a_certificate(searcher):
    exact, near, nothing = searcher.answer_many(["PAY my bill?", "pay my bills", "?!"])
    assert (exact.answered, exact.reason, exact.hit.text) == (True, "exact", "pay my bill")
    assert (near.answered, near.reason, near.hit.rank, near.certificate) == (False, "no_certificate", 1, None)
    assert nothing == Answer("?!", answered=False, reason="no_hit", hit=None)
    assert searcher.answer("?!") == nothing


def test_the_text_of_a_searcher_is_short_and_has_no_word_of_its_questions(searcher, place):
    assert repr(searcher) == f"Searcher({str(place / 'index')!r}, 4 questions, mode='dense')"
    for part in (searcher.retrieval, searcher.index, searcher.index.encoder):
        assert len(repr(part)) < 300
        assert "bill" not in repr(part)


def test_questions_are_encoded_by_the_call_of_the_model_card(place):
    assert qpr.load_encoder(str(place / "model")).encode(["pay my bill", "?!"]).shape[0] == 2


def test_errors_of_the_public_interface_are_its_own(tmp_path):
    with pytest.raises(QprError, match="not an index"):
        open_searcher(str(tmp_path / "nothing"))


def test_every_public_name_is_documented_and_the_examples_run(place, monkeypatch):
    monkeypatch.chdir(place)
    assert all(inspect.getdoc(getattr(qpr, name)) for name in qpr.__all__)
    for example in (qpr, Searcher.search):
        [found] = doctest.DocTestFinder(recurse=False).find(example, "example", globs={"open_searcher": open_searcher})
        result = doctest.DocTestRunner().run(found)
        assert (result.failed, result.attempted > 1) == (0, True)


def test_a_searcher_of_a_path_is_refused_when_it_is_made(place, searcher):
    for given in (str(place / "index"), place / "index", searcher.index):
        with pytest.raises(UsageError, match=f"got {type(given).__name__}. Call open_searcher with the path"):
            Searcher(given)
