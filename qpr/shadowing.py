"""Files beside a program that hide packages of this distribution, because Python searches there first.

sys.path -> shadowing_files -> refuse_shadowed

`jobs.__main__` runs this file by its path, so it imports only the standard library.
"""

from __future__ import annotations

import importlib.util
import sys
from pathlib import Path

PACKAGES = ("schemas", "pipelines", "model", "jobs")
"""Top-level names that other projects use too."""

ROOT = Path(__file__).resolve().parents[1]


def refuse_shadowed() -> None:
    """Raise `ImportError` if another module is found under the name of one of `PACKAGES`; it is not run."""
    for name, file in shadowing_files().items():
        folder = Path(file).parent if Path(file).name != "__init__.py" else Path(file).parents[1]
        raise ImportError(
            f"{file} hides the package {name} of question-paraphrase-retrieval. "
            f"Rename it, or run from another folder than {folder}",
            name=name,
            path=file,
        )


def shadowing_files() -> dict[str, str]:
    """Return the files that hide packages, by name of the package.

    A folder without ``__init__.py`` hides nothing: installed packages take precedence.
    """
    origins = {name: _origin(name) for name in PACKAGES}
    return {name: file for name, file in origins.items() if file and Path(file).resolve().parents[1] != ROOT}


def _origin(name: str) -> str | None:
    """Return the file of a module as it is, or would be, imported; None if there is no such module."""
    loaded = sys.modules.get(name)
    if loaded is not None:
        return getattr(loaded, "__file__", None)
    spec = importlib.util.find_spec(name)
    return spec.origin if spec else None
