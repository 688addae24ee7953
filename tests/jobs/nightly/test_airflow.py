"""The DAG in deploy/airflow/ runs in a real Airflow 3, which has an environment of its own."""

import datetime
import json
import os
import shutil
import subprocess
import sys

import pytest

from schemas.versions import history
from tests.jobs.nightly.conftest import rows_of
from tests.support.engine_servers import ROOT

DAY = datetime.date(2026, 11, 20)
AIRFLOW = os.environ.get("QPR_AIRFLOW") or shutil.which("airflow")
pytestmark = [
    pytest.mark.slow,
    pytest.mark.engine,
    pytest.mark.skipif(AIRFLOW is None, reason="Airflow is not installed; QPR_AIRFLOW names its program"),
]


@pytest.fixture
def run_dag(tmp_path):
    """Return a function that runs the DAG with a program as `qpr`, and gives the states of its tasks."""
    kept = {name: os.environ[name] for name in ("HOME", "PATH", "LANG") if name in os.environ}
    settings = {
        "AIRFLOW_HOME": str(tmp_path / "airflow"),
        "AIRFLOW__CORE__DAGS_FOLDER": str(ROOT / "deploy" / "airflow"),
        "AIRFLOW__CORE__LOAD_EXAMPLES": "False",
        "QPR_WAREHOUSE": str(tmp_path / "w"),
        "QPR_COMMAND": str(tmp_path / "qpr"),
    }

    def call(*arguments):
        command = [AIRFLOW, *arguments]
        return subprocess.run(command, env=kept | settings, capture_output=True, text=True, check=False, timeout=300)

    def run(program):
        (tmp_path / "qpr").write_text(f'#!/bin/sh\necho "$@" >> {tmp_path}/called\n{program}\n')
        (tmp_path / "qpr").chmod(0o755)
        logical = str(DAY + datetime.timedelta(days=1))
        done = call("dags", "test", "qpr_nightly", logical)
        states = call("tasks", "states-for-dag-run", "qpr_nightly", f"{logical}T00:00:00+00:00", "--output", "json")
        assert states.returncode == 0, done.stdout + done.stderr + states.stderr
        tasks = json.loads(next(line for line in states.stdout.splitlines() if line.startswith("[{")))
        return done, {task["task_id"]: task["state"] for task in tasks}

    for command in (("db", "migrate"), ("dags", "reserialize")):
        done = call(*command)
        assert done.returncode == 0, done.stdout + done.stderr
    return run


def test_a_run_publishes_the_version_of_the_day_before(run_dag, tmp_path, drop):
    for day in (DAY, DAY + datetime.timedelta(days=1)):
        drop(str(tmp_path / "w"), day, rows_of(day, seed=0, count=200))
    done, states = run_dag(f'cd {ROOT} && exec {sys.executable} -m jobs "$@"')
    assert states == {"ingest": "success", "nightly": "success"}, done.stdout + done.stderr
    assert "deprecated" not in "".join(line for line in done.stdout.splitlines() if "qpr_nightly.py" in line)
    [number] = history.numbers(str(tmp_path / "w"))
    assert history.read_version(str(tmp_path / "w"), number).date == DAY


@pytest.mark.parametrize(("code", "state", "failed"), [(2, "failed", True), (3, "skipped", False)])
def test_wrong_usage_fails_without_another_try_and_a_refused_night_is_skipped(run_dag, tmp_path, code, state, failed):
    done, states = run_dag(f'[ "$1" != nightly ] || exit {code}')
    assert states == {"ingest": "success", "nightly": state}, done.stdout + done.stderr
    assert bool(done.returncode) is failed
    commands = (tmp_path / "called").read_text().splitlines()
    assert commands == [f"{name} --warehouse {tmp_path}/w --date {DAY}" for name in ("ingest", "nightly")]
