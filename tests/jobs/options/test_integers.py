"""Integers of the command line: one that is too large is wrong usage, and the largest one works."""

import pytest
import typer.main

from jobs.commands.registry import app

LOG = [{"question": f"how do I pay {what}", "answer": "In the app", "user_id": "u"} for what in ("my bill", "a bill")]
PAIRS = [{"question1": "how far is it", "question2": "how far", "is_duplicate": "1"}]


def integer_options():
    """Yield each command with each of its options that takes an integer, and the required options of the command."""
    for name, command in typer.main.get_command(app).commands.items():
        required = [word for p in command.params if p.required for word in (p.opts[0], "1")]
        for parameter in command.params:
            if parameter.param_type_name == "option" and parameter.type_descriptor.annotation is int:
                yield pytest.param(name, parameter.opts[0], required, id=f"{name} {parameter.opts[0]}")


def test_the_options_that_take_an_integer_are_found():
    found = {parameter.id for parameter in integer_options()}
    assert {"clusters --max-events-of-user", "sample --clusters", "nightly --review-days", "gc --keep"} <= found
    assert len(found) > 80


@pytest.mark.parametrize(("command", "option", "required"), [*integer_options()])
def test_an_integer_beyond_64_bits_is_wrong_usage_and_the_range_is_named(qpr, command, option, required):
    outcome = qpr(command, *required, f"{option}={10**20}")
    assert outcome.code == 2
    assert option in outcome.err
    assert any(words in outcome.err for words in ("Give a number from", "in the range", "must be at most"))


@pytest.mark.parametrize("option", ["--dimension", "--hash-bins", "--embedding-dimension", "--channels"])
def test_a_width_that_no_tensor_can_have_is_wrong_usage(qpr, option):
    encoder = ("--encoder", "cnn") if option in ("--embedding-dimension", "--channels") else ()
    outcome = qpr("train", "--dataset", "x", "--output", "y", *encoder, option, 2**62)
    assert (outcome.code, option in outcome.err) == (2, True)


@pytest.mark.parametrize(
    "option",
    [
        "--max-events-of-user",
        "--max-answer-events-of-user",
        "--max-cluster-size",
        "--max-pairs-per-cluster",
    ],
)
def test_the_largest_limit_is_no_limit(qpr, write_jsonl, tmp_path, option):
    log = write_jsonl("log.jsonl", LOG)
    outcome = qpr("clusters", log, "--output", tmp_path / "d", "--linkage", "none", option, 2**63 - 1)
    assert outcome.code == 0, outcome.err


def test_the_largest_number_of_held_out_pairs_is_a_tenth(qpr, write_jsonl, tmp_path):
    pairs = write_jsonl("pairs.jsonl", PAIRS)
    assert qpr("quora", pairs, "--output", tmp_path / "d", "--held-out-pairs", 10**9).code == 0
    outcome = qpr("quora", pairs, "--output", tmp_path / "e", "--held-out-pairs", 10**9 + 1)
    assert outcome.code == 2
    assert "--held-out-pairs" in outcome.err
