import pytest

from jobs.commands.registry import COMMANDS
from jobs.options.output import lasting
from schemas.errors import UsageError

READERS = ("search", "answer", "serve", "erase", "review")
"""Commands without an output."""

OF_WAREHOUSES = ("ingest", "nightly", "versions", "rollback", "gc")
"""Commands whose output is a warehouse."""


@pytest.mark.parametrize("url", ["memory://bucket/index", "memory:/x", "dir::memory://bucket"])
def test_the_memory_of_a_process_that_ends_is_no_output(url):
    with pytest.raises(UsageError, match=r"is in this command's memory and gone when it ends\. Name a file or folder"):
        lasting(url)


@pytest.mark.parametrize("url", [None, "memory", "out/memory:x", "s3://memory/x", "file:///memory"])
def test_other_outputs_stay_as_they_are(url):
    assert lasting(url) == url


@pytest.mark.parametrize("command", [name for name in COMMANDS if name not in READERS])
def test_every_command_that_writes_refuses_it_before_it_asks_for_more(qpr, command):
    outcome = qpr(command, "--warehouse" if command in OF_WAREHOUSES else "--output", "memory://bucket/out")
    assert (outcome.code, outcome.out) == (2, "")
    is_refused = outcome.err.startswith("error: memory://bucket/out: is in this command's memory")
    assert is_refused, f"{outcome.err}: list {command} in READERS if it has no output"


@pytest.mark.parametrize("command", READERS)
def test_a_search_writes_nothing(qpr, command):
    assert "--output" not in qpr(command, "--help").out
