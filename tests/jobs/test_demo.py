import subprocess
import sys
import types

import pytest
import typer

from jobs import demo
from schemas.artifacts.dataset import open_dataset
from tests.support import commands


@pytest.mark.slow
def test_the_demonstration_answers_three_questions_that_the_index_does_not_hold(tmp_path, capfd, monkeypatch):
    def run_here(command, *, check):  # seven processes would load the libraries seven times
        assert command[:3] == [sys.executable, "-m", "jobs"]
        return subprocess.CompletedProcess(command, commands.run(*command[3:]))

    monkeypatch.setattr(demo, "subprocess", types.SimpleNamespace(run=run_here))  # libraries start processes too
    folder = str(tmp_path / "demo")
    demo.demo(folder=folder, events=3_000, epochs=1)
    printed = capfd.readouterr().out
    for command in ("simulate", "clusters", "sample", "train", "index", "evaluate", "search"):
        assert f"$ qpr {command}" in printed
    questions = demo.hurried_questions(f"{folder}/dataset", 3)
    known = set(open_dataset(f"{folder}/dataset").table("questions")["key"].to_pylist())
    assert len(questions) == 3
    assert not known & set(questions)
    assert printed.count("rank") >= 3
    assert "Try next" in printed


def test_a_step_that_fails_ends_the_demonstration_with_its_exit_code(capfd):
    with pytest.raises(typer.Exit) as stopped:
        demo.run("Ask", "search", "--index", "nowhere", "why", overwrite=False)
    assert stopped.value.exit_code == 1
    assert "not an index" in capfd.readouterr().err
