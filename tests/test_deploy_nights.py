"""Schedulers in deploy/ call `qpr nightly` with options that exist, and follow its exit codes."""

import configparser
import importlib.util
import re
import shlex
import sys
import types
from pathlib import Path

import pytest
import yaml

DEPLOY = Path(__file__).resolve().parent.parent / "deploy"


def unit(name):
    parser = configparser.ConfigParser(strict=False, interpolation=None)
    parser.optionxform = str
    parser.read(DEPLOY / "systemd" / name)
    return parser


def options_of(line):
    words = shlex.split(re.sub(r'"\$\(.*?\)"', "2026-11-20", line))
    assert words[words.index("nightly") - 1].endswith("qpr")
    return [word for word in words[words.index("nightly") :] if word.startswith("--")]


def lines():
    service = unit("qpr-nightly.service")["Service"]["ExecStart"]
    yield re.search(r"'(.*)'", service).group(1).replace("%%", "%")
    job = yaml.safe_load((DEPLOY / "kubernetes" / "cronjob.yaml").read_text())
    [container] = job["spec"]["jobTemplate"]["spec"]["template"]["spec"]["containers"]
    yield container["args"][0]
    page = (DEPLOY.parent / "docs" / "nightly.md").read_text()
    yield re.search(r"^30 2 \* \* \*  (.*)$", page, re.MULTILINE).group(1)


def test_schedulers_give_options_that_exist(qpr):
    listed = qpr("nightly", "--help").out
    for line in lines():
        assert options_of(line) == ["--warehouse", "--date"]
        assert "yesterday" in line
        assert all(option in listed for option in options_of(line))


def test_a_refused_night_is_no_failure_and_wrong_usage_is_not_repeated():
    service = unit("qpr-nightly.service")["Service"]
    assert (service["SuccessExitStatus"], service["RestartPreventExitStatus"]) == ("3", "2")
    assert unit("qpr-nightly.timer")["Timer"]["OnCalendar"].endswith("UTC")
    job = yaml.safe_load((DEPLOY / "kubernetes" / "cronjob.yaml").read_text())["spec"]
    [rule] = job["jobTemplate"]["spec"]["podFailurePolicy"]["rules"]
    assert (rule["action"], rule["onExitCodes"]["values"]) == ("FailJob", [2, 3])
    assert job["concurrencyPolicy"] == "Forbid"


@pytest.fixture
def airflow(monkeypatch):
    """Return the module of the DAG, made with stand-ins for Airflow, and the tasks that it wires."""
    wired = []

    class Task:
        def __init__(self, function, day):
            self.name, self.function, self.day = function.__name__, function, day

        def __rshift__(self, other):
            wired.extend([self, other])
            return other

    sdk = types.SimpleNamespace(
        dag=lambda **options: wired.append(options) or (lambda function: function),
        task=lambda function: lambda day: Task(function, day),
    )
    errors = types.SimpleNamespace(
        AirflowFailException=type("AirflowFailException", (Exception,), {}),
        AirflowSkipException=type("AirflowSkipException", (Exception,), {}),
    )
    for name, module in {
        "airflow": types.ModuleType("airflow"),
        "airflow.sdk": sdk,
        "airflow.sdk.exceptions": errors,
    }.items():
        monkeypatch.setitem(sys.modules, name, module)
    specification = importlib.util.spec_from_file_location("qpr_nightly", DEPLOY / "airflow" / "qpr_nightly.py")
    module = importlib.util.module_from_spec(specification)
    specification.loader.exec_module(module)
    return types.SimpleNamespace(module=module, wired=wired, errors=errors)


def test_the_dag_ingests_and_then_publishes_one_run_at_a_time(airflow):
    options, *tasks = airflow.wired
    assert [task.name for task in tasks] == ["ingest", "nightly"]
    assert (options["catchup"], options["max_active_runs"]) == (True, 1)
    assert {task.day for task in tasks} == {"{{ macros.ds_add(ds, -1) }}"}


@pytest.mark.parametrize(
    ("code", "error"), [(0, None), (1, "RuntimeError"), (2, "AirflowFailException"), (3, "AirflowSkipException")]
)
def test_a_task_follows_the_exit_code(airflow, tmp_path, monkeypatch, code, error):
    program = tmp_path / "qpr"
    program.write_text(f'#!/bin/sh\necho "$@" > {tmp_path}/called\nexit {code}\n')
    program.chmod(0o755)
    monkeypatch.setenv("QPR_COMMAND", str(program))
    monkeypatch.setenv("QPR_WAREHOUSE", "s3://bucket/w")
    if error is None:
        airflow.wired[2].function("2026-11-20")
    else:
        with pytest.raises(Exception, match="qpr nightly") as caught:
            airflow.wired[2].function("2026-11-20")
        assert type(caught.value).__name__ == error
    assert (tmp_path / "called").read_text() == "nightly --warehouse s3://bucket/w --date 2026-11-20\n"
