"""End of a night, for the command line.

night -> Outcome -> one line
"""

from __future__ import annotations

import dataclasses
import datetime
from collections.abc import Sequence

from jobs.nightly.ingestion import Ingested
from schemas.quantities import counted
from schemas.versions.version import Version


@dataclasses.dataclass(frozen=True)
class Outcome:
    """End of a night.

    Attributes:
        number: of the published version, or of the current one where nothing is new; None for a refused one.
        version: its record.
        unchanged: true where the current version is of the same days and has equal artefacts already.
        mended: paths of its artefacts that were gone and have been made again.
        not_ingested: days of the window that have log files but were not ingested.
        changed: days of the window whose drop has other content than when they were ingested.
        ingested: the days of the night.
    """

    number: int | None
    version: Version
    unchanged: bool = False
    mended: Sequence[str] = ()
    not_ingested: Sequence[datetime.date] = ()
    changed: Sequence[datetime.date] = ()
    ingested: Sequence[Ingested] = ()

    @property
    def line(self) -> str:
        """Return one line about it."""
        if self.mended:
            return f"made again: {', '.join(self.mended)} of version {self.number}"
        if self.unchanged:
            return f"nothing new: version {self.number} has the same days, dataset, model and index"
        if self.version.refused:
            return f"refused: {self.version.refused}"
        return f"published: version {self.number}, {counted(self.version.days, 'day')} up to {self.version.date}"
