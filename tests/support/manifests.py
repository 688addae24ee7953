"""Manifests that a test writes by hand, with the checksum that a run would give them."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any


def signed(fields: dict[str, Any]) -> str:
    """Return the text of a manifest with these fields and their checksum."""
    fields = {name: value for name, value in fields.items() if name != "checksum"}
    checksum = hashlib.sha256(json.dumps(fields, sort_keys=True).encode()).hexdigest()
    return json.dumps(fields | {"checksum": checksum}, indent=2)


def edit_manifest(folder: str | Path, change: Callable[[dict[str, Any]], object]) -> None:
    """Change the fields of the manifest in a folder."""
    path = Path(folder, "manifest.json")
    fields = json.loads(path.read_text())
    change(fields)
    path.write_text(signed(fields))
