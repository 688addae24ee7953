import json
import subprocess
import sys

import pytest

from tests.support.engine_servers import ROOT


def test_of_writers_that_publish_at_once_one_wins_and_its_record_stays():
    pytest.importorskip("s3fs", reason="s3fs is not installed")
    pytest.importorskip("moto.server", reason="moto's server is not installed")
    command = [sys.executable, "-m", "tests.faults.version_races", "--races", "20", "--seed", "1"]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False, timeout=300)
    assert done.returncode == 0, done.stdout + done.stderr
    rows = [json.loads(line) for line in done.stdout.splitlines()]
    assert [(row["store"], row["one_winner"], row["wrong"]) for row in rows] == [("local", 10, 0), ("s3", 10, 0)]
