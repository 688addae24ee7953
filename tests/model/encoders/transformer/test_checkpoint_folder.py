from __future__ import annotations

import json
import shutil

import numpy as np
import pytest

from model.encoders.transformer.checkpoint_folder import (
    checked_folder,
    described,
    first_sentences,
    folder_digest,
    load_sentences,
    packed,
    stated_licence,
    unpacked,
)
from model.encoders.transformer.settings import TransformerSettings
from schemas.errors import QprError


@pytest.fixture
def copy(tiny_sentences, tmp_path):
    """Return a copy of the model that a test may spoil."""
    return shutil.copytree(tiny_sentences, tmp_path / "copy")


@pytest.mark.parametrize(
    ("modules", "fault"),
    [
        ([{"type": "os.path", "path": ""}], "'os.path' is no class of sentence-transformers, .* Choose another model"),
        ([{"type": "sentence_transformers.models.Dense", "path": "../../x"}], "leads out of the model's folder"),
        ([{"type": "sentence_transformers.models.Dense", "path": "/etc"}], "leads out of the model's folder"),
        ([{"type": "sentence_transformers.models.Dense", "path": "a\0b"}], "leads out of the model's folder"),
        ([1], "is no list of modules"),
        ({"type": 1}, "is no list of modules"),
        ([{"type": "sentence_transformers.models.Dense"}], "is no list of modules"),
    ],
)
def test_modules_of_other_code_or_folders_are_refused_before_anything_is_loaded(tmp_path, modules, fault):
    (tmp_path / "modules.json").write_text(json.dumps(modules))
    with pytest.raises(QprError, match=f"modules.json: .*{fault}"):
        checked_folder(f"st:{tmp_path}")


def test_modules_of_the_library_in_folders_of_the_model_are_accepted(tmp_path):
    kinds = ("sentence_transformers.models.Transformer", ""), ("sentence_transformers.models.Pooling", "1_Pooling")
    (tmp_path / "modules.json").write_text(json.dumps([{"type": kind, "path": path} for kind, path in kinds]))
    assert checked_folder(str(tmp_path)) == tmp_path


def test_a_pickle_beside_tensors_of_another_name_is_refused(tmp_path):
    (tmp_path / "modules.json").write_text("[]")
    (tmp_path / "pytorch_model.bin").write_bytes(b"pickle")
    (tmp_path / "other.safetensors").write_bytes(b"")
    with pytest.raises(QprError, match=r"pytorch_model\.bin: a pickle"):
        checked_folder(str(tmp_path))
    (tmp_path / "model.safetensors").write_bytes(b"")
    assert checked_folder(str(tmp_path)) == tmp_path


def edit(path, change):
    content = json.loads(path.read_text())
    change(content)
    path.write_text(json.dumps(content))


def test_it_is_described_by_its_own_files(tiny_sentences):
    expected = {"transformer_from": str(tiny_sentences), "transformer_digest": folder_digest(tiny_sentences)}
    assert described(str(tiny_sentences)) == {**expected, "transformer_licence": "mit", "dimension": 32}
    assert described(f"st:{tiny_sentences}") == described(str(tiny_sentences))


@pytest.mark.parametrize(
    ("readme", "licence"),
    [
        ("---\nlicense: apache-2.0\n---\n# Model\n", "apache-2.0"),
        ("---\ntags: []\n---\nlicense: mit\n", "not stated"),  # the text is no head
        ("# Model\nlicense: mit\n", "not stated"),
        (None, "not stated"),
    ],
)
def test_a_licence_is_what_the_head_of_the_readme_states(tmp_path, readme, licence):
    if readme is not None:
        (tmp_path / "README.md").write_text(readme)
    assert stated_licence(tmp_path) == licence


def test_packed_files_are_the_same_each_time_and_make_the_same_model(tiny_sentences, capfd):
    sentences = load_sentences(tiny_sentences, name="tiny")
    files = packed(sentences)
    assert files == packed(sentences)
    assert {"modules.json", "tokenizer.json", "model.safetensors"} <= files.keys()
    with unpacked(files) as folder:
        again = load_sentences(folder, name="again")
        assert packed(again) == files
    asked = ["pay my bill", "find the card?"]
    np.testing.assert_array_equal(again.encode(asked), sentences.encode(asked))
    assert not folder.exists()
    assert capfd.readouterr() == ("", "")  # standard error belongs to the command


def test_an_address_without_a_folder_is_one_line():
    with pytest.raises(QprError, match="st:: names no folder"):
        checked_folder("st:")


def test_files_do_not_leave_their_folder(tmp_path):
    with pytest.raises(QprError, match=r"\.\./x: leads out of"), unpacked({"modules.json": b"[]", "../x": b""}):
        pass
    with pytest.raises(QprError, match="leads out of"), unpacked({str(tmp_path / "x"): b""}):
        pass
    assert not (tmp_path / "x").exists()


def test_what_training_began_with_must_stay_the_same(copy):
    shape = TransformerSettings(**described(str(copy)))
    assert first_sentences(shape).get_embedding_dimension() == 32
    (copy / "more.txt").write_text("more")
    with pytest.raises(QprError, match=r"has changed: its digest is .* is that of the model\. Restore"):
        first_sentences(shape)


def test_weights_in_a_pickle_are_refused_and_not_read(tmp_path):
    (tmp_path / "modules.json").write_text("[]")
    (tmp_path / "2_Dense").mkdir()
    (tmp_path / "2_Dense" / "pytorch_model.bin").write_bytes(b"no pickle at all")
    with pytest.raises(QprError, match=r"2_Dense/pytorch_model\.bin: a pickle"):
        checked_folder(str(tmp_path))
    (tmp_path / "2_Dense" / "model.safetensors").write_bytes(b"")
    assert checked_folder(f"st:{tmp_path}") == tmp_path


def truncate(folder):
    weights = folder / "model.safetensors"
    weights.write_bytes(weights.read_bytes()[:-100])


def name_code(folder, where, change):
    (folder / "evil.py").write_text(f"open({str(folder / 'ran')!r}, 'w')\nclass Evil: pass\n")
    edit(folder / where, change)


SPOILED = {
    "truncated": (truncate, "deserializing header"),
    "no weights": (lambda folder: (folder / "model.safetensors").unlink(), "no file named model.safetensors"),
    "no tokenizer": (lambda folder: [path.unlink() for path in folder.glob("tokenizer*")], "has no words"),
    "broken list": (lambda folder: (folder / "modules.json").write_text("{"), "no list of modules"),
    "module with code": (
        lambda folder: name_code(folder, "modules.json", lambda found: found[1].update(type="evil.Evil")),
        "evil.Evil",
    ),
    "model with code": (
        lambda folder: name_code(
            folder, "config.json", lambda found: found.update(model_type="evil", auto_map={"AutoConfig": "evil.Evil"})
        ),
        "custom code",
    ),
}


@pytest.mark.parametrize("how", SPOILED)
def test_what_cannot_be_loaded_safely_is_one_line_that_names_it(copy, how):
    spoil, message = SPOILED[how]
    spoil(copy)
    with pytest.raises(QprError) as raised:
        load_sentences(checked_folder(str(copy)), name="the model")
    assert str(raised.value).startswith(("the model: ", f"{copy}/modules.json: "))
    assert message in str(raised.value)
    assert "\n" not in str(raised.value)
    assert not (copy / "ran").exists()
