"""``python -m jobs`` is ``qpr``, for when the console script is not on the path."""

import runpy
import sys
from pathlib import Path

# By path and before any import of ours: by name, a file of the user's in this folder could be found and run.
shadowing = runpy.run_path(str(Path(__file__).resolve().parents[1] / "qpr" / "shadowing.py"))
try:
    shadowing["refuse_shadowed"]()
except ImportError as error:
    sys.exit(f"error: {error}")

from jobs.cli import main  # noqa: E402

main()
