import pytest

from tests.faults.reporting import output_of
from tests.support.kill_commands import COMMANDS

KILLS = 4

# one worker starts the one process
pytestmark = [pytest.mark.fault, pytest.mark.slow, pytest.mark.xdist_group("kills")]


@pytest.fixture(scope="module")
def killed():
    return {row["command"]: row for row in output_of("kills", "--kills", KILLS)}


@pytest.mark.parametrize("name", COMMANDS)
def test_a_killed_command_leaves_the_old_version_or_the_new_one_and_a_rerun_is_the_same(killed, name):
    row = killed[name]
    assert row["old"] + row["new"] + row["nothing"] == KILLS
    assert (row["broken"], row["rerun_differs"], row["litter_after_rerun"]) == (0, 0, 0)
    assert row["killed"] >= KILLS // 2  # a command may end before the clock strikes, never before its own operation
