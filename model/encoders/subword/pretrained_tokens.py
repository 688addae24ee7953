"""Published embeddings of tokens, read from a package or a folder without running its code.

package or folder -> read_static -> StaticRows: rows, tokenizer, licence, digest
"""

from __future__ import annotations

import dataclasses
import hashlib
import importlib.metadata
import importlib.util
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import safetensors
import safetensors.numpy

from model.encoders.subword.tokenizer import Pieces
from schemas.errors import QprError
from schemas.quantities import counted

_LARGEST = 10_000
"""Maximum of a number: a model divides it by the weight of n-grams, learns, and stores it in half precision."""


@dataclasses.dataclass(frozen=True)
class StaticRows:
    """Published tokens with their embeddings and licence.

    Attributes:
        rows: (tokens, dimension), as stored.
        pieces: the tokenizer that numbers the rows.
        version: of the package, empty for a folder.
        licence: as the package states it.
        licence_text: its licence's own text, empty where there is none.
        digest: sha256 of tokenizer and rows.
    """

    rows: npt.NDArray[np.floating]
    pieces: Pieces
    version: str
    licence: str
    licence_text: str
    digest: str

    def settings(self, source: str) -> dict[str, Any]:
        """Return the settings of a static encoder that begins with these tokens, read from ``source``."""
        return {
            "static_from": source,
            "static_version": self.version,
            "static_licence": self.licence,
            "static_digest": self.digest,
            "tokens": len(self.rows),
            "dimension": self.rows.shape[1],
        }


def read_static(source: str, *, digest: str | None = None) -> StaticRows:
    """Read the one matrix and the one tokenizer in a folder, or in that of an installed package; no code of it runs.

    Args:
        source: a folder, or the name of a package.
        digest: what they must have; anything by default.

    Raises:
        QprError: it is not there, holds none or several, they do not fit together, or are not those of the digest.
    """
    folder, version, licence, texts = _place(source)
    tokenizers = {path: content for path in sorted(folder.rglob("*tokenizer*.json")) if (content := _tokenizer(path))}
    weights = sorted(folder.rglob("*.safetensors"))
    for what, paths in (("*.safetensors", weights), ("tokenizer (*tokenizer*.json)", [*tokenizers])):
        if len(paths) != 1:
            names = ", ".join(str(path.relative_to(folder)) for path in paths) or "none"
            raise QprError(f"{source}: one {what} is expected, found {names}. Name a folder that holds one of each")
    content, spelled = weights[0].read_bytes(), tokenizers.popitem()[1]
    rows, pieces = _rows(weights[0], content), Pieces(spelled).checked()
    if len(rows) < len(pieces):
        raise QprError(
            f"{source}: {counted(len(rows), 'row')} for {counted(len(pieces), 'token')}. Take both from one model"
        )
    found_digest = hashlib.sha256(hashlib.sha256(content).digest() + hashlib.sha256(spelled).digest()).hexdigest()
    if digest not in (None, found_digest):
        digests = f"its digest is {found_digest[:12]}…, and {str(digest)[:12]}… is that of the model"
        raise QprError(f"{source}: has changed: {digests}. Restore that folder or package, or train again")
    return StaticRows(rows, pieces, version, licence, texts, found_digest)


def _place(source: str) -> tuple[Path, str, str, str]:
    """Return the folder, the package's version, its stated licence and the licence's text."""
    if Path(source).is_dir():
        folder = Path(source)
        return folder, "", "not stated", _joined(folder.glob("LICENSE*"))
    try:
        spec = importlib.util.find_spec(source) if source.isidentifier() else None
    except (ImportError, ValueError):
        spec = None
    if spec is None or not spec.submodule_search_locations:
        if not source.isidentifier():
            missing = "a file, not a folder" if Path(source).exists() else "no such folder"
            raise QprError(f"{source}: {missing}. Name a folder that holds the tokens, or an installed package")
        how = f"Correct the path, or install the package: pip install {source}"
        raise QprError(f"{source}: no such folder in {Path.cwd()}, and no package of this name is installed. {how}")
    folder = Path(next(iter(spec.submodule_search_locations)))
    names = importlib.metadata.packages_distributions().get(source, [])
    if not names:
        return folder, "", "not stated", _joined(folder.glob("LICENSE*"))
    package = importlib.metadata.distribution(names[0])
    metadata = package.metadata.json
    stated = str(metadata.get("license_expression") or metadata.get("license") or "not stated")
    licences = (Path(str(file.locate())) for file in package.files or () if file.name.startswith("LICENSE"))
    return folder, package.version, stated.strip().partition("\n")[0], _joined(licences)


def _joined(paths: Any) -> str:
    return "\n\n".join(path.read_text(encoding="utf-8", errors="replace") for path in sorted(paths))


def _tokenizer(path: Path) -> bytes | None:
    """Return the content of a file that is a tokenizer, None of one that only configures another."""
    content = path.read_bytes()
    return content if b'"vocab"' in content else None


def _rows(path: Path, content: bytes) -> npt.NDArray[np.floating]:
    try:
        matrices = safetensors.numpy.load(content)
    except (safetensors.SafetensorError, KeyError, TypeError) as error:  # KeyError: a type that numpy lacks
        raise QprError(f"{path}: cannot be read as safetensors of numpy's types: {error}. Fetch it again") from error
    shapes = ", ".join(f"{name} {matrix.shape} {matrix.dtype}" for name, matrix in sorted(matrices.items()))
    rows = next(iter(matrices.values()), np.zeros(0))
    if len(matrices) != 1 or rows.ndim != 2 or rows.dtype.kind != "f" or not rows.size:
        fault = f"holds {shapes or 'nothing'}, not one matrix of floating-point rows"
        raise QprError(f"{path}: {fault}. Name another folder")
    if not np.isfinite(rows).all():
        raise QprError(f"{path}: holds numbers that are infinite or none. Fetch it again")
    if (largest := max(rows.max(), -rows.min())) > _LARGEST:
        fault = f"holds numbers of up to {largest:.3g}, more than {_LARGEST:,}, which a model cannot store"
        raise QprError(f"{path}: {fault}. Divide all by one number")
    return rows
