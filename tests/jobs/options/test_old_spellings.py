import pytest
import typer.main

from jobs.commands.registry import COMMANDS, app
from jobs.options.old_spellings import COMMANDS as OLD_COMMANDS
from jobs.options.old_spellings import OPTIONS as OLD_OPTIONS

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


def test_what_is_refused_is_gone_and_what_is_named_exists():
    assert not OLD_COMMANDS.keys() & COMMANDS.keys()
    assert set(OLD_COMMANDS.values()) <= COMMANDS.keys()
    for (command, option), advice in OLD_OPTIONS.items():
        known = {name for parameter in GROUP.commands[command].params for name in parameter.opts}
        assert option not in known
        assert advice in known or advice.strip("`").removeprefix("qpr ") in COMMANDS
