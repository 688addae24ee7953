from __future__ import annotations

import dataclasses
import importlib
import pickle
import pkgutil

import numpy as np
import pyarrow as pa
import pytest

from model import encoders
from model.encoders import interface as encoding
from model.encoders.interface import Encoder
from model.encoders.kernels import dispatch as loops
from model.encoders.loading import load_encoder
from schemas.compiled import SWITCH
from schemas.errors import UsageError

WORDS = ["pay", "bill", "cancel", "flight", "now", "é", "?"]
TEXTS = [" ".join(np.random.default_rng(number).choice(WORDS, number % 9)) for number in range(100)]


@pytest.fixture(params=["cnn", "subword"])
def encoder(request, memory, make_model):
    make_model(f"{memory}/m", encoder=request.param)
    return load_encoder(f"{memory}/m")


def test_threads_change_no_bit(encoder, monkeypatch):
    monkeypatch.setattr(encoding, "CHUNK", 7)
    assert encoder.encode(TEXTS, threads=3).tobytes() == encoder.encode(TEXTS).tobytes()
    assert encoder.encode(TEXTS[:3], threads=3).shape == (3, 8)


def test_compiled_loops_change_no_bit(encoder, monkeypatch):
    pytest.importorskip("numba")
    monkeypatch.setattr(loops, "FEWEST", 1)
    monkeypatch.setenv(SWITCH, "0")
    plain = encoder.encode(TEXTS)
    assert loops.compiled() is None
    monkeypatch.delenv(SWITCH)
    assert encoder.encode(TEXTS).tobytes() == plain.tobytes()
    assert loops.compiled() is not None


def test_what_was_made_on_demand_does_not_travel(encoder):
    vectors = encoder.encode(TEXTS)
    copied = pickle.loads(pickle.dumps(encoder))
    fields = {field.name for field in dataclasses.fields(encoder)}
    assert vars(copied).keys() == fields
    assert vars(encoder).keys() >= fields
    assert copied.encode(TEXTS).tobytes() == vectors.tobytes()


@pytest.mark.parametrize(("text", "kind"), [("pay my bill", "str"), (b"pay", "bytes")])
def test_a_single_text_is_refused_whose_characters_would_be_encoded(encoder, text, kind):
    with pytest.raises(UsageError, match=rf"got {kind}. Write encode\(\[question\]\) for one"):
        encoder.encode(text)


def test_half_precision_is_close(memory, make_model):
    make_model(f"{memory}/m", encoder="cnn")
    single = load_encoder(f"{memory}/m")
    half = single.halved()
    np.testing.assert_allclose(half.encode(TEXTS), single.encode(TEXTS), atol=2e-2)
    assert not np.array_equal(half.encode(TEXTS), single.encode(TEXTS))


def test_the_text_of_an_encoder_is_short_and_has_no_word_of_its_vocabulary(encoder):
    assert repr(encoder) == f"{type(encoder).__name__}({encoder.digest[:12]!r}, dimension=8)"


def test_all_kinds_of_encoders_have_the_short_text():
    for module in pkgutil.walk_packages(encoders.__path__, f"{encoders.__name__}."):
        importlib.import_module(module.name)
    ours = [kind for kind in Encoder.__subclasses__() if kind.__module__.startswith("model.")]
    assert len(ours) >= 4
    assert [kind.__name__ for kind in ours if kind.__repr__ is not Encoder.__repr__] == []


def test_vectors_are_the_same_from_every_kind_of_column(encoder, monkeypatch):
    monkeypatch.setattr(encoding, "CHUNK", 500)
    few, many = TEXTS[:3], TEXTS * 11
    assert len(few) < encoder.few < len(many)
    for texts in (few, many):
        expected = encoder.encode(texts)
        columns = [pa.array(texts, kind) for kind in (pa.string(), pa.large_string(), pa.string_view())]
        columns += [columns[0].dictionary_encode(), pa.chunked_array([texts[:2], texts[2:]])]
        for given in (*columns, tuple(texts), iter(texts), np.array(texts), np.array(texts, object)):
            np.testing.assert_array_equal(encoder.encode(given), expected)


@pytest.mark.parametrize(
    ("given", "message"),
    [
        (None, "got NoneType"),
        (["pay", None] * 200, "item 1 is of type NoneType. Leave it out"),
        (pa.array(["pay", None]), "item 1 is of type NoneType. Leave it out"),
        (np.array([1.0, 2.0]), "item 0 is of type float64. Convert it to str"),
    ],
)
def test_what_has_no_vector_is_refused(encoder, given, message):
    with pytest.raises(UsageError, match=message):
        encoder.encode(given)


@pytest.mark.parametrize(("threads", "message"), [(0, "at least 1, got 0"), ("2", "takes a whole number, got '2'")])
def test_a_wrong_number_of_threads_is_refused_also_where_none_would_start(encoder, threads, message):
    with pytest.raises(UsageError, match=f"threads .*{message}"):
        encoder.encode(["pay"], threads=threads)
