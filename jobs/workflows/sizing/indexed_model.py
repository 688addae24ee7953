"""The model of a new index, with what its settings need of it.

model URL -> IndexedModel -> digest, dimension, distance; copies of its files
"""

from __future__ import annotations

import dataclasses
from typing import TYPE_CHECKING

from model.encoders.addresses import absolute_address
from model.encoders.loading import load_encoder
from model.encoders.registry import kind_of_address
from model.encoders.saved_model import load_parts
from schemas.artifacts.manifest import MANIFEST, REPORTS, File, Manifest, read_verified
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
        """Copy it into the index, so that a search needs nothing else; sentence-transformers stay where they are."""
        if self.manifest is None:
            return []

        def copy(path: str, content: bytes, table: str) -> File:
            return target.write(f"{MODEL}/{path}", content, table=REPORTS if table == REPORTS else MODEL)

        copies = [copy(file.path, read_verified(self.url, file), file.table) for file in self.manifest.files]
        return [*copies, copy(MANIFEST, self.manifest.content, REPORTS)]
