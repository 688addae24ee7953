import json
import subprocess
import sys

import pytest

from tests.support.engine_servers import ROOT

KILLS = 3


@pytest.mark.fault
@pytest.mark.slow
@pytest.mark.xdist_group("kills")
def test_a_killed_night_leaves_a_whole_version_and_is_completed_by_the_next_run():
    command = [sys.executable, "-m", "tests.faults.night_kills", "--kills", str(KILLS)]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    counts = json.loads(done.stdout)
    assert counts["killed"] == counts["first"] + counts["second"] == KILLS
    assert (counts["broken"], counts["rerun_differs"]) == (0, 0)
