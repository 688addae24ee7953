import ast
import importlib.metadata
import os
import re
import subprocess
import sys
import tarfile
from pathlib import Path

import pytest

from schemas import __version__
from schemas.errors import EXTRA_OF_MODULE

ROOT = Path(__file__).resolve().parent.parent
GENERIC = ("schemas", "pipelines", "model", "jobs")
PACKAGES = (*GENERIC, "qpr")
MODULES = sorted(path for package in PACKAGES for path in (ROOT / package).rglob("*.py"))
DATA = sorted(path for package in PACKAGES for path in (ROOT / package).rglob("*.json"))
SCRIPTS = sorted([*(ROOT / "benchmarks").rglob("*.py"), *(ROOT / "tests").rglob("*.py")])


def name(path):
    return str(path.relative_to(ROOT))


def test_the_four_generic_names_belong_to_this_distribution_alone():
    owners = importlib.metadata.packages_distributions()
    assert {package: set(owners[package]) for package in GENERIC} == {
        package: {"question-paraphrase-retrieval"} for package in GENERIC
    }
    assert importlib.metadata.version("question-paraphrase-retrieval") == __version__


def test_the_console_script_is_qpr_and_nothing_else():
    scripts = importlib.metadata.distribution("question-paraphrase-retrieval").entry_points
    assert [(script.name, script.value) for script in scripts] == [("qpr", "jobs.cli:main")]


def test_extras_are_installed_from_a_clone_by_names_that_exist():
    extras = set(importlib.metadata.metadata("question-paraphrase-retrieval").get_all("Provides-Extra"))
    pages = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *(ROOT / "docs").glob("*.md"), *ROOT.glob("deploy/**/*.md")]
    texts = {name(path): path.read_text(encoding="utf-8") for path in [*pages, *MODULES, *SCRIPTS]}
    assert [path for path, text in texts.items() if "question-paraphrase-retrieval" + "[" in text] == []
    for path, text in texts.items():
        for group in re.findall(r"'\.\[([a-z,]+)\]'", text):
            assert set(group.split(",")) <= extras, path
    assert [
        path
        for path, text in texts.items()
        if not path.startswith("tests") and path.endswith(".py") and re.search(r"QprError\(.*pip install '\.\[", text)
    ] == []  # messages take the words of `how_to_install`


def test_the_packages_that_ours_import_are_listed():
    """Parts of listed packages are left out: those that came with them or that they cannot do without.

    A package of an extra that is not installed goes by the name of its import.
    """
    parts = {"langchain_core", "llvmlite", "objsize", "pydantic_core", "setuptools", "transformers"}
    listed = {line.lower().replace("_", "-") for line in re.findall(r'"([\w-]+)[\[>]', (ROOT / "setup.py").read_text())}
    owners = importlib.metadata.packages_distributions()
    unlisted = set()
    for path in MODULES:
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            names = [alias.name for alias in node.names] if isinstance(node, ast.Import) else []
            names += [node.module or ""] if isinstance(node, ast.ImportFrom) else []
            tops = {top.partition(".")[0] for top in names} - set(sys.stdlib_module_names) - {*PACKAGES, *parts}
            unlisted |= {
                top for top in tops if not {n.lower().replace("_", "-") for n in owners.get(top, [top])} & listed
            }
    assert unlisted == set()


def test_the_readme_installs_what_its_commands_need():
    [group] = re.findall(r"pip install '\.\[(.+)\]'", (ROOT / "README.md").read_text(encoding="utf-8"))
    assert set(group.split(",")) == {*EXTRA_OF_MODULE.values(), "fast"}


def test_a_generic_name_is_never_imported_bare_nor_anything_relatively():
    offenders = []
    for path in [*MODULES, *SCRIPTS]:
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            bare = isinstance(node, ast.Import) and {alias.name for alias in node.names} & set(GENERIC)
            if bare or (isinstance(node, ast.ImportFrom) and node.level):
                offenders.append(f"{name(path)}:{node.lineno}")
    assert offenders == []


def test_every_module_is_documented_and_has_a_specific_name():
    texts = {name(path): path.read_text(encoding="utf-8") for path in MODULES}
    assert [path for path, text in texts.items() if text and not ast.get_docstring(ast.parse(text))] == []
    meaningless = {"utils", "helpers", "common", "base", "misc"}
    assert [path for path in texts if meaningless & set(Path(path).with_suffix("").parts)] == []


def test_no_test_folder_is_a_package():
    assert list((ROOT / "tests").rglob("__init__.py")) == []


@pytest.fixture(scope="module")
def sdist(tmp_path_factory):
    """Build the source distribution as Beam's stager does: ``setup.py sdist`` from the folder of setup.py."""
    folder = tmp_path_factory.mktemp("sdist")
    copy = folder / "tree"
    copy.mkdir()
    for package in PACKAGES:  # a copy, so that the build leaves nothing in the repository
        for path in (ROOT / package).rglob("*"):
            if path.is_file() and path.suffix in (".py", ".typed", ".json", ".txt"):
                target = copy / path.relative_to(ROOT)
                target.parent.mkdir(parents=True, exist_ok=True)
                target.write_bytes(path.read_bytes())
    for file in ("setup.py", "pyproject.toml", "README.md"):
        if (ROOT / file).exists():
            (copy / file).write_bytes((ROOT / file).read_bytes())
    run(sys.executable, "setup.py", "-q", "sdist", "--dist-dir", str(folder / "staged"), cwd=copy)
    [archive] = (folder / "staged").glob("*.tar.gz")
    return archive


def run(*command, cwd, **environment):
    done = subprocess.run(command, cwd=cwd, capture_output=True, text=True, check=False, env=os.environ | environment)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def test_the_staged_archive_holds_every_module_and_its_data_and_nothing_of_the_tests(sdist):
    with tarfile.open(sdist) as archive:
        paths = {path.partition("/")[2] for path in archive.getnames()}
    assert {name(path) for path in MODULES} <= paths
    assert {f"{package}/py.typed" for package in PACKAGES} <= paths
    assert {name(path) for path in DATA} <= paths
    assert not any(path.startswith(("tests", "benchmarks")) for path in paths)


@pytest.mark.slow
def test_what_a_worker_installs_can_be_imported_from_anywhere(sdist, tmp_path):
    flags = ["--quiet", "--no-deps", "--no-build-isolation", "--no-index", "--disable-pip-version-check"]
    target = tmp_path / "site"
    run(sys.executable, "-m", "pip", "install", *flags, "--target", str(target), str(sdist), cwd="/")
    code = """if True:
        import importlib, pathlib, pkgutil, sys
        target = pathlib.Path(sys.argv[1])
        for package in ("schemas", "pipelines"):
            for module in pkgutil.walk_packages([str(target / package)], package + "."):
                importlib.import_module(module.name)
        ours = [m for n, m in sys.modules.items() if n.partition(".")[0] in ("schemas", "pipelines", "jobs", "model")]
        assert all(pathlib.Path(m.__file__).is_relative_to(target) for m in ours), ours
        from pipelines.linkage.scoring.shipped_weights import load_model
        from pipelines.simulation.lexicon import lexicon
        load_model(), lexicon()  # read the data of the package
        from schemas.text import key
        from pipelines.graphs.settings import ClustersConfig
        print(len(ours), key("Pay?"), ClustersConfig(shards=1).shards)
    """
    told = run(sys.executable, "-c", code, str(target), cwd="/", PYTHONPATH=str(target), PYTHONSAFEPATH="1").split()
    assert int(told[0]) > 30
    assert told[1:] == ["pay", "1"]
    assert (target / "bin" / "qpr").exists()
