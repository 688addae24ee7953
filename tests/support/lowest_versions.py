"""Print requirements of an environment with the oldest versions that setup.py permits.

Run: python -m tests.support.lowest_versions            the oldest version of each requirement
     python -m tests.support.lowest_versions FOLDER     what the environment in FOLDER lacks of constraints.txt
"""

import importlib.metadata
import sys
import sysconfig
from pathlib import Path

from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

SKIPPED = {
    "torch": "its oldest version without CUDA is not on PyPI",
    "sentence-transformers": "tests need no encoder of it",
    "wordllama": "tests need no encoder of it",
}


def lowest_versions() -> list[str]:
    """Return ``name==version`` for each requirement with a lower bound, without those of tests and `SKIPPED`."""
    installed = [sysconfig.get_path("purelib")]  # an older build may have left metadata in the working folder
    [distribution] = importlib.metadata.distributions(name="question-paraphrase-retrieval", path=installed)
    lines = set()
    for text in distribution.requires or []:
        requirement = Requirement(text)
        of_tests = requirement.marker is not None and 'extra == "dev"' in str(requirement.marker)
        bounds = [part.version for part in requirement.specifier if part.operator == ">="]
        if bounds and not of_tests and requirement.name not in SKIPPED:
            lines.add(f"{requirement.name}=={bounds[0]}")
    return sorted(lines)


def missing_versions(environment: str) -> list[str]:
    """Return the lines of constraints.txt for packages that an environment lacks: tools of tests, and what they need.

    They are installed without their own requirements, some of which are newer than the oldest versions of ours.
    """
    packages = [str(path) for path in Path(environment).glob("lib/python*/site-packages")]
    installed = {canonicalize_name(found.name) for found in importlib.metadata.distributions(path=packages)}
    lines = Path("constraints.txt").read_text(encoding="utf-8").splitlines()
    pinned = [line for line in lines if line and not line.startswith("#")]
    return [line for line in pinned if canonicalize_name(Requirement(line).name) not in installed]


if __name__ == "__main__":
    print("\n".join(missing_versions(sys.argv[1]) if sys.argv[1:] else lowest_versions()))
