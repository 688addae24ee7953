"""Coding of the vectors of a run's shards, if the factory of the index has codes that are refined.

files of a run -> with_codes -> these and the file of codes
"""

from __future__ import annotations

from collections.abc import Sequence

from jobs.display.console import counting
from model.index.codes_files import write_codes
from model.index.factory import refines
from schemas.artifacts.manifest import File, Manifest
from schemas.artifacts.writer import Output
from schemas.tables import SHARDS


def with_codes(
    target: Output, files: Sequence[File], factory: str, *, base: tuple[str, Manifest] | None = None
) -> list[File]:
    """Return the files of a run, with those of `write_codes` if the index has codes that are refined.

    Args:
        target: the index.
        files: of the run.
        factory: of the index.
        base: URL and manifest of the index to which the run adds a segment; None: the run builds an index.

    Raises:
        QprError: as `write_codes`.
        UsageError: as `write_codes`.
    """
    if not refines(factory):
        return [*files]
    with counting("Coding vectors", total=sum(file.rows for file in files if file.table == SHARDS)) as coded:
        return [*files, *write_codes(target, files, factory, base=base, coded=coded)]
