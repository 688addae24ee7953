"""Schedulers in deploy/ call `qpr nightly` with options that exist, and follow its exit codes."""

import configparser
import datetime
import importlib.util
import os
import re
import shlex
import shutil
import subprocess
import sys
import types
from pathlib import Path

import pytest
import yaml

DEPLOY = Path(__file__).resolve().parent.parent / "deploy"
ANALYZE = shutil.which("systemd-analyze")
KUBERNETES = os.environ.get("QPR_KUBERNETES_VALIDATE") or shutil.which("kubernetes-validate")


CALLED = "nightly --warehouse s3://bucket/w --date 2026-11-20 --column question=the query --window 30d\n"


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
    assert (service["SuccessExitStatus"], service["RestartPreventExitStatus"]) == ("3", "2 4")
    assert unit("qpr-nightly.service")["Unit"]["StartLimitBurst"] == "4"
    assert unit("qpr-nightly.timer")["Timer"]["OnCalendar"].endswith("UTC")
    job = yaml.safe_load((DEPLOY / "kubernetes" / "cronjob.yaml").read_text())["spec"]
    [rule] = job["jobTemplate"]["spec"]["podFailurePolicy"]["rules"]
    assert (rule["action"], rule["onExitCodes"]["values"]) == ("FailJob", [2, 3, 4])
    assert job["concurrencyPolicy"] == "Forbid"


@pytest.mark.parametrize(("code", "waits"), [(0, ""), (1, "600"), (3, ""), (4, "")])
def test_the_pod_of_a_night_waits_only_for_what_can_end_by_itself(tmp_path, code, waits):
    for name, script in {"qpr": f"exit {code}", "sleep": f'printf "$@" > {tmp_path}/slept'}.items():
        (tmp_path / name).write_text(f"#!/bin/sh\n{script}\n")
        (tmp_path / name).chmod(0o755)
    _, line, _ = lines()
    path = f"{tmp_path}{os.pathsep}{os.environ['PATH']}"
    assert subprocess.run(["sh", "-c", line], env={"PATH": path}, check=False).returncode == code
    slept = tmp_path / "slept"
    assert (slept.read_text() if slept.exists() else "") == waits


def pods():
    job = yaml.safe_load((DEPLOY / "kubernetes" / "cronjob.yaml").read_text())
    deployment, _ = yaml.safe_load_all((DEPLOY / "kubernetes" / "serve.yaml").read_text())
    return [job["spec"]["jobTemplate"]["spec"]["template"]["spec"], deployment["spec"]["template"]["spec"]]


@pytest.mark.parametrize("pod", pods(), ids=["night", "server"])
def test_a_pod_has_no_rights_that_it_does_not_use(pod):
    assert pod["automountServiceAccountToken"] is False
    assert pod["securityContext"]["runAsNonRoot"] is True
    assert [container["securityContext"] for container in pod["containers"]] == [
        {
            "allowPrivilegeEscalation": False,
            "readOnlyRootFilesystem": True,
            "capabilities": {"drop": ["ALL"]},
            "seccompProfile": {"type": "RuntimeDefault"},
        }
    ]
    [container] = pod["containers"]
    assert {mount["name"] for mount in container["volumeMounts"]} == {volume["name"] for volume in pod["volumes"]}


def test_the_server_in_a_pod_has_options_that_exist_and_answers_what_is_asked(qpr):
    deployment, service = yaml.safe_load_all((DEPLOY / "kubernetes" / "serve.yaml").read_text())
    pod = deployment["spec"]["template"]
    [container] = pod["spec"]["containers"]
    command, *words = container["args"]
    listed = qpr(command, "--help").out
    assert [word for word in words if word.startswith("--") and word not in listed] == []
    given = dict(zip(words[::2], words[1::2], strict=True))
    [port] = container["ports"]
    assert (given["--port"], port["name"]) == (str(port["containerPort"]), service["spec"]["ports"][0]["targetPort"])
    [folder] = [mount["mountPath"] for mount in container["volumeMounts"] if mount["name"] == "token"]
    assert given["--token-file"] == f"{folder}/token"
    assert pod["metadata"]["labels"] == service["spec"]["selector"] == deployment["spec"]["selector"]["matchLabels"]
    probed = {container[f"{name}Probe"]["httpGet"]["path"] for name in ("startup", "readiness", "liveness")}
    assert probed == {"/readyz", "/healthz"}
    drain = int(re.search(r"--drain.*?default: (\d+)", listed, re.DOTALL).group(1))
    assert pod["spec"]["terminationGracePeriodSeconds"] > drain


def test_schedulers_pass_the_day_before_today(tmp_path):
    (tmp_path / "qpr").write_text('#!/bin/sh\necho "$@"\n')
    (tmp_path / "qpr").chmod(0o755)
    path = f"{tmp_path}{os.pathsep}{os.environ['PATH']}"
    yesterday = [str((datetime.datetime.now(datetime.UTC) - datetime.timedelta(days=1)).date())]
    found = []
    for line in lines():
        line = line.replace("/opt/qpr/bin/qpr", "qpr").replace(r"\%", "%")
        done = subprocess.run(["sh", "-c", line], env={"PATH": path}, capture_output=True, text=True, check=True)
        found.append(done.stdout.split()[-1])
    yesterday.append(str((datetime.datetime.now(datetime.UTC) - datetime.timedelta(days=1)).date()))
    assert len(found) == 3
    assert set(found) <= set(yesterday)


@pytest.mark.skipif(ANALYZE is None, reason="systemd-analyze is not installed")
@pytest.mark.parametrize("name", ["qpr.service", "qpr-nightly.service", "qpr-nightly.timer"])
def test_systemd_reads_the_units_without_a_warning(tmp_path, name):
    for file in (DEPLOY / "systemd").iterdir():
        (tmp_path / file.name).write_text(file.read_text().replace("/opt/qpr/bin/qpr", "/bin/true"))
    command = [ANALYZE, "verify", "--man=no", str(tmp_path / name)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")


@pytest.mark.skipif(ANALYZE is None, reason="systemd-analyze is not installed")
@pytest.mark.parametrize("name", ["qpr.service", "qpr-nightly.service"])
def test_a_service_has_few_rights(name):
    command = [ANALYZE, "security", "--offline=true", "--threshold=20", str(DEPLOY / "systemd" / name)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr


@pytest.mark.skipif(
    KUBERNETES is None, reason="kubernetes-validate is not installed; QPR_KUBERNETES_VALIDATE names its program"
)
@pytest.mark.parametrize("name", ["cronjob.yaml", "serve.yaml"])
@pytest.mark.parametrize("release", [["-k", "1.29.0"], []])
def test_what_kubernetes_gets_has_its_schema(name, release):
    command = [KUBERNETES, "--strict", *release, str(DEPLOY / "kubernetes" / name)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr


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
    assert {task.day for task in tasks} == {"{{ macros.ds_add((dag_run.logical_date or dag_run.run_after) | ds, -1) }}"}


@pytest.mark.parametrize(
    ("code", "error"),
    [
        (0, None),
        (1, "RuntimeError"),
        (2, "AirflowFailException"),
        (3, "AirflowSkipException"),
        (4, "AirflowFailException"),
    ],
)
def test_a_task_follows_the_exit_code(airflow, tmp_path, monkeypatch, code, error):
    program = tmp_path / "qpr"
    program.write_text(f'#!/bin/sh\necho "$@" > {tmp_path}/called\nexit {code}\n')
    program.chmod(0o755)
    monkeypatch.setenv("QPR_COMMAND", str(program))
    monkeypatch.setenv("QPR_WAREHOUSE", "s3://bucket/w")
    monkeypatch.setenv("QPR_INGEST_OPTIONS", "--column 'question=the query'")
    monkeypatch.setenv("QPR_NIGHTLY_OPTIONS", "--window 30d")
    if error is None:
        airflow.wired[2].function("2026-11-20")
    else:
        with pytest.raises(Exception, match="qpr nightly") as caught:
            airflow.wired[2].function("2026-11-20")
        assert type(caught.value).__name__ == error
    assert (tmp_path / "called").read_text() == CALLED
