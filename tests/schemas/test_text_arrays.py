import itertools

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from schemas import text
from schemas import text_arrays as columns
from schemas.compiled import SWITCH
from schemas.words import words_v1
from tests.schemas.test_words import AWKWARD, NUMBERS

ASCII = "".join(map(chr, range(128)))
texts = st.one_of(st.text(), st.text(AWKWARD), st.text(ASCII), st.text(NUMBERS), st.text("aB _.?'\n"))
nullable = st.lists(st.none() | texts, max_size=12)


@given(nullable)
def test_fold_and_key_are_the_scalar_functions_and_null_stays_null(values):
    array = pa.array(values, pa.string())
    assert columns.fold_all(array).to_pylist() == [v if v is None else text.fold(v) for v in values]
    assert columns.key_all(array).to_pylist() == [v if v is None else text.key(v) for v in values]


@given(nullable)
def test_words_and_tokens_are_the_scalar_functions_and_the_list_of_a_null_is_empty(values):
    keys = [v if v is None else text.key(v) for v in values]
    array = pa.array(keys, pa.string())
    listed, distinct = columns.words_all(array), columns.tokens_all(array)
    assert listed.to_pylist() == [[] if k is None else text.words(k) for k in keys]
    assert distinct.to_pylist() == [[] if k is None else text.tokens(k) for k in keys]
    older = columns.words_all(array, version=1)
    assert older.to_pylist() == [[] if k is None else words_v1(k) for k in keys]
    assert listed.type.value_type == pa.string()
    assert distinct.type.value_type == pa.dictionary(pa.int32(), pa.string())


def test_compiled_loops_keep_the_same_tokens(monkeypatch):
    pytest.importorskip("schemas.kernels.numba_kernels", reason="numba is not installed")
    keys = pa.array(["b a b", "", None, "c", "a a c a", "b"], pa.string())
    for part in (keys, keys.slice(2, 3), keys.slice(6)):
        monkeypatch.setenv(SWITCH, "0")
        plain = columns.tokens_all(part)
        monkeypatch.setenv(SWITCH, "1")
        assert columns.tokens_all(part).equals(plain)


@given(nullable)
def test_has_word_agrees_with_the_scalar_function(values):
    keys = [v if v is None else text.key(v) for v in values]
    expected = [k if k is None else bool(text.words(k)) for k in keys]
    assert columns.has_word_all(pa.array(keys, pa.string())).to_pylist() == expected


@given(st.lists(texts, max_size=12))
def test_hashes_are_the_scalar_function(values):
    hashes = columns.hash64_all(pa.array(values, pa.string()))
    assert hashes.type == pa.int64()
    assert hashes.to_pylist() == [text.hash64(v) for v in values]


@given(nullable, st.integers(0, 5), st.integers(0, 5))
def test_a_slice_gives_the_slice_of_the_results(values, start, length):
    whole = pa.array(values, pa.string())
    part = whole.slice(min(start, len(whole)), length)
    for function in (columns.fold_all, columns.key_all, columns.words_all, columns.tokens_all, columns.has_word_all):
        assert function(part).to_pylist() == function(pa.array(part.to_pylist(), pa.string())).to_pylist()
    known = part.drop_null()
    assert columns.hash64_all(known).to_pylist() == [text.hash64(v) for v in known.to_pylist()]


@pytest.mark.parametrize(
    "function", [columns.fold_all, columns.key_all, columns.words_all, columns.tokens_all, columns.has_word_all]
)
def test_no_rows_give_no_rows(function):
    assert function(pa.array([], pa.string())).to_pylist() == []


@given(st.lists(st.lists(st.none() | texts, max_size=3), max_size=4))
def test_a_column_of_chunks_gives_the_array_of_its_values(chunks):
    column = pa.chunked_array([pa.array(chunk, pa.string()) for chunk in chunks], pa.string())
    whole = pa.array(column.to_pylist(), pa.string())
    for function in (columns.fold_all, columns.key_all, columns.words_all, columns.tokens_all, columns.has_word_all):
        assert function(column).equals(function(whole))
    assert columns.hash64_all(column.drop_null()).equals(columns.hash64_all(whole.drop_null()))


@pytest.mark.parametrize("texts_at_once", [1, 2, 3, 7])
def test_hashes_do_not_depend_on_how_many_are_computed_at_a_time(monkeypatch, texts_at_once):
    values = ["a", "", "é", "a", "word " * 9, "日本", "b"]
    monkeypatch.setattr(columns, "HASHED_AT_ONCE", texts_at_once)
    assert columns.hash64_all(pa.array(values)).to_pylist() == [text.hash64(value) for value in values]


def test_a_null_cannot_be_hashed():
    with pytest.raises(ValueError, match=r"cannot hash 1 null$"):
        columns.hash64_all(pa.array(["a", None]))


@given(st.lists(st.lists(st.none() | st.sampled_from("abc"), max_size=4), max_size=4))
def test_encoding_a_column_of_any_chunks_keeps_its_values_and_works_once_a_distinct_value(chunks):
    column = pa.chunked_array([pa.array(chunk, pa.string()) for chunk in chunks], pa.string())
    encoded = columns.encode(column)
    flat = [value for chunk in chunks for value in chunk]
    assert encoded.to_pylist() == flat
    assert sorted(encoded.dictionary.to_pylist()) == sorted({v for v in flat if v is not None})
    mapped = pa.DictionaryArray.from_arrays(encoded.indices, columns.fold_all(encoded.dictionary))
    assert mapped.to_pylist() == flat
    assert columns.encode(encoded) is encoded


TEXTS = st.lists(st.none() | st.sampled_from(["", "a", "ab", "é", "b" * 9]), max_size=9)


@given(TEXTS, st.integers(0, 3), st.integers(0, 4))
def test_a_part_of_an_encoded_column_has_the_texts_of_its_rows_alone_in_any_order_of_them(values, start, rows):
    part = pa.array(values, columns.ENCODED).slice(start, rows)
    for found in (columns.with_used_texts(part), columns.in_order(pa.chunked_array([part, part])).slice(0, len(part))):
        assert found.to_pylist() == part.to_pylist()
        assert sorted(found.dictionary.to_pylist()) == sorted({*part.to_pylist()} - {None})
    ordered = columns.in_order(part)
    assert ordered.dictionary.to_pylist() == sorted(ordered.dictionary.to_pylist(), key=str.encode)
    cut = [None if value is None else value[:1] for value in part.to_pylist()]
    assert columns.beginnings(part, 1).to_pylist() == columns.beginnings(part.cast(pa.string()), 1).to_pylist() == cut


@pytest.mark.parametrize("kind", [pa.string(), pa.large_string(), pa.string_view(), columns.ENCODED])
@given(values=TEXTS, rows=st.integers(1, 4), size=st.integers(1, 12))
def test_parts_of_a_table_have_few_bytes_of_text_or_one_row(kind, values, rows, size):
    table = pa.table({"n": pa.array(range(len(values)), pa.int64()), "text": pa.array(values, pa.string())})
    typed = table.set_column(1, "text", pa.array(values, kind))
    parts = [*columns.parts_of_texts(typed, rows=rows, size=size)]
    assert parts
    assert [row for part in parts for row in part.to_pylist()] == table.to_pylist()
    held = [[len((text or "").encode()) for text in part["text"].to_pylist()] for part in parts]
    assert all(len(part) <= rows and (len(part) < 2 or sum(part) <= size) for part in held)
    for part, following in itertools.pairwise(held):  # no part is shorter than it has to be
        assert len(part) == rows or sum(part) + following[0] > size
