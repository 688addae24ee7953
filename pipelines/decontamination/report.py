"""``leakage.json``: numbers of questions compared, found and removed, and the result of the check after removal.

counters of a run -> write_leakage -> File
"""

from __future__ import annotations

import json
from typing import Any, Final

from pipelines.decontamination.settings import Leakage
from schemas.artifacts.manifest import File
from schemas.artifacts.writer import Output
from schemas.errors import QprError
from schemas.quantities import counted

_PREFIX: Final = "leakage."


def write_leakage(counters: dict[str, int], leakage: Leakage, output: Output) -> tuple[dict[str, int], File]:
    """Write ``leakage.json`` into the run's folder and return the other counters and the file.

    Args:
        counters: counters of the run; those that start with ``leakage.`` are written to the file.
        leakage: rule by which questions were removed.
        output: output of the run.

    Raises:
        QprError: the check found a question of one split in another, so the run must not be published.
    """
    report = leakage_report(counters, leakage)
    if leaked := report["check"]["found"]:
        raise QprError(
            f"{counted(leaked, 'question')} of validation or test found again in an earlier split after leakage was "
            "removed; this is a defect. Nothing was published"
        )
    content = (json.dumps(report, indent=2) + "\n").encode()
    others = {name: n for name, n in counters.items() if not name.startswith(_PREFIX)}
    return others, output.write("leakage.json", content, table="leakage")


def leakage_report(counters: dict[str, int], leakage: Leakage) -> dict[str, Any]:
    """Return the ``leakage.*`` counters as a tree of names, with the rule and the method of the check."""
    report: dict[str, Any] = {"rule": _rule(leakage.near_duplicate), "compared": {}, "found": {}, "removed": {}}
    report["check"] = {"method": "prefix filtering on the texts of the written clusters", "compared": {}, "found": 0}
    for name, count in sorted(counters.items()):
        if name.startswith(_PREFIX):
            *path, last = name.removeprefix(_PREFIX).split(".")
            place = report
            for step in path:
                place = place.setdefault(step, {})
            place[last] = count
    return report


def _rule(near_duplicate: float) -> dict[str, Any]:
    same = ["question"] + ["words"] * (near_duplicate > 0) + ["near_duplicate"] * (0 < near_duplicate < 1)
    splits = {"validation": ["train", "test"] if near_duplicate else ["train"], "test": ["train"]}
    return {"same": same, "near_duplicate": near_duplicate, "removed_if_found_in": splits}
