"""Files beside a program, or in the current folder, that are called like a package of ours."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
RUN = "raise SystemExit('the file of the user was run')\n"


def python(*arguments, cwd):
    command = [sys.executable, *map(str, arguments)]
    environment = os.environ | {"PYTHONPATH": str(ROOT)}
    return subprocess.run(command, cwd=cwd, env=environment, capture_output=True, text=True, check=False)


@pytest.mark.parametrize("file", ["model.py", "jobs.py", "schemas.py", "pipelines.py", "model/__init__.py"])
def test_a_file_that_hides_a_package_is_named_and_not_run(tmp_path, file):
    (tmp_path / "model").mkdir()
    (tmp_path / file).write_text(RUN)
    (tmp_path / "program.py").write_text("from qpr import open_searcher\n")
    done = python(tmp_path / "program.py", cwd="/")
    name = Path(file).parts[0].removesuffix(".py")
    expected = f"{tmp_path / file} hides the package {name} of question-paraphrase-retrieval. Rename it, or run from "
    assert done.returncode == 1
    assert done.stderr.splitlines()[-1] == f"ImportError: {expected}another folder than {tmp_path}"


@pytest.mark.parametrize("file", ["model.py", "schemas.py", "pipelines.py"])  # Python itself runs a jobs.py
def test_the_command_as_a_module_names_it_too(tmp_path, file):
    (tmp_path / file).write_text(RUN)
    done = python("-m", "jobs", "--version", cwd=tmp_path)
    assert done.returncode == 1
    assert done.stderr.startswith(f"error: {tmp_path / file} hides the package {file.removesuffix('.py')} ")
    assert len(done.stderr.splitlines()) == 1


def test_other_files_and_a_folder_of_an_artefact_hide_nothing(tmp_path):
    (tmp_path / "model").mkdir()
    (tmp_path / "model" / "manifest.json").write_text("{}")
    (tmp_path / "qpr_model.py").write_text(RUN)
    assert python("-m", "jobs", "--version", cwd=tmp_path).stdout.startswith("qpr ")
    (tmp_path / "program.py").write_text("from qpr import open_searcher\nprint(open_searcher.__name__)\n")
    assert python(tmp_path / "program.py", cwd="/").stdout == "open_searcher\n"


def test_the_console_script_and_its_workers_look_for_nothing_in_the_current_folder(tmp_path, make_model, make_dataset):
    script = Path(sys.executable).with_name("qpr")
    if not script.exists():
        pytest.skip("qpr is not installed beside this Python")
    make_model(tmp_path / "m")
    make_dataset(tmp_path / "d", [["pay my bill", "how do I pay"]])
    for name in ("model", "jobs", "schemas", "pipelines", "qpr"):
        (tmp_path / f"{name}.py").write_text(RUN)
    workers = ("--", "--direct_running_mode=multi_processing", "--direct_num_workers=2")
    for words in (
        ("index", "--questions", "d", "--model", "m", "--output", "i", *workers),
        ("search", "--index", "i", "pay"),
    ):
        done = subprocess.run([script, *words], cwd=tmp_path, capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stderr
    assert "how do I pay" in done.stdout
