"""The pods of deploy/kubernetes run, by Podman, on the image of deploy/docker and a store of S3."""

import datetime
import json
import os
import shutil
import socket
import subprocess
import time
import urllib.error
import urllib.request
from pathlib import Path

import pytest
import yaml

from schemas.artifacts.storage import write_bytes

pytestmark = [pytest.mark.engine, pytest.mark.slow, pytest.mark.xdist_group("engines")]

IMAGE = "QPR_IMAGE"
KUBERNETES = Path(__file__).resolve().parents[2] / "deploy" / "kubernetes"
STORE = ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY", "AWS_ENDPOINT_URL", "AWS_DEFAULT_REGION")
TOKEN = "0123456789abcdef"
YESTERDAY = datetime.datetime.now(datetime.UTC).date() - datetime.timedelta(days=1)


def podman(*words):
    """Run Podman, and return what it printed."""
    done = subprocess.run(["podman", *map(str, words)], capture_output=True, text=True, check=False, timeout=300)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout.strip()


@pytest.fixture
def play(s3, tmp_path):
    """Return a function that starts a pod of a template and gives the name of its container."""
    if not os.environ.get(IMAGE) or shutil.which("podman") is None:
        pytest.skip(f"{IMAGE} names no image of deploy/docker, or there is no podman")
    started = []

    def start(template):
        [container] = template["spec"]["containers"]
        container["image"], container["imagePullPolicy"] = os.environ[IMAGE], "Never"
        container["env"] = [{"name": name, "value": os.environ[name]} for name in STORE]
        template |= {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": f"qpr-test-{os.getpid()}-{len(started)}"}}
        path = tmp_path / "pod.yaml"
        path.write_text(yaml.safe_dump(template), "utf-8")
        started.append(template["metadata"]["name"])
        podman("play", "kube", "--network", "host", path)
        return f"{started[-1]}-{container['name']}"

    yield start
    for name in started:
        podman("pod", "rm", "--force", name)


def night():
    """Return the template of the pod of a night."""
    return yaml.safe_load((KUBERNETES / "cronjob.yaml").read_text())["spec"]["jobTemplate"]["spec"]["template"]


def server(port, token):
    """Return the template of the pod of a server, without what Podman has not: the mode of a secret, named ports."""
    deployment, _ = yaml.safe_load_all((KUBERNETES / "serve.yaml").read_text())
    template = deployment["spec"]["template"]
    [container] = template["spec"]["containers"]
    container["args"] = [str(port) if word == "8080" else word for word in container["args"]]
    for name in ("ports", "startupProbe", "readinessProbe", "livenessProbe"):
        del container[name]
    template["spec"]["volumes"][0] = {"name": "token", "hostPath": {"path": str(token)}}
    return template


def ask(port, path, token=None):
    """Return the status and the body of a response, or None where nobody listens."""
    headers = {"Authorization": f"Bearer {token}"} if token else {}
    request = urllib.request.Request(f"http://127.0.0.1:{port}{path}", headers=headers)
    try:
        with urllib.request.urlopen(request, timeout=10) as response:
            return response.status, json.load(response)
    except urllib.error.HTTPError as error:
        return error.code, json.load(error)
    except OSError:
        return None


def test_a_night_publishes_and_a_server_answers_in_pods(qpr, s3, play, tmp_path):
    log = tmp_path / "log.jsonl.gz"
    qpr("simulate", "--output", log, "--events", 5000, "--days", 1, "--start", YESTERDAY)
    write_bytes(f"{s3}/warehouse/events/date={YESTERDAY}/log.jsonl.gz", log.read_bytes())

    name = play(night())
    assert podman("wait", name) == "0", podman("logs", name)
    listed = json.loads(qpr("versions", "--warehouse", f"{s3}/warehouse", "--json").out)
    assert listed["versions"][0]["version"] == 1, listed

    folder = tmp_path / "token"
    folder.mkdir(mode=0o755)
    (folder / "token").write_text(TOKEN)
    os.chown(folder / "token", 0, 10001)
    (folder / "token").chmod(0o440)
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    name = play(server(port, folder))
    end = time.monotonic() + 120
    while (ready := ask(port, "/readyz")) is None or ready[0] != 200:
        assert time.monotonic() < end, podman("logs", name)
        time.sleep(0.5)
    assert ask(port, "/search?q=how+far&k=1")[0] == 401
    status, found = ask(port, "/search?q=how+far&k=1", TOKEN)
    assert (status, len(found["results"][0]["hits"])) == (200, 1)
    podman("stop", "--time", 40, name)
    assert podman("inspect", "--format", "{{.State.ExitCode}}", name) == "0"
