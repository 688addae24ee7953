"""Print the oldest version of each requirement that setup.py permits, as constraints for pip."""

import importlib.metadata
import sysconfig

from packaging.requirements import Requirement

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


if __name__ == "__main__":
    print("\n".join(lowest_versions()))
