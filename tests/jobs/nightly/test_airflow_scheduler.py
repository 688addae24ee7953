"""The DAG in deploy/airflow/ under the scheduler of a real Airflow 3: missed days, retries, backfill, mended drops."""

import datetime
import os
import shutil
import sys

import pytest

from jobs.workflows.warehouses.versions import alone_in
from schemas.versions import history
from tests.jobs.nightly.conftest import rows_of
from tests.support.airflow import DAG, Airflow
from tests.support.engine_servers import ROOT

PROGRAM = os.environ.get("QPR_AIRFLOW") or shutil.which("airflow")
pytestmark = [
    pytest.mark.slow,
    pytest.mark.engine,
    pytest.mark.skipif(PROGRAM is None, reason="Airflow is not installed; QPR_AIRFLOW names its program"),
]
SMALL = "--epochs 1 --dimension 16 --vocabulary-size 200 --hash-bins 50 --ngram-bins 50"
SMALL += " --max-kept-fall 1 --max-drift 1"
DONE = {"ingest": "success", "nightly": "success"}
FAILED = {"ingest": "failed", "nightly": "upstream_failed"}
LAST = (datetime.datetime.now(datetime.UTC) - datetime.timedelta(hours=3)).date()
"""Date of the newest run that has begun by 02:30 UTC."""
RUNS = [LAST - datetime.timedelta(days=days) for days in (5, 4, 3, 2, 1, 0)]
DAYS = [run - datetime.timedelta(days=1) for run in RUNS]


@pytest.fixture
def airflow(tmp_path):
    """Return an Airflow that tries again after some seconds; its tasks call `qpr`, and their words are in a file."""
    program = tmp_path / "qpr"
    program.write_text(f'#!/bin/sh\necho "$1 $5" >> {tmp_path}/called\ncd {ROOT}\nexec {sys.executable} -m jobs "$@"\n')
    program.chmod(0o755)
    environment = {"QPR_WAREHOUSE": str(tmp_path / "w"), "QPR_COMMAND": str(program)}
    environment |= {"QPR_INGEST_OPTIONS": "--max-reject-ratio '0.2'", "QPR_NIGHTLY_OPTIONS": SMALL}
    made = Airflow(PROGRAM, tmp_path / "airflow", environment)
    year, month, day = RUNS[3].timetuple()[:3]
    made.add_dag(
        start_date=f"datetime.datetime({year}, {month}, {day}, tzinfo=datetime.UTC)",
        default_args='{"retries": 3, "retry_delay": datetime.timedelta(seconds=3)}',
    )
    made.do("db", "migrate")
    made.do("dags", "reserialize")
    return made


def of(tasks, run):
    return {task.name: task.state for task in tasks if task.date == str(run)}


def tries(tasks, run, name):
    return next(task.tries for task in tasks if (task.date, task.name) == (str(run), name))


def published(warehouse):
    return [history.read_version(warehouse, number).date for number in history.numbers(warehouse)]


def test_missed_days_retries_a_backfill_and_mended_drops(airflow, tmp_path, drop):
    w = str(tmp_path / "w")

    def rows(day):
        return rows_of(day, seed=0, count=200)

    def called():
        return (tmp_path / "called").read_text().splitlines()

    for day in (*DAYS[:1], *DAYS[3:]):
        drop(w, day, rows(day))
    drop(w, DAYS[2], rows(DAYS[2] - datetime.timedelta(days=9)))
    with airflow.servers():
        with alone_in(w):  # another run has the warehouse
            airflow.do("dags", "unpause", DAG)
            airflow.wait(lambda tasks: of(tasks, RUNS[3]).get("ingest") == "up_for_retry", seconds=90)
        tasks = airflow.wait(lambda tasks: of(tasks, LAST) == DONE, seconds=120)
        assert [of(tasks, run) for run in RUNS[3:]] == [DONE] * 3
        assert tries(tasks, RUNS[3], "ingest") > 1
        assert "another run is writing there" in airflow.logs(str(RUNS[3]))
        assert published(w) == DAYS[3:]

        before = len(called())
        begin, end = str(RUNS[0]), f"{RUNS[2]}T12:00:00"
        one_by_one = ["--max-active-runs", "1"]
        airflow.do("backfill", "create", "--dag-id", DAG, "--from-date", begin, "--to-date", end, *one_by_one)
        tasks = airflow.wait(lambda tasks: of(tasks, RUNS[2]).get("nightly") == "upstream_failed", seconds=120)
        assert [of(tasks, run) for run in RUNS[:3]] == [DONE, FAILED, FAILED]
        assert (tries(tasks, RUNS[1], "ingest"), tries(tasks, RUNS[2], "ingest")) == (4, 1)  # no drop, then bad rows
        assert f"mend the drop of {DAYS[2]}" in airflow.logs(str(RUNS[2]))
        days = [line.split()[1] for line in called()]
        assert days[:before] == sorted(days[:before])
        assert days[before:] == sorted(days[before:])

        for day in DAYS[1:3]:
            drop(w, day, rows(day))
        airflow.do("tasks", "clear", DAG, "--only-failed", "--yes", "--start-date", begin, "--end-date", end)
        airflow.wait(lambda tasks: all(of(tasks, run) == DONE for run in RUNS), seconds=120)
        yesterday = datetime.datetime.now(datetime.UTC).date() - datetime.timedelta(days=1)
        if yesterday not in DAYS:  # before 03:00 UTC
            drop(w, yesterday, rows(yesterday))
        airflow.do("dags", "trigger", DAG)  # a run without a logical date takes the day before today
        airflow.wait(lambda tasks: len(tasks) == 14 and {task.state for task in tasks} == {"success"}, seconds=60)
    assert history.current(w)[1].days == len({*DAYS, yesterday})
    assert len(published(w)) == len({*DAYS, yesterday})
