import pytest

from jobs.commands.registry import COMMANDS
from jobs.display import console


@pytest.fixture
def logs(write_jsonl):
    rows = [{"question": f"how do I pay {what}", "answer": "In the app"} for what in ("my bill", "a bill", "bills")]
    return write_jsonl("logs.jsonl", rows)


def given(logs, memory):
    return "clusters", logs, "--output", f"{memory}/d"


def test_a_quiet_command_prints_its_result_alone(qpr, logs, memory):
    loud = qpr(*given(logs, memory))
    assert "Next: " in loud.err
    quiet = qpr(*given(logs, memory), "--overwrite", "--quiet")
    assert (quiet.code, quiet.err) == (0, "")
    assert quiet.out.splitlines()[1:] == loud.out.splitlines()[1:]  # the first holds the time it took


def test_the_environment_can_ask_for_quiet(qpr, logs, memory, monkeypatch):
    monkeypatch.setenv("QPR_QUIET", "1")
    assert qpr(*given(logs, memory)).err == ""
    monkeypatch.setenv("QPR_QUIET", "0")
    assert "Next: " in qpr(*given(logs, memory), "--overwrite").err


def test_errors_and_warnings_are_printed_all_the_same(qpr, memory, capsys):
    outcome = qpr("sample", "--dataset", f"{memory}/none", "--quiet")
    assert outcome.code == 1
    assert outcome.err.startswith("error: ")
    console.warn("mind the gap")
    console.say("a note")
    assert capsys.readouterr().err == "warning: mind the gap\n"


def test_the_next_command_is_as_loud_as_ever(qpr, logs, memory):
    qpr("sample", "--dataset", f"{memory}/none", "--quiet")
    assert "Next: " in qpr(*given(logs, memory)).err


@pytest.mark.parametrize("command", COMMANDS)
def test_every_command_can_be_quiet(qpr, command):
    assert "--quiet" in qpr(command, "--help").out
