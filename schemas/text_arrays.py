"""The functions of `schemas.text` on Arrow arrays: the same results, without a Python call for an ASCII row.

strings, an array or a column of chunks -> fold_all, key_all -> words_all, tokens_all, hash64_all, each one array

`pyarrow.compute.utf8_normalize` decomposes where NFKC composes and `utf8_lower` is not case folding, so Arrow does the
ASCII rows and Python the rest; property tests hold both against the scalar definition.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterator
from typing import Final

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from schemas import text as scalar
from schemas.compiled import load_loops
from schemas.quantities import counted
from schemas.ragged import offsets_of
from schemas.words import SYMBOLS, VERSION, words_v1

ENCODED: Final = pa.dictionary(pa.int32(), pa.string())
"""Type of a column whose texts are long and shared by many rows, as answers are: each text is in memory once."""

HASHED_AT_ONCE = 1 << 17
"""Texts that are Python objects at a time while they are hashed; bounds memory."""

FEWEST_WORDS = 1 << 24
"""Number of words from which the compiled loop is loaded if numba is not: a second of numpy's work."""

_TEXTS: Final = (pa.types.is_string, pa.types.is_large_string, pa.types.is_binary, pa.types.is_large_binary)
_ASCII_SPACES, _ASCII_ODD_SPACES = r"[\t-\r\x1c-\x1f ]+", r"[\t-\r\x1c-\x1f]|  "
_ASCII_OUTER = " " + "".join(c for c in map(chr, range(128)) if scalar.is_outer_punctuation(c))
_ASCII_NOT_WORD, _ASCII_ODD_NOT_WORD = r"[^0-9A-Za-z_]+", r"[^0-9A-Za-z_ ]|  "


def fold_all(texts: pa.Array | pa.ChunkedArray) -> pa.Array:
    """Return `schemas.text.fold` of every string; null stays null."""
    return _ascii_in_arrow(_whole(texts), _fold_ascii, scalar.fold)


def key_all(texts: pa.Array | pa.ChunkedArray) -> pa.Array:
    """Return `schemas.text.key` of every string; null stays null."""
    return _ascii_in_arrow(_whole(texts), lambda plain: pc.ascii_trim(_fold_ascii(plain), _ASCII_OUTER), scalar.key)


def words_all(keys: pa.Array | pa.ChunkedArray, *, version: int = VERSION) -> pa.Array:
    """Return `schemas.text.words` of every key as a list array; the list of a null is empty.

    Args:
        keys: question keys.
        version: of the words; 1 for models that learned them (`schemas.words.words_v1`).
    """
    texts = pc.fill_null(_whole(keys), "")
    odd = pc.match_substring_regex(texts, _ASCII_ODD_NOT_WORD)
    if pc.any(odd).as_py():
        texts = pc.replace_with_mask(texts, odd, _spaced_words(texts.filter(odd), version))
    return _split_at_spaces(pc.ascii_trim(texts, " "))


def tokens_all(keys: pa.Array | pa.ChunkedArray) -> pa.Array:
    """Return `schemas.text.tokens` of every key as a list array of encoded strings; the list of a null is empty."""
    offsets, flat = _first_of_equal(words_all(keys))
    return pa.ListArray.from_arrays(offsets, flat)


def distinct_all(listed: pa.ListArray) -> pa.ListArray:
    """Return every list with the first of equal values only; there must be no null."""
    offsets, flat = _first_of_equal(listed)
    return pa.ListArray.from_arrays(offsets, flat.dictionary.take(flat.indices))


def _first_of_equal(listed: pa.ListArray) -> tuple[pa.Array, pa.DictionaryArray]:
    """Return the offsets and the values of `distinct_all`."""
    flat = pc.list_flatten(listed).dictionary_encode()
    codes = flat.indices.to_numpy(zero_copy_only=False)
    values = max(len(flat.dictionary), 1)
    if (loops := load_loops("schemas.kernels.numba_kernels", len(codes), FEWEST_WORDS)) is not None:
        ends = offsets_of(pc.list_value_length(listed).to_numpy(zero_copy_only=False))
        kept_ends, kept = np.zeros(len(ends), np.int32), np.empty_like(codes)
        kept = kept[: loops.keep_first(ends, codes, values, kept_ends, kept)]
        return pa.array(kept_ends), pa.DictionaryArray.from_arrays(pa.array(kept), flat.dictionary)
    parents = pc.list_parent_indices(listed).to_numpy(zero_copy_only=False)
    pairs = parents.astype(np.int64) * values + codes
    ordered = np.sort(pairs)
    repeats = np.zeros(len(listed), bool)
    repeats[ordered[1:][ordered[1:] == ordered[:-1]] // values] = True
    repeated = repeats[parents]
    is_first = ~repeated  # few texts repeat a word, and the positions of equal values take six times as long as a sort
    places = np.flatnonzero(repeated)
    is_first[places[np.unique(pairs[places], return_index=True)[1]]] = True
    first = np.flatnonzero(is_first)
    offsets = offsets_of(np.bincount(parents[first], minlength=len(listed)))
    return pa.array(offsets, pa.int32()), pa.DictionaryArray.from_arrays(pa.array(codes[first]), flat.dictionary)


def has_word_all(keys: pa.Array | pa.ChunkedArray) -> pa.Array:
    """Return for every key whether it has a word of `schemas.text.words`; null stays null."""
    whole = _whole(keys)
    plain = pc.match_substring_regex(whole, "[0-9A-Za-z_]")
    unsure = pc.and_(pc.invert(plain), pc.invert(pc.string_is_ascii(whole)))
    if not pc.any(unsure).as_py():
        return plain
    has_word = [bool(scalar.words(k)) for k in whole.filter(unsure).to_pylist()]
    return pc.replace_with_mask(plain, pc.fill_null(unsure, False), pa.array(has_word, pa.bool_()))


def hash64_all(texts: pa.Array | pa.ChunkedArray) -> pa.Array:
    """Return `schemas.text.hash64` of every string as int64.

    Raises:
        ValueError: there is a null.
    """
    if texts.null_count:
        raise ValueError(f"cannot hash {counted(texts.null_count, 'null')}")
    digests = bytearray()
    for start in range(0, len(texts), HASHED_AT_ONCE):
        some = texts.slice(start, HASHED_AT_ONCE).cast(pa.binary()).to_pylist()
        digests += b"".join(hashlib.blake2b(value, digest_size=8).digest() for value in some)
    return pa.array(np.frombuffer(digests, "<i8"), pa.int64())


def answer_keys(answer_ids: pa.Array | pa.ChunkedArray, answers: pa.Array | pa.ChunkedArray) -> pa.Array:
    """Return `schemas.text.answer_key` of every row; null without an answer."""
    texts = encode(answers)
    hashes = hash64_all(fold_all(texts.dictionary)).cast(pa.string()).take(texts.indices)
    return pc.coalesce(_whole(answer_ids), hashes)


def encode(column: pa.Array | pa.ChunkedArray) -> pa.DictionaryArray:
    """Return a string column as one dictionary array, so that work is done once a distinct value.

    ``encode(column)`` then ``pa.DictionaryArray.from_arrays(a.indices, f(a.dictionary))`` maps ``f`` over the column.
    """
    return _whole(column if pa.types.is_dictionary(column.type) else column.dictionary_encode())


def with_used_texts(column: pa.Array | pa.ChunkedArray) -> pa.DictionaryArray:
    """Return a dictionary array without the texts that no row has, as those of a part of a table."""
    coded = encode(column)
    used = coded.indices.unique().drop_null()
    if len(used) == len(coded.dictionary):
        return coded
    return pa.DictionaryArray.from_arrays(pc.index_in(coded.indices, value_set=used), coded.dictionary.take(used))


def in_order(column: pa.Array | pa.ChunkedArray) -> pa.DictionaryArray:
    """Return a dictionary array whose indices are in the order of the texts, to group and sort rows by them."""
    coded = with_used_texts(column)
    order = pc.sort_indices(coded.dictionary)
    rank = pa.array(np.argsort(order.to_numpy()), pa.int32())
    return pa.DictionaryArray.from_arrays(rank.take(coded.indices), coded.dictionary.take(order))


def beginnings(texts: pa.Array | pa.ChunkedArray, characters: int) -> pa.Array:
    """Return the first characters of every string; null stays null."""
    coded = with_used_texts(texts)
    return pc.utf8_slice_codeunits(coded.dictionary, 0, characters).take(coded.indices)


def text_bytes(values: pa.Array | pa.ChunkedArray) -> np.ndarray:
    """Return the number of bytes of the text of every row, int64; zeros for a column of another type."""
    if isinstance(values, pa.ChunkedArray):
        return np.concatenate([np.zeros(0, np.int64), *map(text_bytes, values.chunks)])
    if pa.types.is_dictionary(values.type):
        of_texts = pa.array(text_bytes(values.dictionary))
        return np.asarray(pc.fill_null(of_texts.take(values.indices), 0), np.int64)
    if pa.types.is_string_view(values.type) or pa.types.is_binary_view(values.type):
        values = values.cast(pa.large_binary())  # `binary_length` takes no views
    if not any(is_kind(values.type) for is_kind in _TEXTS):
        return np.zeros(len(values), np.int64)
    return np.asarray(pc.fill_null(pc.binary_length(values), 0), np.int64)


def parts_of_texts(table: pa.Table | pa.RecordBatch, *, rows: int, size: int) -> Iterator[pa.Table | pa.RecordBatch]:
    """Yield a table in parts of at most ``rows`` rows and ``size`` bytes of text, or of one row; at least one part.

    An array of strings has at most 2 GiB, and some functions of Arrow neither split a longer result nor fail. So what
    makes texts of many rows, of a dictionary or of other texts, makes them of one part at a time.
    """
    ends = np.cumsum(sum(map(text_bytes, table.columns), start=np.zeros(len(table), np.int64)))
    start = end = before = 0
    while start < len(table) or not end:
        end = min(start + rows, max(start + 1, int(np.searchsorted(ends, before + size, "right"))))
        yield table.slice(start, end - start)
        start, before = end, ends[end - 1] if len(table) else 0


def _whole(column: pa.Array | pa.ChunkedArray) -> pa.Array:
    return column.combine_chunks() if isinstance(column, pa.ChunkedArray) else column


def _spaced_words(texts: pa.Array, version: int) -> pa.Array:
    """Return the words of each text with spaces between; ASCII texts without a symbol take a twelfth of the time."""
    cut, scalar_rows = words_v1, pc.invert(pc.string_is_ascii(texts))
    if version != 1:
        cut, scalar_rows = scalar.words, pc.or_(scalar_rows, pc.match_substring_regex(texts, SYMBOLS))
    spaced = pc.replace_substring_regex(texts, _ASCII_NOT_WORD, " ")
    if not pc.any(scalar_rows).as_py():
        return spaced
    others = [" ".join(cut(text)) for text in texts.filter(scalar_rows).to_pylist()]
    return pc.replace_with_mask(spaced, scalar_rows, pa.array(others, pa.string()))


def _fold_ascii(texts: pa.Array) -> pa.Array:
    return pc.ascii_trim(_space_out(pc.ascii_lower(texts)), " ")


def _space_out(texts: pa.Array) -> pa.Array:
    """Return the texts with a space for each run of white space; those without another run than a space stay.

    To look takes a ninth of the time of replacing, and most texts are well spaced.
    """
    odd = pc.match_substring_regex(texts, _ASCII_ODD_SPACES)
    replaced = pc.replace_substring_regex(texts.filter(odd), _ASCII_SPACES, " ")
    return pc.replace_with_mask(texts, pc.fill_null(odd, False), replaced) if len(replaced) else texts


def _ascii_in_arrow(
    texts: pa.Array, of_ascii: Callable[[pa.Array], pa.Array], of_one: Callable[[str], str]
) -> pa.Array:
    ascii_rows = pc.fill_null(pc.string_is_ascii(texts), True)
    if pc.all(ascii_rows).as_py():
        return of_ascii(texts)
    others = pc.invert(ascii_rows)
    results = of_ascii(pc.if_else(ascii_rows, texts, ""))
    return pc.replace_with_mask(results, others, pa.array(map(of_one, texts.filter(others).to_pylist()), pa.string()))


def _split_at_spaces(spaced: pa.Array) -> pa.Array:
    empty = pc.equal(spaced, "")
    listed = pc.split_pattern(spaced, " ")
    if not pc.any(empty).as_py():
        return listed
    counts = pc.if_else(empty, 0, pc.list_value_length(listed)).to_numpy(zero_copy_only=False)
    flat = pc.list_flatten(listed)
    return pa.ListArray.from_arrays(pa.array(offsets_of(counts), pa.int32()), flat.filter(pc.not_equal(flat, "")))
