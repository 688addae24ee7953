"""The model behind an index: what is known of it, and how it gets into the index.

model URL -> IndexedModel.of -> digest, dimension; IndexedModel.copy_to -> files of the index
"""

from __future__ import annotations

import dataclasses

from model.choices import Distance
from model.encoders.registry import load_encoder
from model.encoders.saved_model import load_parts
from model.encoders.transformer.inference import is_transformer
from model.index.index import MODEL
from schemas.artifacts.manifest import MANIFEST, REPORTS, File, Manifest, read_verified
from schemas.artifacts.writer import Output


@dataclasses.dataclass(frozen=True)
class IndexedModel:
    """A model that encodes the questions of an index.

    Attributes:
        url: where it is.
        digest: of what it consists of.
        dimension: numbers a vector.
        distance: what it was trained to compare by.
        manifest: its own; None for one of sentence-transformers.
    """

    url: str
    digest: str
    dimension: int
    distance: Distance
    manifest: Manifest | None

    @classmethod
    def of(cls, url: str) -> IndexedModel:
        """Return the model at ``url``, which may be ``st:<folder>``.

        Raises:
            QprError: there is none, or it is damaged.
        """
        if is_transformer(url):
            encoder = load_encoder(url)
            return cls(url, encoder.digest, encoder.dimension, "squared_euclidean", None)
        parts = load_parts(url)
        shape, training = parts.config.shape, parts.config.training
        return cls(url, parts.manifest.digest, shape.dimension, training.distance, parts.manifest)

    @property
    def outside(self) -> str | None:
        """Return its address if the index does not hold it: one of sentence-transformers stays where it is."""
        return self.url if self.manifest is None else None

    def copy_to(self, target: Output) -> list[File]:
        """Copy it into the index as a complete model, so that searching needs nothing else."""
        if self.manifest is None:
            return []

        def copy(path: str, content: bytes, table: str) -> File:
            return target.write(f"{MODEL}/{path}", content, table=REPORTS if table == REPORTS else MODEL)

        copies = [copy(file.path, read_verified(self.url, file), file.table) for file in self.manifest.files]
        return [*copies, copy(MANIFEST, self.manifest.model_dump_json(indent=2).encode(), REPORTS)]
