"""CSV files of rows."""

import csv
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any


def write_csv(path: Path, rows: Iterable[Mapping[str, Any]], *, columns: Sequence[str] | None = None) -> Path:
    """Write rows with a header and return the path; without columns, those of the rows in order of appearance."""
    rows = list(rows)
    with open(path, "w", encoding="utf-8", newline="") as sink:
        writer = csv.DictWriter(sink, columns or list(dict.fromkeys(name for row in rows for name in row)))
        writer.writeheader()
        writer.writerows(rows)
    return path
