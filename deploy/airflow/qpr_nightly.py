"""Airflow DAG of a night: one task ingests the day, the next publishes a version, each in the environment of `qpr`.

logical date -> qpr ingest -> qpr nightly -> version

The environment variables QPR_COMMAND, QPR_WAREHOUSE, QPR_INGEST_OPTIONS (of both commands) and QPR_NIGHTLY_OPTIONS (of
the second one) of the workers adapt it. The DAG only calls the command, so Airflow and `qpr` need no common package.
"""

from __future__ import annotations

import datetime
import os
import shlex
import subprocess

from airflow.sdk import dag, task

try:
    from airflow.sdk.exceptions import AirflowFailException, AirflowSkipException
except ImportError:  # older releases of Airflow 3 have them elsewhere
    from airflow.exceptions import AirflowFailException, AirflowSkipException

WRONG_USAGE, REFUSED, BAD_DROP = 2, 3, 4
"""Exit codes of `qpr` that are the same when a command is repeated."""

OPTIONS = {"ingest": ["QPR_INGEST_OPTIONS"], "nightly": ["QPR_INGEST_OPTIONS", "QPR_NIGHTLY_OPTIONS"]}
"""Variables with more options of each command, quoted as for a shell."""


def call(command: str, date: str) -> None:
    """Run a command of `qpr` for a day; its messages are in the log of the task.

    Raises:
        AirflowFailException: wrong options or rows that cannot be used, which another try does not correct.
        AirflowSkipException: the gate refused the night; the current version stays.
        RuntimeError: another failure; Airflow tries again.
    """
    qpr = os.environ.get("QPR_COMMAND", "/opt/qpr/bin/qpr")
    warehouse = os.environ.get("QPR_WAREHOUSE", "/srv/qpr/warehouse")
    options = [word for name in OPTIONS[command] for word in shlex.split(os.environ.get(name, ""))]
    done = subprocess.run([qpr, command, "--warehouse", warehouse, "--date", date, *options], check=False)
    if done.returncode == WRONG_USAGE:
        raise AirflowFailException(f"qpr {command}: wrong usage")
    if done.returncode == BAD_DROP:
        raise AirflowFailException(f"qpr {command}: mend the drop of {date} or the options, then clear this run")
    if done.returncode == REFUSED:
        raise AirflowSkipException(f"qpr {command}: refused by the gate")
    if done.returncode:
        raise RuntimeError(f"qpr {command}: exit code {done.returncode}")


@dag(
    schedule="30 2 * * *",
    start_date=datetime.datetime(2026, 11, 1, tzinfo=datetime.UTC),
    catchup=True,  # a run for each day that was missed
    max_active_runs=1,  # a second night on a warehouse fails
    # a late drop needs some time; finished steps are skipped
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

    day = "{{ macros.ds_add((dag_run.logical_date or dag_run.run_after) | ds, -1) }}"
    ingest(day) >> nightly(day)


qpr_nightly()
