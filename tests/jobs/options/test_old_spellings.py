import pytest
import typer.main

from jobs.commands.registry import COMMANDS, app
from jobs.options.old_spellings import COMMANDS as OLD_COMMANDS
from jobs.options.old_spellings import OPTIONS as OLD_OPTIONS
from jobs.options.old_spellings import current_spelling

GROUP = typer.main.get_command(app)


@pytest.mark.parametrize("more", [[], ["--help"], ["--dataset", "d", "--index", "i", "--output", "o"]])
def test_an_old_command_is_answered_with_the_new_one(qpr, more):
    expected = "error: qpr rerank: is no command any more. Use `qpr train-reranker`\n"
    assert qpr("rerank", *more) == (2, "", expected)


@pytest.mark.parametrize("old", ["--calibrate", "--gold-column", "--gold-column=topic"])
def test_options_that_became_a_command_are_answered_with_it(qpr, old):
    outcome = qpr("clusters", "logs.jsonl", "--output", "c", old)
    assert (outcome.code, outcome.out) == (2, "")
    assert outcome.err.endswith("is no option any more. Use `qpr calibrate`\n")


@pytest.mark.parametrize("more", [[], ["--dataset", "d", "--output", "o"], ["--help"]])
def test_an_old_option_is_answered_with_the_new_one_before_others_are_missed(qpr, more):
    expected = "error: qpr train --plan: is no option any more. Use --dry-run\n"
    assert qpr("train", *more, "--plan") == (2, "", expected)


def test_an_old_option_is_a_word_where_it_is_no_option(qpr):
    assert "any more" not in qpr("search", "--index", "nowhere", "--", "--plan").err
    assert "any more" not in qpr("train", "--", "--plan").err


@pytest.mark.parametrize("command", ["clusters", "index"])
def test_an_old_option_of_a_column_is_read_with_a_note_and_hidden(qpr, tmp_path, command):
    path = tmp_path / "f.csv"
    path.write_text("q,a\nhow,so\n")
    files = [path] if command == "clusters" else ["--questions", path, "--model", "nowhere"]
    outcome = qpr(command, *files, "--output", tmp_path / "o", "--question-column", "wrong")
    assert outcome.code == 1
    assert outcome.err.startswith("--question-column will go: give --column question=wrong\n")
    assert "no column wrong" in outcome.err
    assert "--question-column" not in qpr(command, "--help").out


@pytest.mark.parametrize(
    ("words", "today"),
    [
        (["clusters", "--logs", "a", "--logs=b", "c"], ["clusters", "a", "b", "c"]),
        (["quora", "--pairs", "a", "--output", "o"], ["quora", "a", "--output", "o"]),
        (["clusters", "--answer-id-column=ref"], ["clusters", "--column", "answer_id=ref"]),
        (["index", "--text-column", "t"], ["index", "--column", "question=t"]),
        (["index", "--logs", "a"], ["index", "--logs", "a"]),
        (["clusters", "--", "--logs"], ["clusters", "--", "--logs"]),
    ],
)
def test_old_options_become_those_of_today(words, today):
    assert current_spelling(words) == today


@pytest.mark.parametrize("command", ["clusters", "quora"])
def test_an_old_option_of_files_prints_one_note(qpr, command):
    option = {"clusters": "--logs", "quora": "--pairs"}[command]
    words = ("--output", "o", option, "nowhere-1", option, "nowhere-2")
    assert qpr(command, *words).err.count(f"{option} will go: give the files as arguments\n") == 1
    assert "will go" not in qpr(command, *words, "--quiet").err


def test_what_is_refused_is_gone_and_what_is_named_exists():
    assert not OLD_COMMANDS.keys() & COMMANDS.keys()
    assert set(OLD_COMMANDS.values()) <= COMMANDS.keys()
    for (command, option), advice in OLD_OPTIONS.items():
        known = {name for parameter in GROUP.commands[command].params for name in parameter.opts}
        assert option not in known
        assert advice in known or advice.strip("`").removeprefix("qpr ") in COMMANDS
