import pytest
from hypothesis import given
from hypothesis import strategies as st

from model.index.factory import checked_factory
from model.index.sizing.planning import Size, code_bytes, planned, predicted
from schemas.errors import QprError

QUORA = Size(questions=537_000, dimension=256, text_bytes=60, model_bytes=100 * 2**20, encode_us=5)
DEFAULT, LISTS = "HNSW32,SQ8,RFlat", "IVF2000,PQ128x4fs,RFlat"


@pytest.mark.parametrize(
    ("factory", "size"),
    [
        *(("Flat", 1024), ("IVF9,SQfp16", 512), ("IVF9,SQbf16", 512), ("IVF9_HNSW32,SQ8", 256), ("IVF9,SQ6", 192)),
        *(("IVF9,SQ4", 128), ("IVF9,PQ32", 32), ("IVF9,PQ32x4np", 16), ("IVF9,PQ7x5", 5)),
        *(("IVF9,PQ128x4fs", 64), ("IVF9,PQ128x4fs,RFlat", 64), ("IVF9,SQ8,RFlat", 256)),
        *(("HNSW32,SQ8,RFlat", 536), ("HNSW16,SQ4,RFlat", 280)),
    ],
)
def test_codes_have_the_size_that_faiss_gives_them(factory, size):
    assert code_bytes(factory, 256) == size


def test_without_a_bound_the_factory_is_that_of_the_size():
    assert planned(QUORA).factory == DEFAULT
    assert planned(QUORA._replace(questions=9_999)).factory == "Flat"
    assert planned(QUORA, factory="IVF100,SQ8", shards=3)[:2] == ("IVF100,SQ8", 3)


def test_the_most_exact_factory_that_fits_is_taken():
    exact = predicted(QUORA, DEFAULT, 8).memory_mb
    assert planned(QUORA, memory_mb=exact).factory == DEFAULT
    shorter = planned(QUORA, memory_mb=exact - 1)
    assert shorter.factory == LISTS
    assert shorter.memory_mb < exact
    assert planned(QUORA, memory_mb=shorter.memory_mb - 1).factory == "IVF2000_HNSW32,SQfp16"


@given(
    questions=st.integers(1, 10**8),
    dimension=st.sampled_from([8, 256, 768]),
    bound=st.integers(100, 200_000),
    bm25=st.booleans(),
)
def test_a_plan_is_within_its_bound_or_the_least_is_named_and_suffices(questions, dimension, bound, bm25):
    size = Size(questions, dimension, 60.0, 2**20, 5.0, bm25)
    try:
        plan = planned(size, more_shards=True, memory_mb=bound)
    except QprError as error:
        least = int(str(error).split("needs at least ")[1].split(" MB")[0].replace(",", ""))
        assert least > bound
        assert planned(size, more_shards=True, memory_mb=least).memory_mb <= least
    else:
        assert plan.memory_mb <= bound
        assert checked_factory(plan.factory)


def test_more_memory_never_gives_shorter_codes():
    codes = ["SQ4", "SQ8", "SQfp16", "RFlat"]
    places = []
    large = QUORA._replace(questions=10**7, bm25=False)
    for bound in range(1_000, 20_000, 250):
        try:
            places.append(codes.index(planned(large, more_shards=True, memory_mb=bound).factory.rpartition(",")[2]))
        except QprError:
            assert not places
    assert places == sorted(places)
    assert {*places} == {0, 1, 2, 3}


def test_an_impossible_bound_is_one_error_with_advice():
    with pytest.raises(
        QprError, match=r"^--memory-mb 10: an index of 537,000 questions of dimension 256 needs at least "
    ):
        planned(QUORA, memory_mb=10)
    with pytest.raises(QprError, match=r"MB\. Raise it$"):
        planned(QUORA._replace(bm25=False), memory_mb=10)


@given(
    questions=st.integers(1, 10**7),
    factory=st.sampled_from([None, "Flat", "IVF10,Flat", "IVF1000,SQ8"]),
    bound=st.integers(200, 20_000),
    bm25=st.booleans(),
)
def test_each_advice_of_an_error_about_memory_suffices(questions, factory, bound, bm25):
    size = QUORA._replace(questions=questions, bm25=bm25)
    try:
        planned(size, factory=factory, memory_mb=bound)
    except QprError as error:
        advice = str(error).partition("Raise it")[2]
        assert advice in ("", " or leave out --factory", " or add --no-bm25")
        if advice:
            size = size._replace(bm25="--no-bm25" not in advice and bm25)
            other = None if "--factory" in advice else factory
            assert planned(size, factory=other, memory_mb=bound).memory_mb <= bound


def test_an_error_about_memory_names_the_option_that_makes_the_index_fit():
    without_bm25 = planned(QUORA._replace(bm25=False), factory="Flat").memory_mb
    with pytest.raises(QprError, match=r"MB\. Raise it or add --no-bm25$"):
        planned(QUORA._replace(questions=9_999), memory_mb=planned(QUORA._replace(questions=9_999)).memory_mb - 1)
    with pytest.raises(QprError, match=r"MB\. Raise it or leave out --factory$"):
        planned(QUORA, factory="Flat", memory_mb=without_bm25)
    with pytest.raises(QprError, match=r"MB\. Raise it$"):
        planned(QUORA, factory="Flat", memory_mb=10)


def test_predictions_grow_with_what_they_are_of():
    small = predicted(QUORA, "IVF2000,Flat", 8)
    for change in ({"questions": 10**6}, {"dimension": 512}, {"model_bytes": 2**30}, {"text_bytes": 600.0}):
        large = predicted(QUORA._replace(**change), "IVF2000,Flat", 8)
        assert large.disk_mb > small.disk_mb
        assert large.build_mb > small.build_mb
        assert large.search_mb > small.search_mb
    assert predicted(QUORA._replace(encode_us=1_000), "IVF2000,Flat", 8).cpu_minutes > small.cpu_minutes + 8
    assert predicted(QUORA._replace(bm25=False), "IVF2000,Flat", 8).disk_mb < small.disk_mb
    assert predicted(QUORA._replace(queries=5_000), "IVF2000,Flat", 8).cpu_minutes > small.cpu_minutes + 0.1


def test_a_machine_that_multiplies_slowly_takes_longer_to_train_and_to_assign_lists_but_not_to_link_a_graph():
    for factory, slower in (("IVF2000,Flat", 1.5), ("HNSW32,SQ8,RFlat", 1.0)):
        usual, slow = predicted(QUORA, factory, 8), predicted(QUORA._replace(product_time=3.0), factory, 8)
        assert usual[:-1] == slow[:-1]
        assert slow.cpu_minutes >= slower * usual.cpu_minutes
