"""Airflow DAG of a night: one task ingests the day, the next publishes a version, each in the environment of `qpr`.

logical date -> qpr ingest -> qpr nightly -> version

The environment variables QPR_COMMAND and QPR_WAREHOUSE of the workers adapt it. The DAG only calls the command, so
Airflow and `qpr` need no common package.
"""

from __future__ import annotations

import datetime
import os
import subprocess

from airflow.sdk import dag, task

try:
    from airflow.sdk.exceptions import AirflowFailException, AirflowSkipException
except ImportError:  # older releases of Airflow 3 have them elsewhere
    from airflow.exceptions import AirflowFailException, AirflowSkipException

WRONG_USAGE, REFUSED = 2, 3


def call(command: str, date: str) -> None:
    """Run a command of `qpr` for a day; its messages are in the log of the task.

    Raises:
        AirflowFailException: wrong options, which another try does not correct.
        AirflowSkipException: the gate refused the night; the current version stays.
        RuntimeError: another failure; Airflow tries again.
    """
    qpr = os.environ.get("QPR_COMMAND", "/opt/qpr/bin/qpr")
    warehouse = os.environ.get("QPR_WAREHOUSE", "/srv/qpr/warehouse")
    done = subprocess.run([qpr, command, "--warehouse", warehouse, "--date", date], check=False)
    if done.returncode == WRONG_USAGE:
        raise AirflowFailException(f"qpr {command}: wrong usage")
    if done.returncode == REFUSED:
        raise AirflowSkipException(f"qpr {command}: refused by the gate")
    if done.returncode:
        raise RuntimeError(f"qpr {command}: exit code {done.returncode}")


@dag(
    schedule="30 2 * * *",
    start_date=datetime.datetime(2026, 11, 1, tzinfo=datetime.UTC),
    catchup=True,
    max_active_runs=1,
    default_args={"retries": 3, "retry_delay": datetime.timedelta(minutes=10)},
)
def qpr_nightly() -> None:
    """Publish a version of the day before the run."""

    @task
    def ingest(day: str) -> None:
        call("ingest", day)

    @task
    def nightly(day: str) -> None:
        call("nightly", day)

    day = "{{ macros.ds_add(ds, -1) }}"
    ingest(day) >> nightly(day)


qpr_nightly()
