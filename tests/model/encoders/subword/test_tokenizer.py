from __future__ import annotations

import pickle
import sys

import pyarrow as pa
import pytest

from model.encoders.subword.tokenizer import Pieces
from schemas.errors import QprError


@pytest.fixture
def pieces(tokens):
    return Pieces((tokens / "tokenizer.json").read_bytes())


def test_every_word_is_cut_by_itself(pieces):
    found = pieces.of(pa.array(["bill", "pay", "", "x"]))
    assert found.ids.tolist() == [2, 3, 1, 0]  # b ##ill, pay, nothing, <unk>
    assert found.offsets.tolist() == [0, 2, 3, 3, 4]
    assert len(pieces) == 4


def test_no_word_has_no_piece(pieces):
    found = pieces.of(pa.array([], pa.string()))
    assert (found.ids.tolist(), found.offsets.tolist()) == ([], [0])


def test_what_is_remembered_changes_nothing(pieces, monkeypatch):
    monkeypatch.setattr("model.encoders.subword.tokenizer._MOST_CACHED", 3)
    for words in (["bill", "pay"], ["pay", "x", "bill"], ["y", "z", "pay", "bill", "pay"], ["pay"]):
        fresh = Pieces(pieces.content).of(pa.array(words))
        again = pieces.of(pa.array(words))
        assert (again.ids.tolist(), again.offsets.tolist()) == (fresh.ids.tolist(), fresh.offsets.tolist())


def test_very_long_words_are_not_remembered(pieces):
    assert len(pieces.of(pa.array(["x" * 65, "bill", "x" * 65]))) == 3
    assert pieces._cached.keys() == {"bill"}


def test_it_travels(pieces):
    words = pa.array(["bill"])
    assert pickle.loads(pickle.dumps(pieces)).of(words).ids.tolist() == pieces.of(words).ids.tolist()


def test_what_is_no_tokenizer_is_refused():
    with pytest.raises(QprError, match="not a tokenizer"):
        Pieces(b'{"vocab": {}}').checked()


def test_a_missing_package_is_named(pieces, monkeypatch):
    monkeypatch.setitem(sys.modules, "tokenizers", None)
    with pytest.raises(QprError, match=r"pip install '\.\[static\]'"):
        pieces.checked()
