"""A run's configuration under the names that a person types.

configuration -> option_rows -> (option, value)
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from jobs.display.summary_tables import flat

_GATE = "assembly.gate."

OPTION_OF = {
    "validation.min_confidence": "--min-confidence",
    "validation.locale": "--locale",
    "validation.ignored_answers": "--ignore-answer",
    "ambiguity.min_answer_share": "--min-answer-share",
    "ambiguity.min_answer_events": "--min-answer-events",
    "assembly.linking": "--linkage",
    "assembly.linking.method": "--linkage",
    "assembly.linking.min_probability": "--min-probability",
    "assembly.linking.weights": "--calibration (digest)",
    "assembly.linking.encoder": "--refine-with (digest)",
    f"{_GATE}coherence": "--coherence",
    f"{_GATE}min_coherence": "--min-coherence",
    f"{_GATE}max_cluster_size": "--max-cluster-size",
    "assembly.leakage.near_duplicate": "--near-duplicate",
    "assembly.salt": "--split-salt",
    "assembly.max_pairs_per_cluster": "--max-pairs-per-cluster",
    "held_out.pairs": "--held-out-pairs",
    "held_out.salt": "--split-salt",
    "delimiter": "--delimiter",
    "encoding": "--encoding",
    "shards": "--shards",
}
"""The option of each value, by its place in `ClustersConfig` or `QuoraConfig`."""

NO_OPTION_OF_QUORA = {
    "assembly.linking": "answers split by",
    f"{_GATE}coherence": "coherence",
    f"{_GATE}min_coherence": "minimum coherence",
}
"""Values that `qpr quora` does not let a person choose: people judged its clusters."""


def option_rows(configuration: Mapping[str, Any]) -> list[tuple[str, str]]:
    """Return each value under its option, other values under a plain name; one that is not set is left out.

    Args:
        configuration: as in the manifest of a dataset.
    """
    names = OPTION_OF | (NO_OPTION_OF_QUORA if "held_out" in configuration else {})
    rows: dict[str, str] = {}
    for path, value in flat(configuration):
        if path.startswith("column_names."):
            rows[f"--column {path.removeprefix('column_names.')}"] = value
        elif path == "assembly.linking":
            rows[names[path]] = "none"
        elif value not in ("null", "{}", "[]"):
            rows[names.get(path, path.replace(".", " ").replace("_", " "))] = value
    return list(rows.items())
