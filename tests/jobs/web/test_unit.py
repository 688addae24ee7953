"""The unit for systemd starts a command with options that exist."""

import configparser
import shlex
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[3]


@pytest.fixture
def service():
    unit = configparser.ConfigParser(delimiters="=")
    unit.optionxform = str
    unit.read(ROOT / "deploy/systemd/qpr.service")
    return unit["Service"]


def test_the_unit_starts_the_server_with_options_that_it_has(qpr, service):
    program, command, *options = shlex.split(service["ExecStart"])
    assert (Path(program).name, command) == ("qpr", "serve")
    shown = qpr("serve", "--help").out
    assert all(option in shown for option in options if option.startswith("--"))


def test_the_unit_waits_longer_than_the_server_drains(service):
    from jobs.web.settings import Serving

    assert int(service["TimeoutStopSec"]) > Serving().drain
    assert options_of(service)["--state"] == f"/var/lib/{service['StateDirectory']}"


def test_the_unit_tries_until_there_is_an_index_but_not_with_wrong_options(service):
    assert 5 * int(service["RestartSec"]) > 10  # by default systemd gives up after five starts in ten seconds
    assert service["RestartPreventExitStatus"] == "2"


def options_of(service):
    words = shlex.split(service["ExecStart"])[2:]
    return dict(zip(words[::2], words[1::2], strict=True))
