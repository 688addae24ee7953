import re

import pytest
import typer.main

from jobs.commands.registry import COMMANDS, app

GROUP = typer.main.get_command(app)


def help_of(qpr, monkeypatch, *command, width=80):
    monkeypatch.setenv("COLUMNS", str(width))
    monkeypatch.setenv("TERMINAL_WIDTH", str(width))
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
def test_an_option_has_one_default(qpr, monkeypatch, command):
    for option in re.split(r"\n(?=  -)", help_of(qpr, monkeypatch, command)):
        without_preset = re.sub(r"\bdefault(?=[,;)|\]])", "", option)  # one is called so
        assert len(re.findall("default(?!s)", without_preset, re.IGNORECASE)) <= 1, option


@pytest.mark.parametrize("command", COMMANDS)
def test_each_command_has_an_example_on_a_line_of_its_own_whose_options_exist(qpr, monkeypatch, command):
    text = help_of(qpr, monkeypatch, command)
    examples = re.findall(rf"^ +(?:Example: )?(qpr {command} .+)$", text, re.MULTILINE)
    assert examples
    known = {name for parameter in GROUP.commands[command].params for name in parameter.opts}
    for example in examples:
        assert set(re.findall(r"--[\w-]+", example)) <= known


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
