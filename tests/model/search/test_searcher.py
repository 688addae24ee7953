import pytest

from model.search.searcher import open_searcher
from schemas.errors import QprError
from schemas.text import question_id

TEXTS = ["pay my bill", "bill my pay", "my bill, pay", "cancel my flight", "rent a car"]


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return tmp_path_factory.mktemp("searcher")


@pytest.fixture
def place(folder, make_model, make_dataset, request):
    run = request.getfixturevalue("qpr")
    if not (folder / "index").exists():
        make_model(folder / "model")
        make_dataset(folder / "data", [], alone=TEXTS)
        given = ("--questions", folder / "data", "--model", folder / "model", "--output", folder / "index")
        assert run("index", *given, "--shards", 3).code == 0
    return folder


def test_the_question_itself_is_first_among_others_of_the_same_words_and_can_be_left_out(place):
    searcher = open_searcher(str(place / "index"))
    same = TEXTS[:3]
    for text in same:  # a sum of words puts all three at distance 0
        assert searcher.search(f"{text.upper()}?", k=1)[0].text == text
        found = searcher.rank([text], 5, exclude=[question_id(text)])
        assert question_id(text) not in found.ids
        assert found.found.sum() == 4


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
