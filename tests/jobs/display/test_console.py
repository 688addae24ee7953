import io

import pytest
import rich.console

from jobs.display import console
from jobs.display.hits import print_hits
from model.search.results import Hit
from schemas.errors import QprError

ODD = ("o[/red].jsonl", "[bold]all[/bold]", "a :x: b", ":100:", "[link=file:///x]y[/link]")


def failing(text):
    raise QprError(text)


@pytest.mark.usefixtures("wide_tables")
@pytest.mark.parametrize("text", ODD)
def test_brackets_and_names_of_pictures_are_printed_unchanged(text, capsys):
    console.say(text)
    console.warn(text)
    assert console.run_explained(lambda: failing(text), []) == 1
    console.emit({}, as_json=False, table=lambda: console.two_columns(text, {"output": text}))
    print_hits(text, [Hit(1, 1, text, text, None, None, None)], as_json=False)
    printed = capsys.readouterr()
    assert printed.err.count(text) == 3
    assert printed.out.count(text) == 5


def test_long_cells_are_broken_into_lines_for_a_terminal_or_a_given_width_only(capsys, monkeypatch):
    path = "folder/" * 30 + "index"

    def printed():
        console.emit({}, as_json=False, table=lambda: console.two_columns("Index", {"output": path, "rows": 3}))
        return capsys.readouterr().out

    monkeypatch.delenv("COLUMNS", raising=False)
    in_pipe = printed()
    assert path in in_pipe
    assert {len(line) for line in in_pipe.splitlines()[1:]} == {len(path) + len("│ output │  │")}
    monkeypatch.setattr(console.results, "width", 80)
    monkeypatch.setenv("COLUMNS", "80")
    assert max(map(len, printed().splitlines())) == 80
    monkeypatch.delenv("COLUMNS")
    monkeypatch.setattr(console.results, "_force_terminal", True)
    assert max(map(len, printed().splitlines())) == 80


def test_a_progress_bar_describes_its_work_as_it_is(monkeypatch):
    screen = io.StringIO()
    monkeypatch.setattr(console, "messages", rich.console.Console(file=screen, force_terminal=True, width=80))
    with console.progress_bar("loss") as bar:
        bar.add_task("[/red] of a", total=2, loss="[/b]")
    assert "[/red] of a" in screen.getvalue()
    assert "loss [/b]" in screen.getvalue()


@pytest.mark.usefixtures("wide_tables")
def test_control_characters_of_paths_are_spelled(qpr, tmp_path):
    place = tmp_path / "a\x1b[31mb"
    outcome = qpr("search", "--index", place, "hi")
    assert (outcome.code, "a\\x1b[31mb: not an index" in outcome.err) == (1, True)
    assert "\x1b" not in outcome.err
    place.mkdir()
    outcome = qpr("simulate", "--output", place / "logs[/red].jsonl", "--events", 10)
    assert outcome.code == 0, outcome.err
    assert "a\\x1b[31mb/logs[/red].jsonl" in outcome.out
    assert "\x1b" not in outcome.out + outcome.err
