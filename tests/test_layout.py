"""The layout of the tree and the form of its docstrings (docs/architecture.md)."""

import ast
import collections
import re
import subprocess
import tomllib
from pathlib import Path

import pytest

from model.encoders.registry import KINDS
from model.losses.registry import LOSSES

ROOT = Path(__file__).resolve().parent.parent
PACKAGES = ("schemas", "pipelines", "model", "jobs", "qpr")
MODULES = [path for package in PACKAGES for path in sorted((ROOT / package).rglob("*.py"))]
WITH_BENCHMARKS = [*MODULES, *sorted((ROOT / "benchmarks").rglob("*.py"))]
MOST_MODULES = 14
MOST_LINES = 250
TOP = {
    "schemas": {
        "arrays",
        "characters",
        "compiled",
        "errors",
        "filters",
        "hashing",
        "option",
        "quantities",
        "ragged",
        "stems",
        "tables",
        "text",
        "text_arrays",
        "words",
    },
    "pipelines": {"intermediate"},
    "model": {"choices", "distances"},
    "jobs": {"cli", "demo"},
    "qpr": {"shadowing"},
}
"""Modules outside of a subpackage; a new one belongs into a room."""
AT_THE_ROOT = {
    ".dockerignore",
    ".gitignore",
    "CHANGELOG.md",
    "CONTRIBUTING.md",
    "LICENSE",
    "Makefile",
    "README.md",
    "constraints.txt",
    "pyproject.toml",
    "setup.py",
}
"""Files at the root of the tree; what a run or a script left there does not belong to the project."""


def names(folder):
    return {path.stem for path in folder.glob("*.py") if not path.stem.startswith("__")}


def test_no_folder_holds_more_modules_than_a_reader_can_overlook():
    counts = collections.Counter(path.parent for path in WITH_BENCHMARKS if path.name != "__init__.py")
    assert {str(folder): count for folder, count in counts.items() if count > MOST_MODULES} == {}


def test_no_module_is_longer_than_a_reader_can_overlook():
    lines = {str(path.relative_to(ROOT)): len(path.read_text("utf-8").splitlines()) for path in WITH_BENCHMARKS}
    assert {path: count for path, count in lines.items() if count > MOST_LINES} == {}


@pytest.mark.parametrize("package", PACKAGES)
def test_new_modules_belong_into_a_room(package):
    assert names(ROOT / package) == TOP[package]


def test_every_folder_of_modules_is_a_package():
    assert {path.parent for path in WITH_BENCHMARKS if not (path.parent / "__init__.py").exists()} == set()


def test_the_first_line_of_a_module_is_one_phrase():
    first = {
        str(p.relative_to(ROOT)): (ast.get_docstring(ast.parse(p.read_text())) or "").split("\n")[0]
        for p in WITH_BENCHMARKS
    }
    assert {path: line for path, line in first.items() if not line.endswith((".", ":"))} == {}


def test_the_tree_in_the_contributors_guide_is_that_of_the_packages():
    guide = (ROOT / "CONTRIBUTING.md").read_text().splitlines()
    for init in (path for path in WITH_BENCHMARKS if path.name == "__init__.py"):
        folder = init.parent.relative_to(ROOT)
        doc = ast.get_docstring(ast.parse(init.read_text())).split("\n")[0].removesuffix(".")
        indented = "  " * (len(folder.parts) - 1) + folder.name + "/"
        assert f"{indented:<21} {doc}" in guide


def test_the_rooms_of_the_architecture_are_those_that_the_imports_keep_to():
    text = " ".join((ROOT / "docs/architecture.md").read_text().split())
    for contract in tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["importlinter"]["contracts"]:
        if contract.get("containers"):
            assert ", ".join(f"`{room}`" for room in contract["layers"] if room != "__main__") in text


def test_the_contracts_on_losses_and_encoders_name_every_registered_one():
    contracts = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["importlinter"]["contracts"]
    named = {module for contract in contracts if contract["type"] == "independence" for module in contract["modules"]}
    losses = {loss.__module__ for loss in LOSSES.values()}
    assert named == losses | {type(kind).__module__.rpartition(".")[0] for kind in KINDS.values()}


def test_the_guide_names_tests_that_exist():
    named = re.findall(r"pytest (tests/\S+\.py) -k (\w+)", (ROOT / "CONTRIBUTING.md").read_text())
    assert named
    for file, words in named:
        assert words in (ROOT / file).read_text()


@pytest.mark.skipif(not (ROOT / ".git").exists(), reason="not a clone")
def test_no_output_of_a_run_is_at_the_root():
    tracked = subprocess.run(["git", "ls-files"], cwd=ROOT, capture_output=True, text=True, check=True).stdout
    assert {path for path in tracked.splitlines() if "/" not in path} == AT_THE_ROOT
