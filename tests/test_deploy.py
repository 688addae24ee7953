"""What is in deploy/ agrees with itself, with the pinned versions and with the command line."""

import importlib.util
import json
import re
import shlex
import shutil
import subprocess
from pathlib import Path

import pytest
import yaml
from apache_beam.options.pipeline_options import FlinkRunnerOptions

from jobs.web.metrics import Metrics
from pipelines.engine.runner import parse_options
from schemas import __version__
from schemas.artifacts.manifest import read_manifest

ROOT = Path(__file__).resolve().parent.parent
DEPLOY = ROOT / "deploy"
PINNED = dict(line.split("==") for line in (ROOT / "constraints.txt").read_text().splitlines() if "==" in line)
COMPOSE = yaml.safe_load((DEPLOY / "flink" / "docker-compose.yml").read_text())
PAGES = [DEPLOY / "flink" / "README.md", DEPLOY / "dataflow" / "README.md", ROOT / "docs" / "engines.md"]


def commands(page):
    """Return the `qpr` commands of a page's shell blocks: the words before ``--`` and Beam's flags after it."""
    blocks = re.findall(r"```sh\n(.*?)```", page.read_text(encoding="utf-8"), flags=re.DOTALL)
    lines = "\n".join(blocks).replace("\\\n", " ").splitlines()
    words = [shlex.split(line) for line in lines if "qpr" in line and " -- " in line]
    for line in words:
        line = line[line.index("qpr") + 1 :]
        yield line[: line.index("--")], line[line.index("--") + 1 :]


def image(folder):
    """Return the arguments of a Dockerfile, and the paths of the repository that it copies."""
    lines = (DEPLOY / folder / "Dockerfile").read_text().splitlines()
    arguments = dict(line.removeprefix("ARG ").split("=", 1) for line in lines if line.startswith("ARG "))
    copies = [line.split()[1:-1] for line in lines if line.startswith("COPY") and "--from=" not in line]
    return arguments, {word for words in copies for word in words}


@pytest.mark.parametrize("folder", ["flink", "docker"])
def test_an_image_has_this_pythons_wheels_of_all_packages(folder):
    arguments, copied = image(folder)
    python = arguments["PYTHON"].removeprefix("python:").removesuffix("-slim")
    assert f">={python}" in (ROOT / "setup.py").read_text()
    assert copied == {"setup.py", "pyproject.toml", "constraints.txt", "schemas", "pipelines", "model", "jobs", "qpr"}
    sent = (ROOT / ".dockerignore").read_text().splitlines()
    assert "*" in sent
    assert {f"!{name}" for name in copied} <= set(sent)
    assert all((ROOT / line[1:]).exists() for line in sent if line.startswith("!"))
    text = (DEPLOY / folder / "Dockerfile").read_text()
    extras = {extra for group in re.findall(r"'\.\[(.*?)\]'", text) for extra in group.split(",")}
    assert extras <= set(re.findall(r'^    "(\w+)": \[', (ROOT / "setup.py").read_text(), re.MULTILINE))


def test_the_worker_image_has_the_pinned_beam():
    assert image("flink")[0]["BEAM"] == PINNED["apache-beam"]
    dataflow = (DEPLOY / "dataflow" / "Dockerfile").read_text()
    assert f"ARG WORKER={COMPOSE['services']['workers']['image']}\n" in dataflow


def test_every_service_names_the_same_versions():
    services = COMPOSE["services"]
    assert {services[name]["image"] for name in ("workers", "qpr")} == {f"qpr-worker:{__version__}"}
    flink = {services[name]["image"] for name in ("jobmanager", "taskmanager")}
    [version] = {re.fullmatch(r"flink:(\d+\.\d+)-java\d+", image).group(1) for image in flink}
    assert version in FlinkRunnerOptions.PUBLISHED_FLINK_VERSIONS
    assert services["jobserver"]["image"] == f"apache/beam_flink{version}_job_server:{PINNED['apache-beam']}"
    assert f"--flink_version={version}" in PAGES[0].read_text()


def test_the_command_that_submits_finds_the_ports_that_the_services_open():
    services = COMPOSE["services"]
    server = dict(word.lstrip("-").split("=") for word in services["jobserver"]["command"])
    [(command, flags)] = [c for c in commands(PAGES[0]) if c[0][0] == "clusters"]
    given = dict(flag.lstrip("-").split("=") for flag in flags)
    assert given["job_endpoint"] == f"jobserver:{server['job-port']}"
    assert given["artifact_endpoint"] == f"jobserver:{server['artifact-port']}"
    assert given["environment_config"] == "localhost:50000"  # Beam's harness listens there with --worker_pool
    assert (services["workers"]["command"], services["workers"]["network_mode"]) == (
        ["--worker_pool"],
        "service:taskmanager",
    )
    host, port = server["flink-master"].split(":")
    assert services[host]["ports"] == [f"127.0.0.1:{port}:8081"]
    assert [name for name in services if name != host and "ports" in services[name]] == []
    for name in ("jobmanager", "taskmanager"):
        assert f"jobmanager.rpc.address: {host}\n" in services[name]["environment"]["FLINK_PROPERTIES"]
    assert (
        f"taskmanager.numberOfTaskSlots: {given['parallelism']}\n"
        in (services["taskmanager"]["environment"]["FLINK_PROPERTIES"])
    )
    data = {volume.partition(":/")[2] for name in ("workers", "qpr") for volume in services[name]["volumes"]}
    assert data == {"data"}
    assert all(path.startswith("/data/") for path in command if "data" in path)
    assert services["jobserver"]["volumes"] == services["taskmanager"]["volumes"]


@pytest.mark.parametrize("page", PAGES, ids=lambda page: f"{page.parent.name}/{page.name}")
def test_every_documented_command_has_options_that_exist(page, qpr):
    found = list(commands(page))
    assert found
    for words, flags in found:
        parse_options(flags)
        outcome = qpr(words[0], "--help")
        named = [word for word in words if word.startswith("--")]
        assert [word for word in named if word not in outcome.out] == []


def test_the_template_asks_for_what_the_launcher_takes():
    template = json.loads((DEPLOY / "dataflow" / "metadata.json").read_text())
    names = [parameter["name"] for parameter in template["parameters"]]
    assert {"logs", "output"} <= set(names)
    launcher = (DEPLOY / "dataflow" / "launch.py").read_text()
    assert re.findall(r'add_argument\("--(\w+)"', launcher) == names
    for parameter in template["parameters"]:
        assert re.compile(parameter["regexes"][0]).fullmatch(parameter["helpText"].rsplit(" ", 1)[1])
    text = (DEPLOY / "dataflow" / "Dockerfile").read_text()
    assert "COPY deploy/dataflow/launch.py /template/" in text
    assert "!deploy/dataflow/launch.py" in (ROOT / ".dockerignore").read_text()
    assert "FLEX_TEMPLATE_PYTHON_PY_FILE=/template/launch.py" in text


@pytest.fixture(scope="module")
def launch():
    """Return the template's program as a module."""
    specification = importlib.util.spec_from_file_location("launch", DEPLOY / "dataflow" / "launch.py")
    module = importlib.util.module_from_spec(specification)
    specification.loader.exec_module(module)
    return module


GIVEN = ["--logs=gs://b/l*.csv", "--output=gs://b/dataset", "--more=--overwrite --shards 9", "--work_max_workers=3"]
FROM_GOOGLE = ["--runner=DataflowRunner", "--project=p", "--region=r", "--temp_location=gs://b/t", "--job_name=nightly"]


def test_the_template_runs_a_command_that_qpr_and_beam_take(launch):
    flags = [*FROM_GOOGLE, "--sdk_container_image=image:1", "--no_use_public_ips", "--template_location=gs://b/job"]
    words, waiting = launch.command_of([*GIVEN, *flags])
    typed = ["clusters", "gs://b/l*.csv", "--output", "gs://b/dataset", "--overwrite", "--shards", "9"]
    work = words[words.index("--") + 1 :]
    assert words[: words.index("--")] == typed
    assert {"--project=p", "--region=r", "--temp_location=gs://b/t", "--sdk_container_image=image:1"} <= set(work)
    assert {"--no_use_public_ips", "--max_num_workers=3", "--machine_type=n2-highmem-4"} <= set(work)
    assert not any("template" in flag or "job_name" in flag for flag in work)  # those are the waiting job's
    assert waiting == [*flags, "--max_num_workers=1"]
    parse_options(work)


def test_the_templates_one_step_runs_and_publishes_or_fails_with_the_message(launch, tmp_path, monkeypatch):
    logs, output = tmp_path / "logs.jsonl", tmp_path / "dataset"
    logs.write_text("".join(f'{{"question": "q{n % 7} is", "answer": "a{n % 2}"}}\n' for n in range(60)))
    monkeypatch.chdir(ROOT)
    typed = ["clusters", str(logs), "--output", str(output), "--coherence", "paper", "--min-coherence", "0"]
    launch.run_command([*typed, "--", "--runner=FnApiRunner"])
    assert read_manifest(str(output)).counters["rows_read"] == 60
    with pytest.raises(RuntimeError, match=r"exists\. Choose another --output"):
        launch.run_command(typed)


def test_alerts_name_metrics_and_labels_that_a_server_has():
    metrics = Metrics(waiting=int, opened=int)
    metrics.requests.labels("search", "200")
    metrics.seconds.labels("search")
    metrics.seconds.labels("answer")
    metrics.version.info({"version": "a", "run": "version 1+b"})
    lines = [line for line in metrics.text().decode().splitlines() if not line.startswith("#")]
    shown = [re.match(r"(\w+)(?:{(.*)})? ", line).groups() for line in lines]
    labels = {name: [] for name, _ in shown}
    for name, values in shown:
        labels[name].append(dict(re.findall(r'(\w+)="([^"]*)"', values or "")))

    rules = yaml.safe_load((DEPLOY / "prometheus" / "alerts.yml").read_text())["groups"][0]["rules"]
    selected = [found for rule in rules for found in re.findall(r"(qpr_\w+)(?:{([^}]*)})?", rule["expr"])]
    assert len(rules) == 10
    assert len(selected) > len(rules)
    for name, values in selected:
        asked = re.findall(r'(\w+)(=~?)"([^"]*)"', values)
        for label, operator, value in asked:
            for alternative in value.split("|") if operator == "=~" else [value]:
                assert any(re.fullmatch(alternative, one.get(label, "")) for one in labels[name]), (name, alternative)
        assert labels[name]


def test_alerts_are_raised_by_faults_alone():
    promtool = shutil.which("promtool")
    if promtool is None:
        pytest.skip("promtool of Prometheus is not installed")
    for arguments in (["check", "rules", "alerts.yml"], ["test", "rules", "alerts_test.yml"]):
        run = subprocess.run([promtool, *arguments], cwd=DEPLOY / "prometheus", capture_output=True, text=True)
        assert run.returncode == 0, run.stdout + run.stderr
