"""Generated requests, valid and invalid, by the OpenAPI document of the server."""

import subprocess
import sys

import pytest


@pytest.mark.slow
def test_no_generated_request_breaks_the_document(publish, server, tmp_path):
    limits = ("--max-characters", 200, "--max-questions", 5, "--max-k", 20, "--timeout", 60)
    process = server(publish(["pay my bill", "cancel my flight"]), "--state", tmp_path / "state", *limits)
    tool = [sys.executable, "-m", "schemathesis.cli", "run", f"{process.url}/openapi.json"]
    bounds = ["--max-examples", "10", "--seed", "1", "--phases", "examples,coverage,fuzzing", "--checks", "all"]
    done = subprocess.run(
        [*tool, *bounds, "--generation-database", "none"], capture_output=True, text=True, cwd=tmp_path
    )
    assert done.returncode == 0, done.stdout
    assert process.popen.poll() is None
    assert "defect" not in "\n".join(process.errors)
