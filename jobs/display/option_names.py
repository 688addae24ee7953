"""Configuration of a run under the names of its options.

configuration -> option_rows -> (option, value); path of a value -> option_of -> option
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from jobs.display.summary_tables import whole
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
    names = _names(QuoraConfig if "held_out" in configuration else ClustersConfig)
    rows: dict[str, str] = {}
    for path, value in flat(configuration):
        if path.startswith("column_names."):
            rows[f"--column {path.removeprefix('column_names.')}"] = value
        elif value not in ("null", "{}", "[]"):
            rows[names.get(path, _plain(path))] = value if len(value) <= _LONGEST else f"{value[:_LONGEST]}…"
    return list(rows.items())


def option_of(path: str) -> str:
    """Return the option of `qpr clusters` that decides a value of its configuration, without one a plain name.

    Args:
        path: of the value in the configuration, such as ``assembly.gate.min_coherence``.
    """
    return _names(ClustersConfig).get(path, _plain(path))


def flat(tree: Mapping[str, Any], path: str = "") -> list[tuple[str, str]]:
    """Return the leaves of a tree with their path; a whole number gets thousands separators, other values are JSON."""
    leaves: list[tuple[str, str]] = []
    for name, value in tree.items():
        if isinstance(value, Mapping) and value:
            leaves += flat(value, f"{path}{name}.")
        else:
            number = isinstance(value, int) and not isinstance(value, bool)
            text = value if isinstance(value, str) else whole(value) if number else json.dumps(value)
            leaves.append((f"{path}{name}", text))
    return leaves


def _names(model: type[ClustersConfig | QuoraConfig]) -> dict[str, str]:
    return _RESULTS | {".".join(option.path): option.names[0] for option in described_settings(model)}


def _plain(path: str) -> str:
    return path.removeprefix("assembly.").replace(".", " ").replace("_", " ")
