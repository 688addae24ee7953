import collections
import itertools
import json
import re
import runpy
import subprocess
import sys
from pathlib import Path

import pytest
import typer

from benchmarks.cli import Report, run
from benchmarks.measure import measure_call
from benchmarks.pipelines import cluster_summary
from benchmarks.retrieval import query

ROOT = Path(__file__).resolve().parents[2]
SCRIPTS = sorted(path for path in (ROOT / "benchmarks").rglob("*.py") if "    run(" in path.read_text())


def measured(tmp_path, *, as_json=False, pages=()):
    report = Report(as_json=as_json, seed=3)
    report.row(program="a", cpu_s=1.234, rows=12_345)
    report.row(program="b", cpu_s=0.0, rows=None)
    report.row(pages=2)
    for page in pages:
        report.write(page, mark="two")
    return report


def test_rows_of_equal_columns_are_one_table(tmp_path, capsys):
    measured(tmp_path)
    lines = capsys.readouterr().out.splitlines()
    assert lines[0].endswith("; seed 3.")
    assert lines[2:6] == [
        "| program | CPU s | rows |",
        "| --- | --- | --- |",
        "| a | 1.23 | 12,345 |",
        "| b | 0.0000 |  |",
    ]
    assert lines[7:] == ["| pages |", "| --- |", "| 2 |"]


def test_a_setting_that_is_not_given_is_left_out(capsys):
    Report(mode=None, seed=3)
    assert capsys.readouterr().out.endswith("; seed 3.\n")


def test_json_has_a_line_for_the_settings_and_one_for_each_row(tmp_path, capsys):
    measured(tmp_path, as_json=True)
    settings, *rows = map(json.loads, capsys.readouterr().out.splitlines())
    assert settings["seed"] == 3
    assert rows == [
        {"program": "a", "cpu_s": 1.234, "rows": 12_345},
        {"program": "b", "cpu_s": 0, "rows": None},
        {"pages": 2},
    ]


def test_a_report_replaces_the_part_between_its_marks(tmp_path):
    page = tmp_path / "results.md"
    page.write_text("<!-- one -->\nstays\n<!-- end -->\n<!-- two -->\nold\n<!-- end -->\nafter\n", "utf-8")
    lines = measured(tmp_path, pages=[page, page]).lines
    assert page.read_text("utf-8") == "\n".join(
        ["<!-- one -->\nstays\n<!-- end -->\n<!-- two -->", *lines, "<!-- end -->\nafter\n"]
    )


def test_a_page_without_the_mark_is_left_alone(tmp_path):
    page = tmp_path / "results.md"
    page.write_text("before\n", "utf-8")
    with pytest.raises(SystemExit, match="no <!-- two -->"):
        measured(tmp_path, pages=[page])
    assert page.read_text("utf-8") == "before\n"


def test_a_function_is_measured_in_a_process_of_its_own():
    cost = measure_call(measured_elsewhere, [1, 2], "x")
    assert cost.output == "[1, 2] x\n"
    assert cost.cpu_s > 0
    assert cost.memory_mb > 1


def measured_elsewhere(numbers, text):
    print(numbers, text)


def documented():
    """Return what each script is given in the commands that pages and scripts show."""
    pages = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *sorted((ROOT / "docs").glob("*.md"))]
    quoted = (re.findall(r"`python -m (benchmarks\.[\w.]+)([^`]*)`", page.read_text("utf-8")) for page in pages)
    shown = (re.findall(r"^(?:Run:)? +python -m ([\w.]+)(.*)", path.read_text("utf-8"), re.M) for path in SCRIPTS)
    commands = collections.defaultdict(set)
    for name, given in itertools.chain(*quoted, *shown):
        commands[name].add(given)
    del commands["benchmarks.FOLDER.SCRIPT"]
    return commands


def mentioned():
    """Yield each file that names a module of benchmarks, and the parts of the name."""
    tracked = subprocess.run(
        ["git", "ls-files"], cwd=ROOT, capture_output=True, text=True, check=True
    ).stdout.splitlines()
    for file in (name for name in tracked if name.endswith((".py", ".md", ".json", ".toml")) or name == "Makefile"):
        for found in re.findall(r"\bbenchmarks((?:\.[a-z_]\w*)+)", (ROOT / file).read_text("utf-8")):
            yield file, found.split(".")[1:]


@pytest.mark.skipif(not (ROOT / ".git").exists(), reason="not a clone")
def test_every_script_that_the_tree_names_exists():
    modules = {path.relative_to(ROOT / "benchmarks").with_suffix("") for path in (ROOT / "benchmarks").rglob("*.py")}
    places = {place for module in modules for place in (module, module.parent)} | {Path("md")}  # docs/benchmarks.md
    named = {(file, Path(*parts)) for file, parts in mentioned()}
    assert {(file, str(path)) for file, path in named if path not in places and path.parent not in modules} == set()


@pytest.mark.parametrize(("name", "commands"), documented().items())
def test_documented_commands_give_a_script_options_that_it_has_and_all_that_it_requires(name, commands, monkeypatch):
    started = []
    monkeypatch.setattr(typer.Typer, "__call__", lambda app: started.append(app))
    monkeypatch.delitem(sys.modules, name, raising=False)
    runpy.run_module(name, run_name="__main__", alter_sys=True)
    script = typer.main.get_command(started.pop())
    for given in commands:
        command = script.commands[given.split()[0]] if hasattr(script, "commands") else script
        options = {name for option in command.params for name in [*option.opts, *option.secondary_opts]}
        named = {*re.findall(r"--[\w-]+", given)}
        assert named <= options | {"--help"}, given
        required = [set(option.opts) for option in command.params if option.required and option.opts[0][:2] == "--"]
        assert [names for names in required if not named & {*names, "--help"}] == [], f"{name}{given} does not run"


@pytest.mark.parametrize("path", SCRIPTS, ids=lambda path: path.stem)
def test_every_script_has_help_with_an_example(path, capsys, monkeypatch):
    module = ".".join(path.relative_to(ROOT).with_suffix("").parts)
    monkeypatch.setattr(sys, "argv", [str(path), "--help"])
    monkeypatch.delitem(sys.modules, module, raising=False)
    with pytest.raises(SystemExit) as stopped:
        runpy.run_module(module, run_name="__main__", alter_sys=True)
    assert not stopped.value.code
    assert f"Run: python -m {module}" in capsys.readouterr().out


def test_an_input_that_is_missing_is_an_error_without_a_traceback(monkeypatch, tmp_path):
    given = ["query", "--index", str(tmp_path / "index"), "--dataset", str(tmp_path / "data")]
    monkeypatch.setattr(sys, "argv", given)
    with pytest.raises(SystemExit, match=r"error: .*data: not a dataset: it does not exist"):
        run(query.main)


@pytest.mark.slow
def test_the_smallest_run_of_a_script_compares_with_its_peer(monkeypatch, capsys):
    monkeypatch.setattr(sys, "argv", ["cluster_summary", "--clusters", "50", "--files", "2", "--json"])
    with pytest.raises(SystemExit) as stopped:
        run(cluster_summary.main)
    assert not stopped.value.code
    assert [row["result"] for row in map(json.loads, capsys.readouterr().out.splitlines()[1:])] == ["equal", "equal"]


@pytest.mark.parametrize(
    "name",
    [
        "pipelines.peers.dict_loop",
        "retrieval.peers.autofaiss_index",
        "retrieval.peers.constant_server",
        "retrieval.peers.plain_server",
    ],
)
def test_a_peer_without_arguments_prints_its_usage(name, monkeypatch):
    monkeypatch.setattr(sys, "argv", [name])
    monkeypatch.delitem(sys.modules, f"benchmarks.{name}", raising=False)
    with pytest.raises(SystemExit, match="\nRun: "):
        runpy.run_module(f"benchmarks.{name}", run_name="__main__")
