import pytest

from jobs.commands.registry import COMMANDS
from jobs.options.output import lasting
from schemas.errors import UsageError


@pytest.mark.parametrize("url", ["memory://bucket/index", "memory:/x", "dir::memory://bucket"])
def test_the_memory_of_a_process_that_ends_is_no_output(url):
    with pytest.raises(UsageError, match=r"is in this command's memory and gone when it ends\. Name a file or folder"):
        lasting(url)


@pytest.mark.parametrize("url", [None, "memory", "out/memory:x", "s3://memory/x", "file:///memory"])
def test_other_outputs_stay_as_they_are(url):
    assert lasting(url) == url


def test_every_command_that_writes_refuses_it(qpr):
    for name, command in COMMANDS.items():
        hints = command.load().__annotations__
        if "output" not in hints:
            assert name == "search"
            continue
        assert "callback=lasting" in hints["output"]
    outcome = qpr("simulate", "--output", "memory://bucket/log.jsonl", "--events", 5)
    assert (outcome.code, outcome.out) == (2, "")
    assert "memory://bucket/log.jsonl: is in this command's memory" in outcome.err
