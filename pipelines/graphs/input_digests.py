"""Digests of the input files, computed by the workers beside the rest of a run.

Source of every file -> DigestInputs -> Written
"""

from __future__ import annotations

import hashlib

import apache_beam as beam

from pipelines.reading.sources import Source
from pipelines.writing.parquet import Written
from schemas.artifacts import storage
from schemas.artifacts.manifest import Source as Input

_PIECE_BYTES = 1 << 20


class DigestInputs(beam.PTransform):
    """Compute the SHA-256 of every input file, one file a worker."""

    def expand(self, sources: beam.PCollection[Source]) -> beam.PCollection[Written]:
        """Return a `Written` with the input of each element."""
        return (
            sources
            | "SpreadInputs" >> beam.Reshuffle()
            | "DigestInput" >> beam.Map(lambda source: Written(None, {}, digest_input(source)))
        )


def digest_input(source: Source) -> Input:
    """Return what a manifest lists of an input file; the digest is of its bytes as they are stored.

    A second read of the file, about 0.6 s a gigabyte where the processor has instructions for SHA-256. A store's own
    checksum would cost nothing, but that of an upload in parts depends on the size of the parts.

    Raises:
        QprError: the file cannot be read.
    """
    file_system, path = storage.locate(source.location)
    digest = hashlib.sha256()
    with storage.explained(source.url), file_system.open(path, "rb") as file:
        while piece := file.read(_PIECE_BYTES):
            digest.update(piece)
    return Input(url=source.url, bytes=source.bytes, digest=digest.hexdigest())
