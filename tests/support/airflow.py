"""A real Airflow 3 with its scheduler, for tests of the DAG in deploy/airflow/.

program of Airflow, folder -> Airflow.servers -> runs of the DAG, states of their tasks

API server, DAG processor and scheduler run in a folder of their own with a database of SQLite, on the loopback address.
"""

from __future__ import annotations

import contextlib
import os
import socket
import sqlite3
import subprocess
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

from tests.support.engine_servers import ROOT, serving
from tests.support.ports import free_ports
from tests.support.waiting import wait_until

DAG = "qpr_nightly"
_CALL_S = 300


class Task(NamedTuple):
    """State of a task of a run: its date, name, state, and number of the present try."""

    date: str
    name: str
    state: str | None
    tries: int


class Airflow:
    """An Airflow with a home and a folder of DAGs of its own.

    Args:
        program: path of `airflow`.
        home: an empty folder.
        environment: variables of the tasks.
    """

    def __init__(self, program: str, home: Path, environment: dict[str, str]) -> None:
        """Copy the DAG and make the database."""
        self._program, self._home, self._ports = program, home, free_ports(2)
        self.dags = home / "dags"
        self.dags.mkdir(parents=True)
        kept = {name: os.environ[name] for name in ("HOME", "PATH", "LANG") if name in os.environ}
        api, health = self._ports
        self._environment = {
            **kept,
            **environment,
            "AIRFLOW_HOME": str(home),
            "AIRFLOW__API__HOST": "127.0.0.1",
            "AIRFLOW__API__PORT": str(api),
            "AIRFLOW__API_AUTH__JWT_SECRET": "a secret of this test, which no other process needs to know",
            "AIRFLOW__CORE__DAGS_FOLDER": str(self.dags),
            "AIRFLOW__CORE__EXECUTION_API_SERVER_URL": f"http://127.0.0.1:{api}/execution/",
            "AIRFLOW__CORE__EXECUTOR": "LocalExecutor",
            "AIRFLOW__CORE__LOAD_EXAMPLES": "False",
            "AIRFLOW__CORE__PARALLELISM": "2",
            "AIRFLOW__SCHEDULER__SCHEDULER_HEALTH_CHECK_SERVER_HOST": "127.0.0.1",
            "AIRFLOW__SCHEDULER__SCHEDULER_HEALTH_CHECK_SERVER_PORT": str(health),
            "AIRFLOW__USAGE_DATA_COLLECTION__ENABLED": "False",
        }

    def add_dag(self, **replaced: str) -> None:
        """Copy the DAG with some words replaced, such as the wait before another try.

        Args:
            replaced: name of a keyword argument in the DAG -> its new value, as Python writes it.
        """
        lines = (ROOT / "deploy" / "airflow" / f"{DAG}.py").read_text().splitlines(keepends=True)
        for name, value in replaced.items():
            [number] = [number for number, line in enumerate(lines) if line.strip().startswith(f"{name}=")]
            lines[number] = f"    {name}={value},\n"
        (self.dags / f"{DAG}.py").write_text("".join(lines))

    def call(self, *words: str) -> subprocess.CompletedProcess[str]:
        """Run a command of Airflow to its end."""
        command = [self._program, *words]
        return subprocess.run(
            command, env=self._environment, capture_output=True, text=True, check=False, timeout=_CALL_S
        )

    def do(self, *words: str) -> str:
        """Run a command of Airflow that has to succeed, and return what it prints."""
        done = self.call(*words)
        assert done.returncode == 0, done.stdout + done.stderr
        return done.stdout

    @contextlib.contextmanager
    def servers(self) -> Iterator[None]:
        """Run the servers inside the block; their messages are in files of the home.

        The scheduler begins when the API server listens: a task that began before would fail and try again.
        """
        with contextlib.ExitStack() as stack:
            for words in (["api-server", "--workers", "1"], ["dag-processor"], ["scheduler", "--skip-serve-logs"]):
                log = stack.enter_context((self._home / f"{words[0]}.txt").open("wb"))
                stack.enter_context(serving([self._program, *words], self._environment, stdout=log, stderr=log))
                if words[0] == "api-server":
                    wait_until(self._listens)
            yield

    def tasks(self) -> list[Task]:
        """Return the tasks of all runs of the DAG, by date."""
        query = (
            "select coalesce(r.logical_date, r.run_after), t.task_id, t.state, t.try_number "
            "from task_instance t join dag_run r on r.dag_id = t.dag_id and r.run_id = t.run_id "
            "where t.dag_id = ? order by 1, 2"
        )
        return [Task(row[0][:10], *row[1:]) for row in self._rows(query)]

    def wait(self, ready: Callable[[list[Task]], bool], *, seconds: float) -> list[Task]:
        """Wait until the tasks are as expected, and return them."""
        deadline = time.monotonic() + seconds
        while not ready(tasks := self.tasks()):
            if time.monotonic() > deadline:
                raise AssertionError(f"not within {seconds} s: {tasks}\n{self._messages()}")
            time.sleep(0.5)
        return tasks

    def logs(self, date: str) -> str:
        """Return the records of the tasks of a run, of all tries, as JSON Lines."""
        found = sorted((self._home / "logs").glob(f"dag_id={DAG}/run_id=*{date}*/task_id=*/*.log"))
        return "".join(file.read_text() for file in found)

    def _listens(self) -> bool:
        with socket.socket() as client:
            return client.connect_ex(("127.0.0.1", self._ports[0])) == 0

    def _rows(self, query: str) -> list[Any]:
        with contextlib.closing(sqlite3.connect(self._home / "airflow.db", timeout=30)) as database:
            return database.execute(query, (DAG,)).fetchall()

    def _messages(self) -> str:
        return "\n".join(file.read_text(errors="replace")[-3000:] for file in sorted(self._home.glob("*.txt")))
