"""An environment like that of a worker in a cluster: what Beam stages, installed beside Beam and nothing else.

repository -> copy_packages -> stage -> make_environment -> its Python
"""

from __future__ import annotations

import importlib.metadata
import shutil
import subprocess
import sys
import venv
from pathlib import Path

from apache_beam.portability.api import beam_runner_api_pb2
from apache_beam.runners.portability.stager import Stager

from pipelines.engine.runner import parse_options
from tests.support.engine_servers import ROOT

PACKAGES = ("schemas", "pipelines", "model", "jobs", "qpr")


class NoPackageIndexError(Exception):
    """There is nothing to install from."""


def copy_packages(folder: Path) -> Path:
    """Copy what setup.py packs, so that a build leaves nothing in the repository, and return the copy's setup.py."""
    for package in PACKAGES:
        shutil.copytree(ROOT / package, folder / package, ignore=shutil.ignore_patterns("__pycache__"))
    for name in ("setup.py", "pyproject.toml"):
        shutil.copy(ROOT / name, folder / name)
    return folder / "setup.py"


def stage(setup_file: Path, folder: Path) -> Path:
    """Build what ``--setup_file`` sends to workers, with Beam's own stager, and return the archive."""
    options = parse_options([f"--setup_file={setup_file}"])
    staged = Stager.create_job_resources(options, str(folder), log_submission_env_dependencies=False)
    payloads = [beam_runner_api_pb2.ArtifactFilePayload.FromString(artifact.type_payload) for artifact in staged]
    [archive] = [Path(payload.path) for payload in payloads]
    return archive


def make_environment(folder: Path, *wanted: str | Path) -> Path:
    """Make a virtual environment with Beam and ``wanted``, and return its Python.

    Raises:
        NoPackageIndexError: there is nothing to install from.
    """
    venv.create(folder, with_pip=False, symlinks=True)
    python = folder / "bin" / "python"
    install(python, "apache-beam", "setuptools", *wanted)
    return python


def install(python: Path, *wanted: str | Path) -> None:
    """Install packages into an environment, in the versions that this one has.

    Raises:
        NoPackageIndexError: there is nothing to install from.
    """
    same_versions = python.parent.parent / "constraints.txt"
    same_versions.write_text("".join(f"{d.name}=={d.version}\n" for d in importlib.metadata.distributions()))
    pip: list[str | Path] = [sys.executable, "-m", "pip", "--python", python, "install", "--quiet", "--no-compile"]
    command = [*pip, *wanted, "--constraint", same_versions]
    done = subprocess.run(command, capture_output=True, text=True, check=False, cwd="/")
    if done.returncode and "No matching distribution" in done.stderr:
        raise NoPackageIndexError(f"no package index to install from: {done.stderr.strip().splitlines()[-1]}")
    if done.returncode:
        raise RuntimeError(done.stderr)
