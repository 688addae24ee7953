"""The model of a new index, with what its settings need of it.

model URL -> IndexedModel -> digest, dimension, distance; links to its files, or copies
"""

from __future__ import annotations

import dataclasses
from typing import TYPE_CHECKING

from model.encoders.addresses import absolute_address
from model.encoders.loading import load_encoder
from model.encoders.registry import kind_of_address
from model.encoders.saved_model import load_parts
from schemas.artifacts.manifest import MANIFEST, REPORTS, File, Manifest, read_verified
from schemas.artifacts.shared_files import link_file
from schemas.artifacts.writer import Output
from schemas.tables import MODEL

if TYPE_CHECKING:
    from model.choices import Distance


@dataclasses.dataclass(frozen=True)
class IndexedModel:
    """A model that encodes the questions of an index.

    Attributes:
        url: the model's folder, or ``st:<folder>``.
        digest: digest of its files.
        dimension: length of its vectors.
        distance: the distance that it was trained for.
        manifest: its own; None for a model of sentence-transformers.
    """

    url: str
    digest: str
    dimension: int
    distance: Distance
    manifest: Manifest | None

    @classmethod
    def of(cls, url: str) -> IndexedModel:
        """Return the model at ``url``.

        Raises:
            QprError: there is none, or it is damaged.
        """
        if kind_of_address(url):
            encoder = load_encoder(url)
            return cls(url, encoder.digest, encoder.dimension, "squared_euclidean", None)
        parts = load_parts(url)
        return cls(url, parts.manifest.digest, parts.config.shape.dimension, parts.config.distance, parts.manifest)

    @property
    def address(self) -> str | None:
        """Return the address that an index stores of a model that it does not contain; None for a copied one."""
        return absolute_address(self.url) if self.manifest is None else None

    def copy_to(self, target: Output) -> list[File]:
        """Place it into the index, so that a search needs nothing else; sentence-transformers stay where they are."""
        if self.manifest is None:
            return []
        placed = [_placed(self.url, file, target) for file in self.manifest.files]
        return [*placed, target.write(f"{MODEL}/{MANIFEST}", self.manifest.content, table=REPORTS)]


def _placed(url: str, file: File, target: Output) -> File:
    """Link a file of a model into an index, or copy it, and return its entry."""
    path = f"{MODEL}/{file.path}"
    # A card may be edited in place, which its link would show; an erasure writes new files, so links outlast it.
    if file.table == MODEL and (linked := link_file(url, file, target, path=path)):
        return linked
    return target.write(path, read_verified(url, file), table=REPORTS if file.table == REPORTS else MODEL)
