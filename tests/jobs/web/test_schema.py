"""Generated requests, valid and invalid, by the OpenAPI document of the server."""

import json
import subprocess
import sys

import pytest

TEXTS = ("pay my bill", "cancel my flight")
LIMITS = ("--max-characters", 200, "--max-questions", 5, "--max-k", 20, "--timeout", 60)


@pytest.fixture(params=["plain", "with values"])
def index(request, publish, make_model, qpr, tmp_path):
    if request.param == "plain":
        return publish(TEXTS)
    make_model(tmp_path / "model", encoder="subword")
    rows = [
        {"question": text, "answer": f"{locale} {tenant}: {text}", "locale": locale, "tenant": tenant}
        for text in TEXTS
        for locale in ("en", "de")
        for tenant in ("acme", "globex")
    ]
    (tmp_path / "faq.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    columns = ("--vary-by", "locale", "--vary-by", "tenant")
    files = ("--questions", tmp_path / "faq.jsonl", "--model", tmp_path / "model", "--output", tmp_path / "index")
    assert qpr("index", *files, *columns, "--shards", 1).code == 0
    return tmp_path / "index"


@pytest.mark.slow
def test_no_generated_request_breaks_the_document(index, server, tmp_path):
    process = server(index, "--state", tmp_path / "state", *LIMITS)
    tool = [sys.executable, "-m", "schemathesis.cli", "run", f"{process.url}/openapi.json"]
    bounds = ["--max-examples", "6", "--seed", "3", "--phases", "examples,coverage,fuzzing", "--checks", "all"]
    done = subprocess.run(
        [*tool, *bounds, "--generation-database", "none"], capture_output=True, text=True, cwd=tmp_path
    )
    assert done.returncode == 0, done.stdout
    assert process.popen.poll() is None
    assert "defect" not in "\n".join(process.errors)
