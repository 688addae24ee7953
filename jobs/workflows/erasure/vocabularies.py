"""Erasure of words from vocabularies: a word that only erased questions had becomes a place holder.

model URL, words -> erase_from_model -> number of words; index URL, words -> erase_model_of_index -> number of words

The weights of a word stay, so the vectors of all other questions are unchanged and nothing has to be trained again.
"""

from __future__ import annotations

from collections.abc import Set
from typing import Final

from jobs.workflows.erasure.rewriting import Changed, after_erasure, rewrite, rewriting
from model.encoders.saved_model import VOCABULARY
from model.search.opening import model_folder
from schemas.artifacts import storage
from schemas.artifacts.manifest import MANIFEST, REPORTS, File, Manifest, read_manifest, read_verified
from schemas.tables import MODEL

_PLACE_HOLDER: Final = "erased {}"
"""No word of a question: words have no space."""


def words_in_model(url: str) -> list[str]:
    """Return the words of the vocabulary of a model, or of the model in an index.

    Raises:
        QprError: it is damaged.
    """
    manifest = read_manifest(url)
    contents = (read_verified(url, file) for file in manifest.of(MODEL) if _is_vocabulary(file))
    return [word for content in contents for word in content.decode().split("\n") if word]


def erase_from_model(url: str, words: Set[str], *, dry_run: bool) -> dict[str, int]:
    """Replace words in the vocabulary of a model; return their number.

    Raises:
        QprError: it is damaged, a run writes to it, or it cannot be written.
    """

    def change(file: File, content: bytes) -> Changed | None:
        return _without(content, words) if _is_vocabulary(file) else None

    return {"words": rewrite(url, "model", change, dry_run=dry_run)["words"]}


def erase_model_of_index(url: str, words: Set[str], *, dry_run: bool) -> dict[str, int]:
    """Replace words in the vocabulary of the model in an index; return their number. All other files stay.

    Raises:
        QprError: it is damaged, a run writes to it, or it cannot be written.
    """
    number = _count(url, read_manifest(url, "index"), words)
    if dry_run or not number:
        return {"words": number}
    with rewriting(url, "index") as target:
        manifest = read_manifest(url, "index")
        folder = model_folder(manifest)
        assert folder is not None
        of_model = read_manifest(storage.join(url, folder))
        files = [file for file in manifest.files if not file.path.startswith(f"{folder}/")]
        inner = list[File]()
        for file in of_model.files:  # the model stays one folder, so its other files are written beside the vocabulary
            place = file.model_copy(update={"path": f"{folder}/{file.path}"})
            content = read_verified(url, place)
            changed = _without(content, words) if _is_vocabulary(file) else None
            after = target.write(f"{MODEL}/{file.path}", changed.content if changed else content, table=file.table)
            files.append(after)
            inner.append(file.model_copy(update={"bytes": after.bytes, "sha256": after.sha256}))
        new = of_model.model_copy(update={"files": inner, "erased": of_model.erased_on()})
        files.append(target.write(f"{MODEL}/{MANIFEST}", new.content, table=REPORTS))
        inputs = [
            source.model_copy(update={"digest": new.digest}) if source.digest == of_model.digest else source
            for source in manifest.inputs
        ]
        configuration = {**manifest.configuration, "model_digest": new.digest}
        target.publish(files, **(after_erasure(manifest) | {"inputs": inputs, "configuration": configuration}))
    return {"words": number}


def _count(url: str, manifest: Manifest, words: Set[str]) -> int:
    changes = (_without(read_verified(url, file), words) for file in manifest.of(MODEL) if _is_vocabulary(file))
    return sum(changed.erased["words"] for changed in changes if changed)


def _is_vocabulary(file: File) -> bool:
    return file.table == MODEL and file.path.rpartition("/")[2] == VOCABULARY


def _without(content: bytes, words: Set[str]) -> Changed | None:
    """Return a vocabulary file with place holders for words; None where it has none of them."""
    lines = content.decode().split("\n")
    left = [_PLACE_HOLDER.format(row) if line in words else line for row, line in enumerate(lines)]
    number = sum(line in words for line in lines)
    return Changed("\n".join(left).encode(), 0, {"words": number}) if number else None
