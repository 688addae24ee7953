"""Configuration of a run under the names of its options.

configuration -> option_rows -> (option, value)
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from jobs.display.summary_tables import flat
from pipelines.graphs.settings import ClustersConfig, QuoraConfig
from schemas.option import described_settings

_RESULTS = {
    "assembly.linking.weights": "--calibration (digest)",
    "assembly.recalibration.calibration": "--calibration (digest)",
    "assembly.recalibration.precision": "--precision",
    "assembly.reviewed.verdicts": "--verdicts (digest)",
    "assembly.linking.encoder": "--refine-with (digest)",
    "assembly.linking.encoder_kind": "--refine-with (kind)",
}
"""Values that options decide indirectly."""

_LONGEST = 400
"""Characters of a value: verdicts of people can name thousands of clusters."""


def option_rows(configuration: Mapping[str, Any]) -> list[tuple[str, str]]:
    """Return each value under its option, other values under a plain name; a value that is not set is left out.

    Args:
        configuration: as in the manifest of a dataset.
    """
    model = QuoraConfig if "held_out" in configuration else ClustersConfig
    names = _RESULTS | {".".join(option.path): option.names[0] for option in described_settings(model)}
    rows: dict[str, str] = {}
    for path, value in flat(configuration):
        if path.startswith("column_names."):
            rows[f"--column {path.removeprefix('column_names.')}"] = value
        elif value not in ("null", "{}", "[]"):
            rows[names.get(path, path.removeprefix("assembly.").replace(".", " ").replace("_", " "))] = (
                value if len(value) <= _LONGEST else f"{value[:_LONGEST]}…"
            )
    return list(rows.items())
