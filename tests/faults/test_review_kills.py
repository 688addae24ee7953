import json
import subprocess
import sys

import pytest

from tests.support.engine_servers import ROOT

pytestmark = [pytest.mark.fault, pytest.mark.slow, pytest.mark.xdist_group("kills")]


def test_fifty_kills_lose_no_verdict(make_dataset, tmp_path):
    make_dataset(tmp_path / "dataset", [[f"how do I pay {n} {word}" for word in "ab"] for n in range(8_000)])
    command = [sys.executable, "-m", "tests.faults.review_kills", tmp_path, "--kills", "50"]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    row = json.loads(done.stdout)
    assert (row["kills"], row["lost"], row["shrunk"]) == (50, 0, 0)
    assert row["stored"] >= row["seen"] > 20
