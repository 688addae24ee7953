import inspect
import re
import typing

import pytest
import typer.main

from jobs.commands.registry import COMMANDS, app
from jobs.display.help import plain_fault
from jobs.options.from_settings import with_settings
from model.choices import Mode

GROUP = typer.main.get_command(app)


def help_of(qpr, monkeypatch, *command):
    monkeypatch.setenv("COLUMNS", "80")
    monkeypatch.setenv("TERMINAL_WIDTH", "80")
    outcome = qpr(*command, "--help")
    assert (outcome.code, outcome.err) == (0, "")
    return outcome.out


@pytest.mark.parametrize("command", COMMANDS)
def test_each_option_is_named_in_full_once_at_80_columns(qpr, monkeypatch, command):
    text = help_of(qpr, monkeypatch, command)
    lines = text.splitlines()
    sections = next(number for number, line in enumerate(lines) if line in ("Arguments:", "Options:"))
    for parameter in GROUP.commands[command].params:
        for name in (*parameter.opts, *parameter.secondary_opts):
            if name.startswith("--") and not getattr(parameter, "hidden", False):
                starts = [
                    line
                    for line in lines[sections:]
                    if re.match(rf"  (-\w, |-\w / |--[\w-]+ / )?{re.escape(name)}( |$)", line)
                ]
                assert len(starts) == 1, name
    assert max(map(len, lines)) <= 80
    assert "…" not in text


@pytest.mark.parametrize("command", COMMANDS)
def test_the_values_of_a_choice_stand_behind_its_option(command):
    parameters = inspect.signature(with_settings(COMMANDS[command].load()), eval_str=True).parameters.values()
    for parameter in parameters:
        kind, *declared = typing.get_args(parameter.annotation) or (None,)  # Context has none
        kinds = [part for part in (kind, *typing.get_args(kind)) if typing.get_origin(part) is typing.Literal]
        for choice in kinds:
            assert declared[0].metavar == f"[{'|'.join(typing.get_args(choice))}]", parameter.name


@pytest.mark.parametrize("command", ["search", "answer", "evaluate", "certify", "serve"])
def test_each_way_of_searching_is_explained(qpr, monkeypatch, command):
    text = " ".join(help_of(qpr, monkeypatch, command).split())
    assert [name for name in typing.get_args(Mode) if f"({name})" not in text] == []


def test_an_index_leaves_out_rows_without_a_question_however_many(qpr, monkeypatch):
    expected = {"clusters": "a larger share of rows is rejected", "index": "a larger share of rows cannot be read"}
    for command, clause in expected.items():
        assert clause in " ".join(help_of(qpr, monkeypatch, command).split())


@pytest.mark.parametrize("command", COMMANDS)
def test_an_option_of_a_model_has_the_same_name_of_its_value(qpr, monkeypatch, command):
    named = re.findall(r"^  --(model|teacher|init-from|with) (\S+)", help_of(qpr, monkeypatch, command), re.MULTILINE)
    assert {value for _, value in named} <= {"MODEL"}


@pytest.mark.parametrize("command", COMMANDS)
def test_an_option_has_one_default(qpr, monkeypatch, command):
    for option in re.split(r"\n(?=  -)", help_of(qpr, monkeypatch, command)):
        without_preset = re.sub(r"\bdefault(?=[,;)|\]])", "", option)  # one is called so
        assert len(re.findall("default(?!s)", without_preset, re.IGNORECASE)) <= 1, option


@pytest.mark.parametrize("command", COMMANDS)
def test_a_default_names_options_of_its_command_only(qpr, monkeypatch, command):
    text = re.sub(r"(?<=-)\n +", "", help_of(qpr, monkeypatch, command))  # names are wrapped at hyphens
    defaults = re.findall(r"\[default: ([^\]]*)\]", text)
    known = {name for parameter in GROUP.commands[command].params for name in parameter.opts}
    assert set(re.findall(r"--[\w-]+", " ".join(defaults))) <= known
    assert "" not in defaults


@pytest.mark.parametrize("command", COMMANDS)
def test_each_command_has_an_example_on_a_line_of_its_own_whose_options_exist(qpr, monkeypatch, command):
    text = help_of(qpr, monkeypatch, command)
    examples = re.findall(rf"^ +(?:Example: )?(qpr {command} .+)$", text, re.MULTILINE)
    assert examples
    known = {name for parameter in GROUP.commands[command].params for name in parameter.opts}
    for example in examples:
        assert set(re.findall(r"--[\w-]+", example)) <= known


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("search", "--index"), "Option '--index' requires an argument. See `qpr search --help`"),
        (("search", "-k", "0", "pay"), "--k: must be at least 1. See `qpr search --help`"),
        (("train", "--dataset", "d"), "Missing option '--output'. See `qpr train --help`"),
        (("train", "--epochs", "a"), "--epochs: must be a whole number. See `qpr train --help`"),
        (("clusters", "a.csv", "--output", "d", "--split-salt", "\udcff"), "--split-salt \\udcff: must be UTF-8"),
        (("--foo",), "No such option: --foo. See `qpr --help`"),
        (("foo",), "No such command 'foo'. See `qpr --help`"),
    ],
)
def test_a_wrong_command_line_is_one_line_that_begins_as_every_error(qpr, words, message):
    assert qpr(*words) == (2, "", f"error: {message}\n")


@pytest.mark.parametrize(
    ("message", "ours"),
    [
        ("Value error, must be a pair", "must be a pair"),
        ("Input should be greater than or equal to 1", "must be at least 1"),
        ("Input should be less than or equal to 1", "must be at most 1"),
        ("Input should be a valid integer, unable to parse string as an integer", "must be a whole number"),
        ("Input should be a valid number, unable to parse string as a number", "must be a number"),
        ("Input should be a valid string, unable to parse raw data as a unicode string", "must be UTF-8"),
        ("Input should be 'a' or 'b'", "must be 'a' or 'b'"),
        ("0 is not in the range x>=1", "0 is not in the range x>=1"),  # of typer without pydantic
    ],
)
def test_the_words_of_pydantic_are_replaced(message, ours):
    assert plain_fault(message) == ours


def test_the_summary_of_each_command_is_whole(qpr, monkeypatch):
    text = " ".join(help_of(qpr, monkeypatch).split())
    assert "..." not in text.removeprefix("Usage: qpr [OPTIONS] COMMAND [ARGS]...")
    for command in GROUP.commands.values():
        assert " ".join(command.help.split("\n")[0].split()) in text


def test_options_stand_under_their_panels(qpr, monkeypatch):
    sections = re.split(r"^(\w+):\n", help_of(qpr, monkeypatch, "train"), flags=re.MULTILINE)
    of_panel = dict(zip(sections[1::2], sections[2::2], strict=True))
    assert list(of_panel) == ["Options", "Encoder", "Loss", "Training", "Run", "Output"]
    assert "--margin" in of_panel["Loss"]
    needed = {"dataset", "output", "preset", "encoder", "loss", "epochs", "batch-size", "learning-rate", "max-minutes"}
    assert set(re.findall(r"^  --([\w-]+)", of_panel["Options"], re.MULTILINE)) == needed | {"resume", "quiet"}


def test_the_help_of_train_fits_on_two_screens(qpr, monkeypatch):
    assert len(help_of(qpr, monkeypatch, "train").splitlines()) <= 125
