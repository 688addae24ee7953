import inspect
import subprocess
import sys

import pytest
import typer.main

from jobs.commands.registry import COMMANDS, app


def modules_after(*arguments):
    """Return the modules that a command line leaves imported in a new process."""
    code = """if True:
        import sys
        from jobs.cli import main
        try:
            main(sys.argv[1:])
        finally:
            sys.stderr.write("\\n".join(sys.modules))
    """
    done = subprocess.run([sys.executable, "-c", code, *arguments], capture_output=True, text=True, check=True)
    return set(done.stderr.splitlines())


@pytest.mark.parametrize("command", COMMANDS)
def test_a_line_of_the_help_is_the_first_of_the_docstring(command):
    assert COMMANDS[command].summary == inspect.getdoc(COMMANDS[command].load()).split("\n")[0]


@pytest.mark.parametrize("flag", ["--help", "--version"])
def test_without_a_command_no_module_of_one_is_imported(flag):
    imported = modules_after(flag)
    assert not imported & {"pyarrow", "numpy", "fsspec"}  # not pydantic: Typer 0.29 imports it to read options
    assert not imported & {entry.module for entry in COMMANDS.values()}


def test_the_help_of_a_command_imports_no_other():
    imported = modules_after("search", "--help")
    assert imported & {entry.module for entry in COMMANDS.values()} == {"jobs.commands.indexes.search"}


@pytest.mark.parametrize("command", ["train", "distil", "train-reranker"])
def test_the_help_of_a_training_starts_no_engine(command):
    assert not modules_after(command, "--help") & {"apache_beam", "torch", "faiss"}


def test_the_modules_of_a_training_start_no_engine():
    modules = "jobs.commands.models.train", "encoder_training", "training_dry_run"
    code = f"import sys, {', jobs.workflows.training.'.join(modules)}"
    done = subprocess.run(
        [sys.executable, "-c", f"{code}; print(*sys.modules)"], capture_output=True, text=True, check=True
    )
    assert not set(done.stdout.split()) & {"apache_beam", "torch", "faiss"}


@pytest.mark.parametrize(("typed", "suggested"), [("seach", "search"), ("cluster", "clusters")])
def test_a_mistyped_command_is_answered_with_the_right_one(qpr, typed, suggested):
    outcome = qpr(typed)
    assert (outcome.code, outcome.out) == (2, "")
    assert outcome.err == f"error: No such command '{typed}'. Did you mean '{suggested}'? See `qpr --help`\n"


def test_the_help_lists_commands_in_the_order_of_the_registry(qpr):
    listed = qpr("--help").out.partition("From logs to clusters:\n")[2].splitlines()
    assert [line.split()[0] for line in listed if line[:2] == "  " and line[2:3].strip()] == list(COMMANDS)
    assert [line for line in listed if line[:1].strip()] == [
        "From clusters to a model:",
        "Index and search:",
        "Answers with a certificate:",
        "A new version every night:",
    ]


@pytest.mark.parametrize(
    ("command", "first"),
    [
        ("nightly", ["--warehouse", "--date", "--from", "--to"]),
        ("index", ["--output", "--questions", "--model"]),
        ("serve", ["--index", "--warehouse", "--at", "--certificate"]),
        ("answer", ["--index", "--warehouse", "--at", "--certificate"]),
    ],
)
def test_the_help_lists_first_what_a_command_reads(qpr, command, first):
    listed = qpr(command, "--help").out.partition("\nOptions:\n")[2].splitlines()
    options = [line.split()[0] for line in listed if line.startswith("  --")]
    assert options[: len(first)] == first


TEXTS = {"--index", "--dataset", "--warehouse", "--model", "--certificate", "--output", "--user", "--filter"}


@pytest.mark.parametrize("command", COMMANDS)
def test_an_option_with_an_empty_text_is_refused_and_not_left_out(qpr, command):
    parameters = typer.main.get_command(app).commands[command].params
    needed = {p.opts[0]: "7" for p in parameters if p.required and p.param_type_name == "option"}
    words = ["x" for p in parameters if p.required and p.param_type_name == "argument"]
    options = TEXTS & {p.opts[0] for p in parameters}
    assert options
    for option in sorted(options):
        given = [part for pair in (needed | {option: ""}).items() for part in pair]
        outcome = qpr(command, *given, *words)
        assert (outcome.code, outcome.out) == (2, "")
        assert f"{option}: is empty. Give a value, or leave the option out" in outcome.err


def test_an_empty_question_is_one(qpr):
    assert "--index" in qpr("search", "").err
