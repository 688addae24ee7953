"""Models of sentence-transformers as files: checked, loaded without network, pickles or code of their own, packed.

folder -> described -> TransformerSettings -> first_sentences -> SentenceTransformer -> packed -> files by name
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import logging
import os
import re
import tempfile
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from model.encoders.transformer.settings import TransformerSettings
from schemas.errors import QprError, how_to_install

PREFIX = "st:"
"""Begins the address of such a folder where another model's URL could stand."""

MODULES = "modules.json"
"""List of the modules of such a model."""

_LIBRARY = "sentence_transformers."
"""Begins the names of all classes that such a model may consist of."""

_PICKLES = frozenset({".bin", ".pt", ".pth", ".ckpt", ".pkl", ".pickle"})
"""Endings of files that can run code when they are read."""


def checked_folder(source: str) -> Path:
    """Return the folder of ``st:<folder>`` or ``<folder>``.

    Raises:
        QprError: there is none, it holds no such model, one of other classes or folders than its own, or weights that
            are nowhere but in a pickle.
    """
    if source == PREFIX:
        raise QprError(f"{source}: names no folder. Write {PREFIX}FOLDER, the folder of a sentence-transformers model")
    folder = Path(source.removeprefix(PREFIX))
    if not (folder / MODULES).is_file():
        raise QprError(f"{source}: no {MODULES} in {folder}. Give the folder of a sentence-transformers model")
    _check_modules(folder / MODULES)
    for path in sorted(folder.rglob("pytorch_model*.bin")):
        if not any(path.parent.glob("model*.safetensors")):  # under another name the library would not find them
            raise QprError(f"{path}: a pickle, which may run code. Save the model again as safetensors")
    return folder


def _check_modules(path: Path) -> None:
    """Check that a list of modules names classes of the library and folders below its own, since both are loaded.

    Raises:
        QprError: it names another class or folder, or is no such list.
    """
    try:
        modules = [(str(module["type"]), str(module["path"])) for module in json.loads(path.read_bytes())]
    except (ValueError, KeyError, TypeError, RecursionError) as error:
        raise QprError(f"{path}: is no list of modules with type and path. Fetch the model again") from error
    for kind, place in modules:
        if not kind.startswith(_LIBRARY):
            fault = f"{kind[:60]!a} is no class of sentence-transformers, whose code alone is run"
            raise QprError(f"{path}: {fault}. Choose another model")
        if Path(place).is_absolute() or ".." in Path(place).parts or "\\" in place or not place.isprintable():
            raise QprError(f"{path}: {place[:60]!a} leads out of the model's folder. Fetch the model again")


def folder_digest(folder: Path) -> str:
    """Return the sha256 of the names and contents of all files in a folder."""
    digest = hashlib.sha256()
    for name, path in _files(folder):
        digest.update(f"{name} {hashlib.sha256(path.read_bytes()).hexdigest()}\n".encode())
    return digest.hexdigest()


def stated_licence(folder: Path) -> str:
    """Return the licence that the head of the folder's README.md states."""
    readme = folder / "README.md"
    text = readme.read_text(encoding="utf-8", errors="replace") if readme.is_file() else ""
    match = re.match(r"---\n(?:.*\n)*?license: *(\S[^\n]*)\n", text.partition("\n---")[0] + "\n")
    return match[1].strip() if match else "not stated"


def load_sentences(folder: Path, *, name: str, device: str | None = None, **options: str) -> Any:
    """Return the SentenceTransformer in a folder; nothing is fetched, and no code or pickle of it runs.

    Args:
        folder: as `checked_folder` returned it.
        name: the model in messages.
        device: where to compute, by PyTorch's name; None: a graphics card if there is one.
        options: further ones of transformers' ``from_pretrained``.

    Raises:
        QprError: the package is missing, or it cannot load the model.
    """
    os.environ.setdefault("HF_HUB_OFFLINE", "1")
    os.environ.setdefault("HF_HUB_DISABLE_PROGRESS_BARS", "1")  # standard error belongs to the command
    try:
        from sentence_transformers import SentenceTransformer
    except ImportError as error:
        raise QprError(f"{name} needs a package: {error}. {how_to_install('transformers')}") from error
    safe = {"use_safetensors": True, **options}  # a pickle of weights could run code
    try:
        with _quiet():
            sentences = SentenceTransformer(str(folder), local_files_only=True, device=device, model_kwargs=safe)
    except Exception as error:  # of transformers, tokenizers or PyTorch, which raise many kinds
        reason = str(error).strip().partition("\n")[0].rstrip(".") or type(error).__name__
        advice = "Fetch the model again, or upgrade sentence-transformers"
        raise QprError(f"{name}: cannot be loaded: {reason}. {advice}") from error
    tokenizer: Any = getattr(sentences, "tokenizer", None)
    if hasattr(tokenizer, "all_special_tokens") and len(tokenizer) <= len(tokenizer.all_special_tokens):
        raise QprError(f"{name}: its tokenizer has no words: the folder lacks its files. Fetch the model again")
    return sentences


def described(source: str) -> dict[str, Any]:
    """Return the settings of a transformer whose training begins with the model in this folder.

    Raises:
        QprError: there is none, or it cannot be loaded.
    """
    folder = checked_folder(source)
    return {
        "transformer_from": str(folder),
        "transformer_digest": folder_digest(folder),
        "transformer_licence": stated_licence(folder),
        "dimension": int(load_sentences(folder, name=source).get_embedding_dimension()),
    }


def first_sentences(shape: TransformerSettings, **options: str) -> Any:
    """Return the SentenceTransformer that a training begins with, loaded with ``options`` of `load_sentences`.

    Raises:
        QprError: it is not there any more, or has changed.
    """
    folder = checked_folder(shape.transformer_from)
    if (digest := folder_digest(folder)) != shape.transformer_digest:
        digests = f"its digest is {digest[:12]}…, and {shape.transformer_digest[:12]}… is that of the model"
        raise QprError(f"{folder}: has changed: {digests}. Restore that folder, or train again")
    return load_sentences(folder, name=str(folder), **options)


def packed(sentences: Any) -> dict[str, bytes]:
    """Return all files of a SentenceTransformer by name, from which `load_sentences` makes it again.

    Raises:
        QprError: one would be a pickle.
    """
    with tempfile.TemporaryDirectory() as folder, _quiet():
        sentences.save(folder, create_model_card=False)
        files = {name: path.read_bytes() for name, path in _files(Path(folder))}
    if pickles := sorted(name for name in files if Path(name).suffix in _PICKLES):
        raise QprError(f"sentence-transformers would write {pickles[0]}, a pickle. Take another model")
    return files


@contextlib.contextmanager
def unpacked(files: Mapping[str, bytes]) -> Iterator[Path]:
    """Yield a folder that holds these files for as long as the block lasts.

    Raises:
        QprError: they are no model without pickles, or one would stand outside the folder.
    """
    with tempfile.TemporaryDirectory() as folder:
        for name, content in files.items():
            path = (Path(folder) / name).resolve()
            if not path.is_relative_to(Path(folder).resolve()):
                raise QprError(f"{name}: leads out of the model's folder. Fetch the model again")
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(content)
        yield checked_folder(folder)


def _files(folder: Path) -> list[tuple[str, Path]]:
    """Return the files in a folder with their names in it, in order."""
    return [(path.relative_to(folder).as_posix(), path) for path in sorted(folder.rglob("*")) if path.is_file()]


@contextlib.contextmanager
def _quiet() -> Iterator[None]:
    """Keep the bars and reports of transformers off standard error; its settings are as before afterwards."""
    try:
        from transformers.utils import logging as talk
    except ImportError:
        yield
        return
    bars, level = talk.is_progress_bar_enabled(), talk.get_verbosity()
    talk.disable_progress_bar()
    talk.set_verbosity(logging.ERROR)
    try:
        yield
    finally:
        talk.set_verbosity(level)
        if bars:
            talk.enable_progress_bar()
